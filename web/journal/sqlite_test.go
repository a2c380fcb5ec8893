package journal

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/store"
)

func TestLogsOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	db, err := store.Open(dir, nil)
	must(t, err)
	places := put(t, NewSQLite(db), ada, morning, record("visit", "1", "{}"), record("visit", "2", "{}"))
	must(t, NewSQLite(db).KeepSnapshot(ctx, ada, Snapshot{"v1", places[1], []byte("x")}))
	must(t, db.Close())
	j := onDisk(t, dir)
	wantTexts(t, j, ada, "visit 1 {}", "visit 2 {}")
	if s, err := j.Snapshot(ctx, ada); err != nil || s.Version != "v1" || s.Seq != places[1] {
		t.Errorf("the snapshot is %+v, %v; want no error, Version = %q, Seq = %d", s, err, "v1", places[1])
	}
	if next := put(t, j, bob, morning, record("visit", "1", "{}")); next[0] <= places[1] {
		t.Errorf("got sequence number %d after %d, want a larger one", next[0], places[1])
	}
}

// filesHold returns the names of the files in a folder that contain text.
func filesHold(t *testing.T, dir, text string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	if len(files) < 2 {
		t.Fatalf("the folder has %v, want at least 2 elements", files)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		must(t, err)
		if bytes.Contains(data, []byte(text)) {
			names = append(names, filepath.Base(file))
		}
	}
	return names
}

// TestDroppedLogsAreGoneFromTheDisk: no bytes of compacted records or dropped logs are left
// in the files.
func TestDroppedLogsAreGoneFromTheDisk(t *testing.T) {
	dir := t.TempDir()
	j := onDisk(t, dir)
	name := `{"name":"Rumpelstiltskin"}`
	places := put(t, j, hall, morning, record("name", "1", name), record("vote", "1", "{}"))
	must(t, j.KeepSnapshot(ctx, hall, Snapshot{"v1", places[1], []byte(name)}))
	if len(filesHold(t, dir, "Rumpel")) == 0 {
		t.Fatal("the name cannot be found on the disk before it is compacted")
	}
	must(t, j.Compact(ctx, hall, []Key{{"name", "1"}}))
	must(t, j.Scrub(ctx, hall))
	if in := filesHold(t, dir, "Rumpel"); in != nil {
		t.Errorf("the compacted name is still in %v, want nil", in)
	}
	carl := Owner{Learner, "the-learner-carl"}
	for i := range 200 {
		put(t, j, carl, morning, record("answer", fmt.Sprint("quetzal-", i), `{"detail":"mangosteen"}`))
	}
	must(t, j.Drop(ctx, carl))
	for _, text := range []string{"learner-carl", "quetzal", "mangosteen"} {
		if in := filesHold(t, dir, text); in != nil {
			t.Errorf("%s of a dropped log is still in %v, want nil", text, in)
		}
	}
	wantTexts(t, j, hall, "vote 1 {}")
}

// TestDeletedRowsAreGoneFromUnusedPages: SQLite copies rows within the file when the file grows.
// After a row is deleted, none of its copies remain, regardless of the file's size.
func TestDeletedRowsAreGoneFromUnusedPages(t *testing.T) {
	// The sizes of the records, in bytes. They make the file smaller or larger than the 4 MiB that
	// are read at a time.
	sizes := []int{150}
	if fixture.LongTier() {
		sizes = append(sizes, 1500)
	}
	for _, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			dir := t.TempDir()
			db, err := store.Open(dir, nil)
			must(t, err)
			j := NewSQLite(db)
			random := rand.New(rand.NewPCG(2, 2))
			const owners = 60
			owner := func(i int) Owner { return Owner{Learner, fmt.Sprint("learner-", i)} }
			mark := func(i int) string { return fmt.Sprintf("mark-%d.", i) }
			for n := range 400 {
				i := random.IntN(owners)
				var list []Record
				for k := range 10 {
					text := fmt.Sprintf("%q", mark(i)+strings.Repeat("y", random.IntN(2*size)))
					list = append(list, record("answer", fmt.Sprint(mark(i), n, "-", k), text))
				}
				put(t, j, owner(i), morning, list...)
			}
			for i := range owners / 2 {
				must(t, j.Drop(ctx, owner(i)))
				if in := filesHold(t, dir, mark(i)); in != nil {
					t.Errorf("%s is still in %v, want nil", mark(i), in)
				}
			}
			must(t, db.Close())
			wantFirst := read(t, onDisk(t, dir), owner(owners-1), 0)
			if len(wantFirst) == 0 || !strings.HasPrefix(wantFirst[0].ID, mark(owners-1)) {
				t.Error("another learner's log is gone")
			}
		})
	}
}

// TestDropCompletesWithoutTheCaller: a deletion that has begun completes, even if the
// client has disconnected.
func TestDropCompletesWithoutTheCaller(t *testing.T) {
	dir := t.TempDir()
	j := onDisk(t, dir)
	put(t, j, ada, morning, record("answer", "quetzal", "{}"))
	reading, let, read := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		read <- j.db.Read(ctx, func(tx *sql.Tx) error { // keeps the write-ahead log from being emptied
			err := tx.QueryRow("SELECT count(*) FROM records").Scan(new(int))
			close(reading)
			<-let
			return err
		})
	}()
	<-reading
	asked, leave := context.WithCancel(ctx)
	dropped := make(chan error, 1)
	go func() { dropped <- j.Drop(asked, ada) }()
	for gone := false; !gone; {
		list, err := j.Owners(ctx, Learner)
		must(t, err)
		gone = len(list) == 0
	}
	leave()
	close(let)
	must(t, <-read)
	must(t, <-dropped)
	if in := filesHold(t, dir, "quetzal"); in != nil {
		t.Errorf("the log is still in %v, want nil", in)
	}
}

