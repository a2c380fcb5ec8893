package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/web/store"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperDir); dir != "" {
		appendUntilKilled(dir)
	}
	goleak.VerifyTestMain(m)
}

var ctx = context.Background()

// adapters make an empty journal of each kind.
var adapters = map[string]func(testing.TB) Journal{
	"memory": func(testing.TB) Journal { return NewMemory() },
	"kept":   func(t testing.TB) Journal { return keptIn(t, newTable()) },
	"sqlite": func(t testing.TB) Journal { return onDisk(t, t.TempDir()) },
	"sqlite in parts": func(t testing.TB) Journal {
		j := onDisk(t, t.TempDir())
		j.perCommit = 2 // so that batches of three are large
		return j
	},
	"sqlite in memory": func(t testing.TB) Journal {
		db, err := store.Open("", nil)
		must(t, err)
		t.Cleanup(func() { must(t, db.Close()) })
		return NewSQLite(db)
	},
}

// onDisk opens the logs in a folder.
func onDisk(t testing.TB, dir string) *SQLite {
	t.Helper()
	db, err := store.Open(dir, nil)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return NewSQLite(db)
}

// conform runs a test of the suite on every adapter.
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
	hall = Owner{Room, "ada"} // of the same name as a learner
)

var morning = time.Date(2026, 11, 21, 9, 0, 0, 123_456_789, time.UTC)

func record(kind, id, data string) Record { return Record{Type: kind, ID: id, Data: []byte(data)} }

// put appends records and returns their places.
func put(t rapid.TB, j Journal, o Owner, at time.Time, records ...Record) []int64 {
	t.Helper()
	places, err := j.Append(ctx, Batch{o, at, records})
	must(t, err)
	if len(places) != len(records) {
		t.Fatalf("%d places for %d records", len(places), len(records))
	}
	return places
}

// read returns the records after a place.
func read(t rapid.TB, j Journal, o Owner, after int64) (list []Record) {
	t.Helper()
	must(t, j.Read(ctx, o, after, func(r Record) error {
		list = append(list, r)
		return nil
	}))
	return list
}

// texts are records without their places.
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

func TestRecordsAreAddedOnce(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		first := put(t, j, ada, morning, record("answer", "1", `{"a":1}`), record("visit", "1", `{}`))
		if first[0] <= 0 || first[1] <= first[0] {
			t.Errorf("places %v", first)
		}
		// Of the same type and id nothing is added, whatever it says; also within one batch.
		again := put(t, j, ada, morning, record("answer", "1", `{"a":2}`), record("answer", "2", `{}`),
			record("answer", "2", `{"twice":true}`))
		if again[0] != 0 || again[1] <= first[1] || again[2] != 0 {
			t.Errorf("places %v after %v", again, first)
		}
		wantTexts(t, j, ada, `answer 1 {"a":1}`, `visit 1 {}`, `answer 2 {}`)
		put(t, j, bob, morning, record("answer", "1", `{"b":1}`)) // another's record of the same id
		put(t, j, hall, morning, record("answer", "1", `{"h":1}`))
		wantTexts(t, j, bob, `answer 1 {"b":1}`)
		wantTexts(t, j, hall, `answer 1 {"h":1}`)
		if rest := texts(read(t, j, ada, first[1])); !slices.Equal(rest, []string{"answer 2 {}"}) {
			t.Errorf("after the second place there is %q", rest)
		}
		r, found, err := j.Find(ctx, ada, Key{"answer", "1"})
		if err != nil || !found || r.Seq != first[0] || string(r.Data) != `{"a":1}` || r.Key() != (Key{"answer", "1"}) {
			t.Errorf("found %+v, %v, %v", r, found, err)
		}
		for _, o := range []Owner{ada, {Learner, "nobody"}} {
			if _, found, err := j.Find(ctx, o, Key{"answer", "9"}); found || err != nil {
				t.Errorf("%v has what was never appended: %v", o, err)
			}
		}
	})
}

func TestOwnersAreDescribed(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		put(t, j, bob, morning, record("visit", "ab", `{"ä":1}`)) // 5 + 2 + 8 bytes
		put(t, j, ada, morning.Add(time.Hour), record("visit", "1", `{}`))
		put(t, j, ada, morning, record("visit", "1", `{}`), record("visit", "2", `{}`)) // an earlier time, one known
		put(t, j, hall, morning)                                                        // a log that does not begin
		if got, err := j.Owners(ctx, Room); err != nil || len(got) != 0 {
			t.Errorf("rooms %v, %v", got, err)
		}
		put(t, j, hall, morning, record("data", "1", `{}`))
		put(t, j, hall, morning.Add(time.Minute)) // only used
		ms := morning.Truncate(time.Millisecond)
		for kind, want := range map[string][]Info{
			Learner: {{ada, ms.Add(time.Hour), 2, 16}, {bob, ms, 1, 15}},
			Room:    {{hall, ms.Add(time.Minute), 1, 7}},
		} {
			if got, err := j.Owners(ctx, kind); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%ss %v, %v; want %v", kind, got, err, want)
			}
		}
	})
}

