package journal

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
)

// ids returns the ids of a log's records in order.
func ids(t *testing.T, j Journal, o Owner) (list []string) {
	t.Helper()
	must(t, j.Read(ctx, o, 0, func(r Record) error {
		list = append(list, r.ID)
		return nil
	}))
	return list
}

// TestDropReachesQuarantinedRooms: after learners have deleted their data, the quarantined
// records of rooms no longer identify them.
func TestDropReachesQuarantinedRooms(t *testing.T) {
	j := onDisk(t, t.TempDir())
	room := Owner{Room, "K7Q4MX"}
	put(t, j, ada, morning, record("visit", "1", "{}"))
	put(t, j, room, morning, record("member", "1", `{"member":1,"learner":"`+ada.Name+`"}`),
		record("name", "2", `{"member":1,"name":"Ada"}`), record("vote", "1.1.1.1", `{"member":1}`))
	must(t, j.SetAside(ctx, room, morning))
	must(t, j.Drop(ctx, ada))
	logs, err := j.Owners(ctx, "set aside")
	must(t, err)
	if got := ids(t, j, Owner{"set aside", logs[0].Name}); len(got) > 1 {
		t.Errorf("the records left of the room are %v, want at most 1 element", got)
	}
	if n := count(t, j, "SELECT count(*) FROM records WHERE type IN ('member', 'name')"); n != 0 {
		t.Errorf("%d records still identify people, want 0", n)
	}
	if n := count(t, j, "SELECT count(*) FROM records WHERE type = 'vote'"); n != 1 {
		t.Errorf("%d votes are left, want 1", n)
	}
}

// TestUnreadableRecordsAreQuarantined: a record that a fold cannot add, or that makes it panic, is
// set aside, and the other records still apply. Records that were set aside are not read again.
func TestUnreadableRecordsAreQuarantined(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		var list []Record
		for i := range 40 {
			data := fmt.Sprint(i)
			switch i {
			case 5, 35:
				data = "panic"
			case 20:
				data = "no number"
			}
			list = append(list, record("set", fmt.Sprint("a.", i), data))
		}
		put(t, j, ada, morning, list...)
		fs := NewFolds(j, Learner, tallies)
		for range 2 {
			if s := stateOf(t, fs, ada.Name); s.Records != 37 || s.Values["a"] != 39 {
				t.Errorf("the state has %d records and values %v, want 37 and 39", s.Records, s.Values)
			}
			fs = NewFolds(j, Learner, tallies)
		}
		aside, err := j.Aside(ctx, ada)
		if err != nil || len(aside) != 1 || aside[0].Records != 3 {
			t.Errorf("the data set aside is %+v, %v; want 3 records", aside, err)
		}
	})
}

// TestUnfoldableLogIsQuarantined: a log that cannot be folded at all is set aside
// completely, and the owner starts with an empty log. Other logs are not affected.
func TestUnfoldableLogIsQuarantined(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		var list []Record
		for i := range 40 {
			list = append(list, record("set", fmt.Sprint("a.", i), "panic"))
		}
		put(t, j, ada, morning, list...)
		put(t, j, bob, morning, record("set", "b.1", "7"))
		if _, err := Load(ctx, j, ada, tallies); !errors.Is(err, ErrDamaged) {
			t.Errorf("Load: got error %v, want %v", err, ErrDamaged)
		}
		fs := NewFolds(j, Learner, tallies)
		if s := stateOf(t, fs, ada.Name); s.Records != 0 {
			t.Errorf("the state is %+v, want Records = 0", s)
		}
		add(t, fs, 1, 3)
		if s := stateOf(t, NewFolds(j, Learner, tallies), ada.Name); s.Records != 3 {
			t.Errorf("the later state is %+v, want Records = 3", s)
		}
		if s := stateOf(t, fs, bob.Name); s.Values["b"] != 7 {
			t.Errorf("the other owner's state is %+v, want b = 7", s)
		}
		if aside, err := j.Aside(ctx, ada); err != nil || len(aside) != 1 || aside[0].Records != 40 {
			t.Errorf("the data set aside is %+v, %v; want 40 records", aside, err)
		}
	})
}

// TestDamagedSnapshotIsIgnored: a damaged snapshot is ignored, even if it can be decoded,
// since the log contains all data.
func TestDamagedSnapshotIsIgnored(t *testing.T) {
	j := onDisk(t, t.TempDir())
	fs := NewFolds(j, Learner, tallies)
	add(t, fs, 1, 2*snapshotEvery)
	if n := count(t, j, "SELECT count(*) FROM snapshots"); n != 1 {
		t.Fatalf("there are %d snapshots, want 1", n)
	}
	want := stateOf(t, NewFolds(j, Learner, tallies), ada.Name)
	for _, damage := range []string{
		`state = CAST('{"values":null,"records":3}' AS BLOB)`, "seq = seq + 1", "seq = 9000000000000000000",
		"version = '1'", "state = zeroblob(3)",
	} {
		change(t, j, "UPDATE snapshots SET "+damage)
		got := stateOf(t, NewFolds(j, Learner, tallies), ada.Name)
		if got.Records < 1 || got.Values["a"] != want.Values["a"] {
			t.Errorf(
				"with %s: got a state with %d records and values %v, want records and a = %d",
				damage, got.Records, got.Values,
				want.Values["a"],
			)
		}
	}
}

// count returns the number that a database query selects. change modifies the database
// without the journal noticing.
func count(t *testing.T, j *SQLite, query string) (n int) {
	t.Helper()
	must(t, j.db.Read(ctx, func(tx *sql.Tx) error { return tx.QueryRow(query).Scan(&n) }))
	return n
}

func change(t *testing.T, j *SQLite, query string) {
	t.Helper()
	must(t, j.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(query)
		return err
	}))
}
