package journal

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/store"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperDir); dir != "" {
		appendUntilKilled(dir)
	}
	goleak.VerifyTestMain(fixture.Suite{M: m})
}

var ctx = context.Background()

// Adapters exports adapters for the suite in journaltest, which this package cannot import.
var Adapters = adapters

// adapters maps the name of each adapter to a function that opens an empty journal.
var adapters = map[string]func(testing.TB) Journal{
	"memory": func(testing.TB) Journal { return NewMemory() },
	"kept":   func(t testing.TB) Journal { return keptIn(t, newTable()) },
	"sqlite": func(t testing.TB) Journal { return onDisk(t, t.TempDir()) },
	"sqlite in parts": func(t testing.TB) Journal {
		j := onDisk(t, t.TempDir())
		j.perCommit = 2 // so that a batch of three records counts as large
		return j
	},
	"sqlite in memory": func(t testing.TB) Journal {
		db, err := store.Open("", nil)
		must(t, err)
		t.Cleanup(func() { must(t, db.Close()) })
		return NewSQLite(db)
	},
}

// onDisk opens the journal in a folder.
func onDisk(t testing.TB, dir string) *SQLite {
	t.Helper()
	db, err := store.Open(dir, nil)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return NewSQLite(db)
}

// conform runs a test on every adapter.
func conform(t *testing.T, test func(t *testing.T, j Journal)) {
	for name, open := range adapters {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var (
	ada  = Owner{Learner, "ada"}
	bob  = Owner{Learner, "bob"}
	hall = Owner{Room, "ada"} // has the same name as a learner
)

var morning = time.Date(2026, 11, 21, 9, 0, 0, 123_456_789, time.UTC)

func record(kind, id, data string) Record { return Record{Type: kind, ID: id, Data: []byte(data)} }

// put appends records and returns their sequence numbers.
func put(t rapid.TB, j Journal, o Owner, at time.Time, records ...Record) []int64 {
	t.Helper()
	places, err := j.Append(ctx, Batch{o, at, records})
	must(t, err)
	if len(places) != len(records) {
		t.Fatalf("got %d sequence numbers, want %d", len(places), len(records))
	}
	return places
}

// read returns the records after a sequence number.
func read(t rapid.TB, j Journal, o Owner, after int64) (list []Record) {
	t.Helper()
	must(t, j.Read(ctx, o, after, func(r Record) error {
		list = append(list, r)
		return nil
	}))
	return list
}

// texts returns records as strings, without their sequence numbers.
func texts(list []Record) (all []string) {
	for _, r := range list {
		all = append(all, r.Type+" "+r.ID+" "+string(r.Data))
	}
	return all
}

func wantTexts(t rapid.TB, j Journal, o Owner, want ...string) {
	t.Helper()
	if got := texts(read(t, j, o, 0)); !slices.Equal(got, want) {
		t.Errorf("the log of %v is %q, want %q", o, got, want)
	}
}
