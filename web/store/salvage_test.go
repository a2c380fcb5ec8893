package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// addLogs stores logs with records that can be identified by their contents.
func addLogs(t *testing.T, db *DB, logs, records int) {
	t.Helper()
	err := db.Write(context.Background(), func(tx *sql.Tx) error {
		if _, err := tx.Exec("PRAGMA defer_foreign_keys = 1"); err != nil {
			return err
		}
		seq := 0
		for l := range logs {
			first, size := seq+1, 0
			for i := range records {
				seq++
				id, data := fmt.Sprint("id-", i), fmt.Sprintf(`{"log":%d,"record":%d,"pad":%q}`, l, i,
					strings.Repeat("p", i*37%200))
				if i == 7 { // longer than a page
					data = fmt.Sprintf(`{"log":%d,"record":%d,"pad":%q}`, l, i, strings.Repeat("long ", 2000))
				}
				if _, err := tx.Exec("INSERT INTO records (owner, seq, type, id, data) VALUES (?, ?, 'answer', ?, ?)",
					l+1, seq, id, data); err != nil {
					return err
				}
				size += len("answer") + len(id) + len(data)
			}
			if _, err := tx.Exec(`INSERT INTO owners (id, kind, name, used_at, first, last, records, bytes)
				VALUES (?, 'learner', ?, 1790000000000, ?, ?, ?, ?)`,
				l+1, fmt.Sprint("learner-", l), first, seq, records, size); err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO snapshots (owner, version, seq, state) VALUES (?, '1', ?, ?)",
				l+1, seq, []byte("{}")); err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO room_secrets (room, hash) VALUES (?, ?)",
				fmt.Sprint("ROOM", l), bytes.Repeat([]byte{byte(l)}, 32)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// contents returns all rows of a database's tables as strings. It omits snapshots, which are not
// salvaged.
func contents(t *testing.T, conn *sql.DB) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range salvagedTables {
		rows, err := conn.Query("SELECT " + table.columns + " FROM " + table.name)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values := make([]any, strings.Count(table.columns, ",")+1)
			to := make([]any, len(values))
			for i := range to {
				to[i] = &values[i]
			}
			if err := rows.Scan(to...); err != nil {
				t.Fatal(err)
			}
			all[table.name] = append(all[table.name], fmt.Sprint(values))
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(all[table.name])
	}
	return all
}

// fullFolder returns a folder with a database in which all tables have rows, the path of the
// database, and its contents.
func fullFolder(t *testing.T, logs, records int) (dir, path string, all map[string][]string) {
	t.Helper()
	dir = t.TempDir()
	db := opened(t, dir)
	addLogs(t, db, logs, records)
	all = contents(t, db.write)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, fileName), all
}

// TestSalvageWithoutSchemaOrHeader: if the schema or the header is damaged, the data is restored
// from the copy.
func TestSalvageWithoutSchemaOrHeader(t *testing.T) {
	fixture.Long(t)
	for name, damage := range map[string]func(data []byte){
		"the header":         func(data []byte) { clear(data[:100]) },
		"the list of tables": func(data []byte) { clear(data[100:4096]) },
		"the format":         func(data []byte) { data[47] = 9 },
		"the encoding":       func(data []byte) { data[59] = 3 },
		"write version":      func(data []byte) { data[18] = 3 },
		"the mark":           func(data []byte) { data[70] ^= 4 },
		"the version":        func(data []byte) { data[63] ^= 64 },
	} {
		t.Run(name, func(t *testing.T) {
			dir, path, want := fullFolder(t, 3, 40)
			db := opened(t, dir)
			copied(t, db, time.Now())
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			data := read(t, path)
			damage(data)
			replace(t, path, data)
			again, log := logged(t, dir)
			if len(aside(t, dir)) != 1 || !bytes.Equal(read(t, aside(t, dir)[0]), data) {
				t.Fatalf("the files set aside are %v, want one file, unchanged", aside(t, dir))
			}
			got := contents(t, again.write)
			for table := range want {
				if table != "notices" && !slices.Equal(got[table], want[table]) {
					t.Errorf("%s has %d rows, want %d, unchanged", table, len(got[table]), len(want[table]))
				}
			}
			if n := again.Notices(); len(n) != 1 || !strings.Contains(n[0].Text, "120 entries") {
				t.Errorf("got notices %v, want one about 120 entries", n)
			}
			if !strings.Contains(log, "records=120") {
				t.Errorf(
					"the log does not have the number of rows of each table: got %s, want it to contain %q",
					log, "records=120",
				)
			}
		})
	}
}

// clearRoot returns a database file in which the first page of a table has been zeroed.
func clearRoot(t *testing.T, path, table string) []byte {
	t.Helper()
	conn, err := openToRead(path)
	if err != nil {
		t.Fatal(err)
	}
	var root int
	if err := conn.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = ?", table).Scan(&root); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	data := read(t, path)
	clear(data[(root-1)*pageBytes : root*pageBytes])
	return data
}

// TestSalvageFindsNamesOfLogs: if an inner page and a log's row are lost, the log's name is found
// in an index.
func TestSalvageFindsNamesOfLogs(t *testing.T) {
	dir, path, want := fullFolder(t, 5, 20)
	data := clearRoot(t, path, "owners")
	replace(t, path, data)
	db, _ := logged(t, dir)
	got := contents(t, db.write)
	if !slices.Equal(got["records"], want["records"]) {
		t.Errorf("%d records, want %d", len(got["records"]), len(want["records"]))
	}
	var names string
	if err := db.write.QueryRow("SELECT group_concat(id || ' ' || name, ', ') FROM (SELECT * FROM owners ORDER BY id)").
		Scan(&names); err != nil {
		t.Fatal(err)
	}
	if names != "1 learner-0, 2 learner-1, 3 learner-2, 4 learner-3, 5 learner-4" {
		t.Errorf(
			"the logs are named %q, want %q", names, "1 learner-0, 2 learner-1, 3 learner-2, 4 learner-3, 5 learner-4",
		)
	}
}

// TestSalvageReadsTheLog: commits that are only in the write-ahead log are salvaged too.
func TestSalvageReadsTheLog(t *testing.T) {
	dir, _, _, want := damagedWithLog(t)
	again, _ := logged(t, dir)
	got := contents(t, again.write)
	if !slices.Equal(got["records"], want["records"]) {
		t.Errorf("%d records, want %d, as committed last", len(got["records"]), len(want["records"]))
	}
}

// TestInterruptedSalvage: if a start is killed while it is replacing a damaged database, the next
// start completes or repeats the replacement.
func TestInterruptedSalvage(t *testing.T) {
	for name, interrupt := range map[string]func(t *testing.T, dir, path string, sound []byte){
		"while copying": func(t *testing.T, dir, path string, sound []byte) {
			replace(t, filepath.Join(dir, salvagingName), sound[:5000])
		},
		"after copying": func(t *testing.T, dir, path string, sound []byte) {
			replace(t, filepath.Join(dir, salvagedName), []byte("of an earlier attempt"))
		},
		"after setting aside": func(t *testing.T, dir, path string, sound []byte) {
			replace(t, filepath.Join(dir, salvagedName), sound)
			if err := os.Rename(path, filepath.Join(dir, "viz-damaged-2026-11-21-093005.db")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, path, want := fullFolder(t, 2, 20)
			sound := read(t, path)
			replace(t, path, clearRoot(t, path, "room_secrets"))
			interrupt(t, dir, path, sound)
			db, _ := logged(t, dir)
			if got := contents(t, db.write); !slices.Equal(got["records"], want["records"]) {
				t.Errorf("%d records, want %d", len(got["records"]), len(want["records"]))
			}
			if len(aside(t, dir)) != 1 {
				t.Errorf("the files set aside: got %v, want 1 element", aside(t, dir))
			}
			left, err := filepath.Glob(filepath.Join(dir, "*.part*"))
			if err != nil || len(left) > 0 {
				t.Errorf("temporary files: got %v, %v; want 0 elements, <nil>", left, err)
			}
		})
	}
}

// damagedWithLog creates a folder whose database has a damaged page and, as after kill -9, has
// commits in its write-ahead log. It also returns the contents of the database.
func damagedWithLog(t *testing.T) (dir string, file, log []byte, want map[string][]string) {
	t.Helper()
	from, path, _ := fullFolder(t, 2, 20)
	db := opened(t, from)
	for _, query := range []string{
		"UPDATE records SET data = 'newer' WHERE seq = 5", "DELETE FROM records WHERE seq = 6",
	} {
		if _, err := db.write.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	want = contents(t, db.write)
	file, log = clearRoot(t, path, "room_secrets"), read(t, path+"-wal")
	if len(log) == 0 {
		t.Fatal("there is no write-ahead log to test with")
	}
	dir = t.TempDir()
	replace(t, filepath.Join(dir, fileName), file)
	replace(t, filepath.Join(dir, fileName+"-wal"), log)
	replace(t, filepath.Join(dir, fileName+"-shm"), read(t, path+"-shm"))
	replace(t, filepath.Join(dir, secretName), read(t, filepath.Join(from, secretName)))
	return dir, file, log, want
}

// TestInterruptedRenamesLoseNothing: if a start stops after any of the renames that replace a
// damaged database, no data is lost. After the next start, all committed data is there, the damaged
// file and its log are unchanged, and there is one notice about them.
func TestInterruptedRenamesLoseNothing(t *testing.T) {
	fixture.Long(t)
	errStop := errors.New("stopped")
	for after := 0; ; after++ {
		dir, file, log, want := damagedWithLog(t)
		renames := 0
		stopped := &DB{dir: dir, log: slog.New(slog.DiscardHandler), trouble: trouble{clock: time.Now}}
		stopped.rename = func(from, to string) error {
			if renames == after {
				panic(errStop)
			}
			err := os.Rename(from, to)
			if renames++; renames == after {
				panic(errStop) // including the last rename, before the notice is saved
			}
			return err
		}
		var err error
		func() {
			defer func() {
				if recover() != nil {
					err = errStop
				}
			}()
			err = stopped.openFolder(time.Now())
		}()
		if err := stopped.Close(); err != nil {
			t.Fatal(err)
		}
		if err == nil {
			if renames < 5 { // the copy, three files set aside, and the copy again
				t.Errorf("got only %d renames, so this test misses some", renames)
			}
			return
		}
		if !errors.Is(err, errStop) {
			t.Fatalf("got error %v, want %v", err, errStop)
		}
		db, _ := logged(t, dir)
		if got := contents(t, db.write); !slices.Equal(got["records"], want["records"]) {
			t.Errorf("after a stop at rename %d: got records %.300v, want %.300v", after, got["records"],
				want["records"])
		}
		list := aside(t, dir)
		if len(list) != 1 || !bytes.Equal(read(t, list[0]), file) || !bytes.Equal(read(t, list[0]+"-wal"), log) {
			t.Errorf("after a stop at rename %d: the files set aside are %v, want one file with its log, unchanged",
				after, list)
		}
		if n := db.Notices(); len(n) != 1 || len(list) == 1 && !strings.Contains(n[0].Text, filepath.Base(list[0])) {
			t.Errorf("after a stop at rename %d: got notices %v, want one that names the file", after, n)
		}
	}
}

// TestSalvageRestoresNothingDeleted: neither the damaged file nor a copy brings back deleted rows.
func TestSalvageRestoresNothingDeleted(t *testing.T) {
	dir, path, _ := fullFolder(t, 6, 60)
	db := opened(t, dir)
	copied(t, db, time.Now())
	for _, query := range []string{"DELETE FROM owners WHERE id IN (2, 3)", "DELETE FROM records WHERE seq % 3 = 0"} {
		if err := db.Write(context.Background(), func(tx *sql.Tx) error {
			_, err := tx.Exec(query)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	copied(t, db, time.Now())
	want := contents(t, db.write)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	replace(t, path, clearRoot(t, path, "room_secrets"))
	again, _ := logged(t, dir)
	if got := contents(t, again.write); !slices.Equal(got["records"], want["records"]) {
		t.Errorf("%d records, want %d", len(got["records"]), len(want["records"]))
	}
}
