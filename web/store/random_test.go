package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

const pageBytes = 4096

// tokens is a database in which every record repeats a unique token, so that the bytes of
// the file show which pages contain the record.
type tokens struct {
	file    []byte
	records map[string]string // the data of records, by token
	pages   map[string][]int  // the pages that contain a record, by token
}

func newTokens(t *testing.T) *tokens {
	t.Helper()
	dir := t.TempDir()
	db := opened(t, dir)
	x := &tokens{records: map[string]string{}, pages: map[string][]int{}}
	err := db.Write(context.Background(), func(tx *sql.Tx) error {
		for seq := 1; seq <= 400; seq++ {
			owner, token := 1+seq%7, fmt.Sprintf("<token %08d>", seq*7919)
			times := 1 + seq%12
			if seq%50 == 0 {
				times = 700 // longer than a page
			}
			data := strings.Repeat(token, times)
			x.records[token] = data
			if _, err := tx.Exec(`INSERT INTO owners (id, kind, name, used_at, first, last, records, bytes)
				VALUES (?, 'learner', ?, 1790000000000, ?, ?, 0, 0) ON CONFLICT DO UPDATE SET last = excluded.last`,
				owner, fmt.Sprint("learner-", owner), seq, seq); err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO records VALUES (?, ?, 'answer', ?, ?)",
				owner, seq, fmt.Sprint(seq), data); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`UPDATE owners SET (records, bytes) =
			(SELECT count(*), sum(` + recordSize + `) FROM records WHERE owner = owners.id)`)
		return err
	})
	if err == nil {
		_, err = db.write.Exec("VACUUM") // so that there are no old copies of rows
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	x.file = read(t, filepath.Join(dir, fileName))
	for token := range x.records {
		for at := 0; ; at++ {
			next := bytes.Index(x.file[at:], []byte(token[:15]))
			if next < 0 {
				break
			}
			at += next
			for _, page := range []int{at / pageBytes, (at + len(token) - 1) / pageBytes} {
				if !slices.Contains(x.pages[token], page) {
					x.pages[token] = append(x.pages[token], page)
				}
			}
		}
	}
	return x
}

// damage is a function that damages a file. It returns the damaged file and the numbers of
// the damaged pages.
type damage func(r *rand.Rand, file []byte) (after []byte, hit []int)

var damages = map[string]damage{
	"bits": func(r *rand.Rand, file []byte) (_ []byte, hit []int) {
		for range 1 + r.IntN(12) {
			at := r.IntN(len(file))
			file[at] ^= 1 << r.IntN(8)
			hit = append(hit, at/pageBytes)
		}
		return file, hit
	},
	"bits of the first page": func(r *rand.Rand, file []byte) ([]byte, []int) {
		for range 1 + r.IntN(3) {
			file[r.IntN(100+r.IntN(pageBytes-100))] ^= 1 << r.IntN(8)
		}
		return file, []int{0}
	},
	"noise": func(r *rand.Rand, file []byte) ([]byte, []int) {
		page := r.IntN(len(file) / pageBytes)
		for i := range pageBytes {
			file[page*pageBytes+i] = byte(r.Uint32())
		}
		return file, []int{page}
	},
	"zeros": func(r *rand.Rand, file []byte) (_ []byte, hit []int) {
		for range 1 + r.IntN(3) {
			page := r.IntN(len(file) / pageBytes)
			clear(file[page*pageBytes:][:pageBytes])
			hit = append(hit, page)
		}
		return file, hit
	},
	"a page twice": func(r *rand.Rand, file []byte) ([]byte, []int) {
		from, to := r.IntN(len(file)/pageBytes), r.IntN(len(file)/pageBytes)
		copy(file[to*pageBytes:][:pageBytes], file[from*pageBytes:][:pageBytes])
		return file, []int{to}
	},
	"cut short": func(r *rand.Rand, file []byte) (_ []byte, hit []int) {
		size := pageBytes + r.IntN(len(file)-pageBytes)
		for page := size / pageBytes; page < len(file)/pageBytes; page++ {
			hit = append(hit, page)
		}
		return file[:size], hit
	},
}

// TestDamagedAtRandom: whatever is damaged in a file, the start succeeds. Every record whose
// pages were not damaged is still there, and so is every record that the sqlite3 command, if
// available, can recover. If the header claims that the file belongs to another program, and
// the tables no longer prove otherwise, the file is refused and left unchanged.
func TestDamagedAtRandom(t *testing.T) {
	x := newTokens(t)
	each, most := 2, uint64(1<<20)
	if fixture.LongTier() {
		each = 84 // 504 in total
	}
	recover := x.recoverer(t)
	for name, damage := range damages {
		for range each {
			seed := rand.Uint64N(most)
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) { x.survives(t, damage, seed, recover) })
		}
	}
}

func (x *tokens) survives(t *testing.T, damage damage, seed uint64, recover string) {
	file, hit := damage(rand.New(rand.NewPCG(seed, 0)), bytes.Clone(x.file))
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	replace(t, path, file)
	if x.refused(t, file) {
		return
	}
	db, log := logged(t, dir)
	got := map[string]int{}
	rows, err := db.read.Query("SELECT data FROM records")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var data string
		if err := rows.Scan(&data); err != nil {
			t.Fatal(err)
		}
		got[data]++
	}
	for token, data := range x.records {
		if got[data] > 0 {
			continue
		}
		if !slices.ContainsFunc(x.pages[token], func(page int) bool { return slices.Contains(hit, page) }) {
			t.Errorf("%s is lost, although its pages %v were not hit: %v", token, x.pages[token], hit)
		}
	}
	if n := textOf(t, db, "SELECT count(*) FROM records"); n != fmt.Sprint(len(x.records)) && log == "" {
		t.Errorf("of %d records, %s are left, and nothing is logged", len(x.records), n)
	}
	if len(aside(t, dir)) != len(db.Notices()) && len(db.Notices()) == 0 {
		t.Error("the file was set aside without a notice")
	}
	var verdict string
	if err := db.write.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("the new database: got %s, %v; want %s, <nil>", verdict, err, "ok")
	}
	if recover == "" {
		return
	}
	for _, data := range recovered(t, recover, file) {
		if got[data] == 0 && slices.Contains(values(x.records), data) {
			t.Errorf("sqlite3 recovers %.20s…, which this program has lost", data)
		}
	}
}

