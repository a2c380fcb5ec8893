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
	"sqlite": func(t testing.TB) Journal { return onDisk(t, t.TempDir()) },
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

// naive is a journal as simple as can be.
type naive struct {
	logs map[Owner][]Record
	used map[Owner]int64
	snap map[Owner]string
}

func (n *naive) append(b Batch) (added []bool) {
	if len(n.logs[b.Owner]) == 0 && len(b.Records) == 0 && n.used[b.Owner] == 0 {
		return nil
	}
	n.used[b.Owner] = max(n.used[b.Owner], b.At.UnixMilli())
	for _, r := range b.Records {
		known := slices.ContainsFunc(n.logs[b.Owner], func(x Record) bool { return x.Type == r.Type && x.ID == r.ID })
		added = append(added, !known)
		if !known {
			n.logs[b.Owner] = append(n.logs[b.Owner], r)
		}
	}
	return added
}

// Whatever is done in whatever order, every adapter does what the naive one does.
func TestRandomOperations(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		runs := 0
		rapid.Check(t, func(rt *rapid.T) {
			runs++
			n := naive{map[Owner][]Record{}, map[Owner]int64{}, map[Owner]string{}}
			a, b := fmt.Sprint("a", runs), fmt.Sprint("b", runs)
			owners := []Owner{{Learner, a}, {Learner, b}, {Room, a}}
			someone := rapid.SampledFrom(owners)
			key := rapid.Custom(func(rt *rapid.T) Key {
				kind := rapid.SampledFrom([]string{"vote", "name"}).Draw(rt, "type")
				return Key{kind, fmt.Sprint(rapid.IntRange(1, 6).Draw(rt, "id"))}
			})
			for range rapid.IntRange(1, 25).Draw(rt, "operations") {
				o := someone.Draw(rt, "owner")
				things := []string{"append", "append", "append", "compact", "drop", "snapshot"}
				switch rapid.SampledFrom(things).Draw(rt, "what") {
				case "append":
					at := morning.Add(time.Duration(rapid.IntRange(0, 1e6).Draw(rt, "at")) * time.Millisecond)
					var list []Record
					for range rapid.IntRange(0, 4).Draw(rt, "records") {
						k := key.Draw(rt, "key")
						list = append(list, record(k.Type, k.ID, fmt.Sprintf("%q", rapid.String().Draw(rt, "data"))))
					}
					want := n.append(Batch{o, at, list})
					for i, place := range put(rt, j, o, at, list...) {
						if (place > 0) != want[i] {
							rt.Fatalf("record %d of %v has the place %d, new %v", i, list, place, want[i])
						}
					}
				case "compact":
					gone := rapid.SliceOfN(key, 0, 5).Draw(rt, "gone")
					must(rt, j.Compact(ctx, o, gone))
					n.logs[o] = slices.DeleteFunc(
						n.logs[o], func(r Record) bool { return slices.Contains(gone, r.Key()) })
					delete(n.snap, o)
				case "drop":
					must(rt, j.Drop(ctx, o))
					delete(n.logs, o)
					delete(n.used, o)
					delete(n.snap, o)
				case "snapshot":
					list := read(rt, j, o, 0)
					if len(list) > 0 {
						n.snap[o] = fmt.Sprint(len(list))
						must(rt, j.KeepSnapshot(ctx, o, Snapshot{"v1", list[len(list)-1].Seq, []byte(n.snap[o])}))
					}
				}
				n.compareLog(rt, j, o)
			}
			n.compare(rt, j, owners)
		})
	})
}

// compareLog compares a log and its snapshot, as a whole and from a place in it.
func (n *naive) compareLog(rt *rapid.T, j Journal, o Owner) (size int64) {
	list := read(rt, j, o, 0)
	if got, want := texts(list), texts(n.logs[o]); !slices.Equal(got, want) {
		rt.Fatalf("the log of %v is\n%q, want\n%q", o, got, want)
	}
	for i, r := range list {
		size += r.size()
		if i > 0 && r.Seq <= list[i-1].Seq {
			rt.Fatalf("place %d after %d", r.Seq, list[i-1].Seq)
		}
	}
	if len(list) > 0 {
		i := rapid.IntRange(0, len(list)-1).Draw(rt, "from")
		if rest := read(rt, j, o, list[i].Seq); len(rest) != len(list)-i-1 {
			rt.Fatalf("after record %d of %d there are %d", i+1, len(list), len(rest))
		}
	}
	if s, err := j.Snapshot(ctx, o); err != nil || string(s.State) != n.snap[o] {
		rt.Fatalf("the snapshot of %v is %+v, %v; want %q", o, s, err, n.snap[o])
	}
	return size
}

// compare compares everything that can be asked.
func (n *naive) compare(rt *rapid.T, j Journal, owners []Owner) {
	all := map[Owner]Info{}
	for _, kind := range []string{Learner, Room} {
		list, err := j.Owners(ctx, kind)
		must(rt, err)
		for _, i := range list {
			all[i.Owner] = i
		}
	}
	for _, o := range owners {
		size := n.compareLog(rt, j, o)
		info, known := all[o]
		used, want := n.used[o]
		same := info.Used.UnixMilli() == used && info.Records == len(n.logs[o]) && info.Bytes == size
		if known != want || known && !same {
			rt.Fatalf("%v is described as %+v, %v; want %d records, %d bytes, used at %d, %v",
				o, info, known, len(n.logs[o]), size, used, want)
		}
	}
}