func TestBatchesAreBounded(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		large := record("stage", "1", `"`+strings.Repeat("x", MaxRecord-2)+`"`)
		put(t, j, hall, morning, large)
		for what, list := range map[string][]Record{
			"record": {record("stage", "2", string(large.Data)+" ")},
			"id":     {record("stage", strings.Repeat("x", MaxID), "{}")},
			"many":   make([]Record, MaxRecords+1),
			"bytes":  slices.Repeat([]Record{large}, MaxBatch/MaxRecord+1),
		} {
			if _, err := j.Append(ctx, Batch{ada, morning, list}); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s: %v", what, err)
			}
		}
		wantTexts(t, j, ada)
		if got := read(t, j, hall, 0); len(got) != 1 || len(got[0].Data) != MaxRecord {
			t.Errorf("a record of the largest size comes back as %d", len(got))
		}
	})
}

func TestCompactedRecordsAreGone(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		places := put(t, j, hall, morning,
			record("vote", "1", `{"v":1}`), record("name", "1", `{}`), record("vote", "2", `{}`))
		must(t, j.KeepSnapshot(ctx, hall, Snapshot{"v1", places[2], []byte("{}")}))
		must(t, j.Compact(ctx, hall, []Key{{"vote", "1"}, {"vote", "9"}, {"name", "1"}, {"vote", "1"}}))
		wantTexts(t, j, hall, "vote 2 {}")
		if s, err := j.Snapshot(ctx, hall); err != nil || s.Version != "" {
			t.Errorf("the snapshot that may know them is there: %+v, %v", s, err)
		}
		if got, err := j.Owners(ctx, Room); err != nil || got[0].Records != 1 || got[0].Bytes != 7 {
			t.Errorf("described as %+v, %v", got, err)
		}
		// What was taken out may come again, behind what there is.
		if again := put(t, j, hall, morning, record("vote", "1", `{"v":2}`)); again[0] <= places[2] {
			t.Errorf("place %d after %d", again[0], places[2])
		}
		wantTexts(t, j, hall, "vote 2 {}", `vote 1 {"v":2}`)
		must(t, j.Compact(ctx, bob, []Key{{"vote", "1"}})) // there is no such log
	})
}

func TestDroppedLogsAreGone(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		old := put(t, j, ada, morning, record("visit", "1", "{}"), record("visit", "2", "{}"))
		put(t, j, bob, morning, record("visit", "1", "{}"))
		stale := Snapshot{"v1", old[1], []byte("{}")}
		must(t, j.KeepSnapshot(ctx, ada, stale))
		must(t, j.Drop(ctx, ada))
		must(t, j.Drop(ctx, ada))
		must(t, j.KeepSnapshot(ctx, ada, stale)) // by one who did not see it go
		wantTexts(t, j, ada)
		wantTexts(t, j, bob, "visit 1 {}")
		again := put(t, j, ada, morning, record("visit", "1", `{"new":1}`))
		must(t, j.KeepSnapshot(ctx, ada, stale))
		if s, err := j.Snapshot(ctx, ada); err != nil || s.Version != "" || again[0] <= old[1] {
			t.Errorf("the new log has the old one's snapshot %+v, %v; its places are %v after %v", s, err, again, old)
		}
	})
}

func TestSnapshotsAreReplaced(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		at := put(t, j, ada, morning, record("visit", "1", "{}"))[0]
		for _, want := range []Snapshot{
			{"v1", at, []byte(`{"a":1}`)}, {"v2", at, []byte{}}, {"v3", at, []byte("x\x00y")},
		} {
			must(t, j.KeepSnapshot(ctx, ada, want))
			got, err := j.Snapshot(ctx, ada)
			if err != nil || got.Version != want.Version || got.Seq != want.Seq || !bytes.Equal(got.State, want.State) {
				t.Errorf("snapshot %+v, %v; want %+v", got, err, want)
			}
		}
		if got, err := j.Snapshot(ctx, bob); err != nil || got.Version != "" {
			t.Errorf("nobody's snapshot is %+v, %v", got, err)
		}
	})
}

func TestGivenUpAppendsKeepNothing(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		_, err := j.Append(gone, Batch{ada, morning, []Record{record("visit", "1", "{}")}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("an append for nobody: %v", err)
		}
		wantTexts(t, j, ada)
		put(t, j, ada, morning, record("visit", "1", "{}"), record("visit", "2", "{}"))
		failure := errors.New("no")
		n := 0
		err = j.Read(ctx, ada, 0, func(Record) error { n++; return failure })
		if !errors.Is(err, failure) || n != 1 {
			t.Errorf("a read that is given up goes on to record %d, %v", n, err)
		}
	})
}

// Many append at the same time, some the same records: each is there once, and
// whoever was confirmed reads their own at once.
func TestAppendsAtOnce(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		const writers, each = 16, 20
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				own := Owner{Learner, fmt.Sprint("learner ", w)}
				for i := range each {
					id := fmt.Sprint(i)
					put(t, j, own, morning, record("answer", id, "{}"))
					if _, found, err := j.Find(ctx, own, Key{"answer", id}); err != nil || !found {
						t.Errorf("%v lacks %s, which was confirmed: %v", own, id, err)
					}
					put(t, j, hall, morning,
						record("vote", id, fmt.Sprint(w)), record("vote", fmt.Sprint(w, "-", i), "{}"))
				}
			})
		}
		wg.Wait()
		list := read(t, j, hall, 0)
		if len(list) != each+writers*each {
			t.Errorf("the shared log has %d records, want %d", len(list), each+writers*each)
		}
		for i, r := range list[1:] {
			if r.Seq <= list[i].Seq {
				t.Fatalf("place %d after %d", r.Seq, list[i].Seq)
			}
		}
		if got, err := j.Owners(ctx, Learner); err != nil || len(got) != writers || got[3].Records != each {
			t.Errorf("%d learners, %v", len(got), err)
		}
	})
}