// refused reports whether a file is refused. That is allowed only if its version (bytes 60
// to 63) or its application (68 to 71) was hit.
func (x *tokens) refused(t *testing.T, file []byte) bool {
	t.Helper()
	if bytes.Equal(file[60:64], x.file[60:64]) && bytes.Equal(file[68:72], x.file[68:72]) {
		return false
	}
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	replace(t, path, file)
	db, err := Open(dir, nil)
	if err == nil {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return false
	}
	if !errors.Is(err, ErrNewer) && !errors.Is(err, ErrForeign) {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, path), file) {
		t.Error("the refused file was changed")
	}
	return true
}

// TestSalvageTextWithFlippedType: if a flipped bit turns the type of a text into that of a
// number or a blob of the same length, the text is still read. In the header of a row, the
// type of the id "399", a text of three bytes, is 19 = 13 + 2 · 3. The type of a blob of
// three bytes is 18, and that of a number of three bytes is 3.
func TestSalvageTextWithFlippedType(t *testing.T) {
	x := newTokens(t)
	row := bytes.Index(x.file, []byte("answer399<token"))
	at := row - 8 + bytes.Index(x.file[row-8:row], []byte{13 + 2*6, 13 + 2*3}) + 1 // after the type of "answer"
	for _, said := range []byte{18, 3} {
		dir, file := t.TempDir(), bytes.Clone(x.file)
		file[at] = said
		replace(t, filepath.Join(dir, fileName), file)
		db, _ := logged(t, dir)
		const whole = "SELECT count(*) FROM records WHERE id = '399' AND data LIKE '<token 03159681>%'"
		if n := textOf(t, db, whole); n != "1" {
			t.Errorf("with type %d: got %s rows with the id 399, want %s", said, n, "1")
		}
		if n := textOf(t, db, "SELECT count(*) FROM records"); n != fmt.Sprint(len(x.records)) {
			t.Errorf("with type %d: got %s records, want %d", said, n, len(x.records))
		}
	}
}

// TestSalvageRowWithFlippedLength: if the length of a row in its cell differs in one bit
// from the length according to the row's header, the row is read according to its header.
// The row of "answer183" takes 83 bytes (0x53); its cell is changed to 87, 81, 67 and 115.
func TestSalvageRowWithFlippedLength(t *testing.T) {
	x := newTokens(t)
	row := bytes.Index(x.file, []byte("answer183<token"))
	at := row - 12 + bytes.IndexByte(x.file[row-12:row], 83)
	for _, said := range []byte{87, 81, 67, 115} {
		dir, file := t.TempDir(), bytes.Clone(x.file)
		file[at] = said
		replace(t, filepath.Join(dir, fileName), file)
		db, _ := logged(t, dir)
		if n := textOf(t, db, "SELECT count(*) FROM records"); n != fmt.Sprint(len(x.records)) {
			t.Errorf("with length %d: got %s records, want %d", said, n, len(x.records))
		}
	}
}

// recoverer returns the path of an sqlite3 command whose .recover works, or "". Debian's
// sqlite3 is built without it.
func (x *tokens) recoverer(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("sqlite3")
	if err != nil {
		return ""
	}
	if n := len(recovered(t, path, x.file)); n < len(x.records) {
		t.Logf("%s recovers %d of %d records of an intact file, so nothing is compared", path, n, len(x.records))
		return ""
	}
	return path
}

func values(m map[string]string) (list []string) {
	for _, v := range m {
		list = append(list, v)
	}
	return list
}

// recovered returns the data of the records that sqlite3's .recover command finds, in the
// table or among the rows without a table. The command can fail.
func recovered(t *testing.T, sqlite3 string, file []byte) (found []string) {
	t.Helper()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "damaged.db"), filepath.Join(dir, "recovered.db")
	replace(t, from, file)
	script, _ := exec.Command(sqlite3, from, ".recover").Output()
	into := exec.Command(sqlite3, to)
	into.Stdin = bytes.NewReader(script)
	_ = into.Run()
	for _, query := range []string{"SELECT data FROM records", "SELECT c4 AS data FROM lost_and_found"} {
		out, _ := exec.Command(sqlite3, "-json", to, query).Output()
		var rows []struct{ Data any }
		_ = json.Unmarshal(out, &rows)
		for _, r := range rows {
			if data, ok := r.Data.(string); ok {
				found = append(found, data)
			}
		}
	}
	return found
}

// TestTruncatedFileDoesNotPreventStartup: the start succeeds wherever a file is cut off.
func TestTruncatedFileDoesNotPreventStartup(t *testing.T) {
	x := newTokens(t)
	all := len(x.file)
	for _, cut := range []int{1, 100, pageBytes / 2, pageBytes - 1, pageBytes, 3*pageBytes + 7, all / 2, all - 1} {
		size := all - cut
		dir := t.TempDir()
		replace(t, filepath.Join(dir, fileName), bytes.Clone(x.file[:size]))
		if db, err := Open(dir, nil); err != nil {
			t.Errorf("%d bytes of %d: %v", size, len(x.file), err)
		} else if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