// TestWaitingAppendsShareACommit: waiting appends share a commit, in order, up to a limit;
// a larger batch is committed separately.
func TestWaitingAppendsShareACommit(t *testing.T) {
	j := onDisk(t, t.TempDir())
	j.busy = true // the test performs the commits
	for _, n := range []int{1, 3, groupRecords - 4, 1, groupRecords + 1, 2, 2} {
		j.queue = append(j.queue, &appending{Batch: Batch{Records: make([]Record, n)}})
	}
	for i, want := range [][]int{{1, 3, groupRecords - 4}, {1}, {groupRecords + 1}, {2, 2}, nil} {
		var got []int
		for _, a := range j.next() {
			got = append(got, len(a.Records))
		}
		if !slices.Equal(got, want) {
			t.Errorf("commit %d has batches of %v, want %v", i+1, got, want)
		}
	}
	if j.busy {
		t.Error("the next append did not start a commit")
	}
}

// TestRefusedBatchDoesNotAffectOthers: a batch that the database refuses does not affect
// other batches in the same commit.
func TestRefusedBatchDoesNotAffectOthers(t *testing.T) {
	j := onDisk(t, t.TempDir())
	must(t, j.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`CREATE TRIGGER no BEFORE INSERT ON records WHEN NEW.id = 'bad'
			BEGIN SELECT RAISE(FAIL, 'no room'); END`)
		return err
	}))
	var group []*appending
	for _, id := range []string{"1", "bad", "2"} {
		b := Batch{Owner{Learner, id}, morning, []Record{record("visit", "ok", "{}"), record("visit", id, "{}")}}
		group = append(group, newAppending(b))
	}
	j.commitGroup(group)
	for _, a := range group {
		err := <-a.done
		if bad := a.Owner.Name == "bad"; bad != (err != nil) {
			t.Errorf("batch %s: got error %v, want an error only for the bad batch", a.Owner.Name, err)
		} else if want := map[bool]int{false: 2}[bad]; len(read(t, j, a.Owner, 0)) != want {
			t.Errorf("batch %s left %d records, want %d", a.Owner.Name, len(read(t, j, a.Owner, 0)), want)
		}
	}
}

// helperDir is the name of an environment variable. If the variable is set, the test binary acts as
// the process that the test kills.
const helperDir = "VIZ_TEST_JOURNAL_DIR"

// appendUntilKilled appends from eight goroutines, and prints each record's owner and id as
// soon as it is confirmed.
func appendUntilKilled(dir string) {
	db, err := store.Open(dir, nil)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	j := NewSQLite(db)
	for w := range 8 {
		go func() {
			for i := 0; ; i++ {
				id := fmt.Sprint(os.Getpid(), "-", i)
				both := []Record{record("answer", id, "{}"), record("review", id, "{}")}
				if _, err := j.Append(ctx, Batch{Owner{Learner, fmt.Sprint(w)}, morning, both}); err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				fmt.Println(w, id) // a single write, so lines do not mix
			}
		}()
	}
	select {}
}

// TestKilledBetweenAppends: if a process is killed at any moment, every record that it
// confirmed is stored, and no batch is incomplete.
func TestKilledBetweenAppends(t *testing.T) {
	fixture.Long(t)
	const kills = 100
	dir := t.TempDir()
	confirmed := 0
	for round := range kills {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), helperDir+"="+dir)
		out, err := c.StdoutPipe()
		must(t, err)
		must(t, c.Start())
		want, lines, n := map[string][]string{}, bufio.NewScanner(out), 0
		for lines.Scan() {
			w, id, ok := strings.Cut(lines.Text(), " ")
			if !ok || w == "error" {
				t.Fatalf("the process printed %q, want the name of a confirmed record", lines.Text())
			}
			want[w] = append(want[w], id)
			if n++; n == 5+17*(round%9) {
				must(t, c.Process.Kill()) // SIGKILL; output printed before it can still be read
			}
		}
		c.Wait()
		confirmed += n
		db, err := store.Open(dir, nil)
		must(t, err)
		j := NewSQLite(db)
		for w, ids := range want {
			kept := map[Key]bool{}
			for _, r := range read(t, j, Owner{Learner, w}, 0) {
				kept[r.Key()] = true
			}
			for _, id := range ids {
				if !kept[Key{"answer", id}] {
					t.Fatalf("the confirmed record %s of %s is lost", id, w)
				}
			}
			for k := range kept {
				if !kept[Key{"answer", k.ID}] || !kept[Key{"review", k.ID}] {
					t.Errorf("batch %s is stored in part, want all of it or nothing", k.ID)
				}
			}
		}
		must(t, db.Close())
	}
	if confirmed < kills*5 {
		t.Errorf("got %d records in %d rounds; want at least %d", confirmed, kills, kills*5)
	}
}
