package journal

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/store"
)

// part is the number of records per commit in these tests.
const part = 100

// inParts makes j commit only a few records at a time, and returns j.
func inParts(j *SQLite) *SQLite {
	j.perCommit = part
	return j
}

// large returns a batch that needs n commits.
func large(o Owner, n int) Batch {
	b := Batch{Owner: o, At: morning}
	for i := range n * part {
		b.Records = append(b.Records, record("answer", fmt.Sprint(i), "{}"))
	}
	return b
}

// appendLater starts an append and returns once it is queued.
func appendLater(j *SQLite, b Batch) *appending {
	a := newAppending(b)
	j.enqueue(a)
	return a
}

// holdWriter makes all commits wait until release is called.
func holdWriter(t *testing.T, j *SQLite) (release func()) {
	t.Helper()
	held, let := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- j.db.Write(ctx, func(*sql.Tx) error {
			close(held)
			<-let
			return nil
		})
	}()
	<-held
	return func() {
		close(let)
		must(t, <-done)
	}
}

// TestLargeBatchYieldsToOtherWriters: other owners' appends are committed between the parts of an
// import; the same learner's appends wait until the import is complete.
func TestLargeBatchYieldsToOtherWriters(t *testing.T) {
	j := inParts(onDisk(t, t.TempDir()))
	put(t, j, ada, morning, record("visit", "1", "{}"))
	release := holdWriter(t, j)
	all := appendLater(j, large(ada, 3))
	own := appendLater(j, Batch{ada, morning, []Record{record("visit", "2", "{}")}})
	other := appendLater(j, Batch{bob, morning, []Record{record("visit", "1", "{}")}})
	second := appendLater(j, large(hall, 2))
	release()
	for _, a := range []*appending{all, own, other, second} {
		must(t, <-a.done)
	}
	first, last := all.seqs[0], all.seqs[len(all.seqs)-1]
	if other.seqs[0] < first || other.seqs[0] > last {
		t.Errorf("the other owner's record has number %d, want it between the numbers of the import, %d to %d",
			other.seqs[0], first, last)
	}
	if own.seqs[0] < last || second.seqs[0] < last {
		t.Errorf("after the import's last record, %d, came %d and %d; want larger numbers",
			last, own.seqs[0], second.seqs[0])
	}
	inOrder := func(a, b Record) int { return int(a.Seq - b.Seq) }
	if list := read(t, j, ada, 0); len(list) != len(all.Records)+2 || !slices.IsSortedFunc(list, inOrder) {
		t.Errorf("the log has %d records, want all of them in order", len(list))
	}
	if got, err := j.Owners(ctx, Learner); err != nil || got[0].Records != len(all.Records)+2 {
		t.Errorf("got owners %+v, %v; want %d records, <nil>", got, err, len(all.Records)+2)
	}
}

// TestInterruptedBatchLeavesNothing: if the process ends during an import, no records of the import
// remain after the next start, and the import can be repeated.
func TestInterruptedBatchLeavesNothing(t *testing.T) {
	for _, before := range []int{0, 1} {
		dir := t.TempDir()
		db, err := store.Open(dir, nil)
		must(t, err)
		j := inParts(NewSQLite(db))
		want := []string(nil)
		if before > 0 {
			put(t, j, ada, morning, record("visit", "1", "{}"))
			want = []string{"visit 1 {}"}
		}
		a := newAppending(large(ada, 3))
		must(t, j.commitPart(a, 0, part))
		must(t, j.commitPart(a, part, 2*part))
		hidden := func(j *SQLite, when string) {
			t.Helper()
			wantTexts(t, j, ada, want...)
			if _, found, err := j.Find(ctx, ada, Key{"answer", "1"}); found || err != nil {
				t.Errorf("%s: a record of the interrupted batch was found, %v; want none, <nil>", when, err)
			}
			got, err := j.Owners(ctx, Learner)
			if err != nil || len(got) != before || before > 0 && got[0].Records != 1 {
				t.Errorf("%s: got owners %+v, %v; want %d with 1 record, <nil>", when, got, err, before)
			}
		}
		hidden(j, "before the end")
		must(t, db.Close())

		again := onDisk(t, dir)
		hidden(again, "after a restart")
		put(t, again, bob, morning, record("visit", "1", "{}"))
		var left int
		must(t, again.db.Read(ctx, func(tx *sql.Tx) error {
			return tx.QueryRow("SELECT count(*) FROM records WHERE type = 'answer'").Scan(&left)
		}))
		if left != 0 {
			t.Errorf("%d records of the interrupted batch are on the disk, want 0", left)
		}
		wantTexts(t, again, ada, want...)
		if seqs := put(t, again, ada, morning, a.Records...); slices.Contains(seqs, 0) {
			t.Error("the repeated batch was not appended completely")
		}
		if got := read(t, again, ada, 0); len(got) != before+len(a.Records) {
			t.Errorf("afterwards, the log has %d records, want %d", len(got), before+len(a.Records))
		}
	}
}

// TestRefusedPartLeavesNothing: an import whose last part is refused leaves no records and
// does not prevent the next import.
func TestRefusedPartLeavesNothing(t *testing.T) {
	j := inParts(onDisk(t, t.TempDir()))
	change := func(query string) {
		must(t, j.db.Write(ctx, func(tx *sql.Tx) error {
			_, err := tx.Exec(query)
			return err
		}))
	}
	b := large(ada, 3)
	change(fmt.Sprintf(`CREATE TRIGGER no BEFORE INSERT ON records WHEN NEW.id = '%d'
		BEGIN SELECT RAISE(FAIL, 'no room'); END`, len(b.Records)-1))
	if _, err := j.Append(ctx, b); err == nil {
		t.Fatal("the batch was confirmed although a part was refused")
	}
	wantTexts(t, j, ada)
	if got, err := j.Owners(ctx, Learner); err != nil || len(got) != 0 {
		t.Errorf("got owners %+v, %v; want 0 elements, <nil>", got, err)
	}
	change("DROP TRIGGER no")
	if seqs := put(t, j, ada, morning.Add(time.Hour), b.Records...); slices.Contains(seqs, 0) {
		t.Error("the repeated batch was not appended completely")
	}
}

// TestDropDuringLargeBatch: a log that is dropped during an import stays dropped, and the
// import is not confirmed.
func TestDropDuringLargeBatch(t *testing.T) {
	j := inParts(onDisk(t, t.TempDir()))
	a := newAppending(large(ada, 2))
	must(t, j.commitPart(a, 0, part))
	must(t, j.Drop(ctx, ada))
	if err := j.commitPart(a, part, len(a.Records)); !errors.Is(err, errDropped) {
		t.Errorf("the rest of the batch: got error %v, want %v", err, errDropped)
	}
	wantTexts(t, j, ada)
}

// TestPanicInCommitIsReported: if a commit panics, the callers waiting for it get an error, and
// later commits are not affected.
func TestPanicInCommitIsReported(t *testing.T) {
	db, err := store.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	j := NewSQLite(db)
	var broken *fault.Fault
	err = j.write(func(*sql.Tx, *sql.Stmt) error { panic("in a commit") })
	if !errors.As(err, &broken) {
		t.Errorf("the commit: got error %v, want an error of type *fault.Fault", err)
	}
	if _, err := j.Append(t.Context(), large(Owner{Learner, "a"}, 1)); err != nil {
		t.Errorf("the next commit: %v", err)
	}
}
