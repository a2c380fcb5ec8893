package journaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

func testRecordsAreAddedOnce(t *testing.T, j journal.Journal) {
	first := put(t, j, ada, morning, record("answer", "1", `{"a":1}`), record("visit", "1", `{}`))
	if first[0] <= 0 || first[1] <= first[0] {
		t.Errorf("got sequence numbers %v, want them positive and increasing", first)
	}
	// A record whose type and id already exist is not added, regardless of its data, even if both
	// records are in the same batch.
	again := put(t, j, ada, morning, record("answer", "1", `{"a":2}`), record("answer", "2", `{}`),
		record("answer", "2", `{"twice":true}`))
	if again[0] != 0 || again[1] <= first[1] || again[2] != 0 {
		t.Errorf("got sequence numbers %v after %v, want [0 n 0] with n > %d",
			again, first, first[1])
	}
	wantTexts(t, j, ada, `answer 1 {"a":1}`, `visit 1 {}`, `answer 2 {}`)
	put(t, j, bob, morning, record("answer", "1", `{"b":1}`)) // another owner's record with the same id
	put(t, j, hall, morning, record("answer", "1", `{"h":1}`))
	wantTexts(t, j, bob, `answer 1 {"b":1}`)
	wantTexts(t, j, hall, `answer 1 {"h":1}`)
	if rest := texts(read(t, j, ada, first[1])); !slices.Equal(rest, []string{"answer 2 {}"}) {
		t.Errorf("got records %q after the second, want %q", rest, []string{"answer 2 {}"})
	}
	r, found, err := j.Find(ctx, ada, key("answer", "1"))
	if err != nil || !found || r.Seq != first[0] || string(r.Data) != `{"a":1}` || r.Key() != key("answer", "1") {
		t.Errorf("Find(answer 1) = %+v, %v, %v; want the record with its data, true, <nil>", r, found, err)
	}
	for _, o := range []journal.Owner{ada, owner(journal.Learner, "nobody")} {
		if _, found, err := j.Find(ctx, o, key("answer", "9")); found || err != nil {
			t.Errorf("Find of a missing record of %v: found = %v, error %v; want false, <nil>", o, found, err)
		}
	}
}

func testOwnersAreDescribed(t *testing.T, j journal.Journal) {
	put(t, j, bob, morning, record("visit", "ab", `{"ä":1}`)) // 5 + 2 + 8 bytes
	put(t, j, ada, morning.Add(time.Hour), record("visit", "1", `{}`))
	put(t, j, ada, morning, record("visit", "1", `{}`), record("visit", "2", `{}`)) // an earlier time, a known record
	put(t, j, hall, morning)                                                        // does not create a log
	if got, err := j.Owners(ctx, journal.Room); err != nil || len(got) != 0 {
		t.Errorf("got rooms %v, %v; want none, <nil>", got, err)
	}
	put(t, j, hall, morning, record("data", "1", `{}`))
	put(t, j, hall, morning.Add(time.Minute)) // only marks the log as used
	ms := morning.Truncate(time.Millisecond)
	for kind, want := range map[string][]journal.Info{
		journal.Learner: {info(ada, ms.Add(time.Hour), 2, 16), info(bob, ms, 1, 15)},
		journal.Room:    {info(hall, ms.Add(time.Minute), 1, 7)},
	} {
		if got, err := j.Owners(ctx, kind); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Owners(%s) = %v, %v; want %v, <nil>", kind, got, err, want)
		}
	}
}

func testBatchesAreBounded(t *testing.T, j journal.Journal) {
	large := record("stage", "1", `"`+strings.Repeat("x", journal.MaxRecord-2)+`"`)
	put(t, j, hall, morning, large)
	for what, list := range map[string][]journal.Record{
		"record": {record("stage", "2", string(large.Data)+" ")},
		"id":     {record("stage", strings.Repeat("x", journal.MaxID), "{}")},
		"many":   make([]journal.Record, journal.MaxRecords+1),
		"bytes":  slices.Repeat([]journal.Record{large}, journal.MaxBatch/journal.MaxRecord+1),
	} {
		_, err := j.Append(ctx, journal.Batch{Owner: ada, At: morning, Records: list})
		if !errors.Is(err, journal.ErrTooLarge) {
			t.Errorf("%s: got error %v, want %v", what, err, journal.ErrTooLarge)
		}
	}
	wantTexts(t, j, ada)
	if got := read(t, j, hall, 0); len(got) != 1 || len(got[0].Data) != journal.MaxRecord {
		t.Errorf("read %d records after appending one of the maximum size, want 1 with all of its data", len(got))
	}
}

func testCompactedRecordsAreGone(t *testing.T, j journal.Journal) {
	places := put(t, j, hall, morning,
		record("vote", "1", `{"v":1}`), record("name", "1", `{}`), record("vote", "2", `{}`))
	must(t, j.KeepSnapshot(ctx, hall, snapshot("v1", places[2], "{}")))
	gone := []journal.Key{key("vote", "1"), key("vote", "9"), key("name", "1"), key("vote", "1")}
	must(t, j.Compact(ctx, hall, gone))
	wantTexts(t, j, hall, "vote 2 {}")
	if s, err := j.Snapshot(ctx, hall); err != nil || s.Version != "" {
		t.Errorf(`the snapshot that might contain them still exists: got %+v, %v; want no error, Version = ""`, s, err)
	}
	if got, err := j.Owners(ctx, journal.Room); err != nil || got[0].Records != 1 || got[0].Bytes != 7 {
		t.Errorf("got owner %+v, %v; want 1 record of 7 bytes, <nil>", got, err)
	}
	// A record that was deleted can be added again, after the existing records.
	if again := put(t, j, hall, morning, record("vote", "1", `{"v":2}`)); again[0] <= places[2] {
		t.Errorf("got sequence number %d after %d, want a larger one", again[0], places[2])
	}
	wantTexts(t, j, hall, "vote 2 {}", `vote 1 {"v":2}`)
	must(t, j.Compact(ctx, bob, []journal.Key{key("vote", "1")})) // the log does not exist
}

func testDroppedLogsAreGone(t *testing.T, j journal.Journal) {
	old := put(t, j, ada, morning, record("visit", "1", "{}"), record("visit", "2", "{}"))
	put(t, j, bob, morning, record("visit", "1", "{}"))
	stale := snapshot("v1", old[1], "{}")
	must(t, j.KeepSnapshot(ctx, ada, stale))
	must(t, j.Drop(ctx, ada))
	must(t, j.Drop(ctx, ada))
	must(t, j.KeepSnapshot(ctx, ada, stale)) // by a writer that did not know about the deletion
	wantTexts(t, j, ada)
	wantTexts(t, j, bob, "visit 1 {}")
	again := put(t, j, ada, morning, record("visit", "1", `{"new":1}`))
	must(t, j.KeepSnapshot(ctx, ada, stale))
	if s, err := j.Snapshot(ctx, ada); err != nil || s.Version != "" || again[0] <= old[1] {
		t.Errorf(
			"the new log has the snapshot %+v of the old one, %v, and numbers %v after %v; want no error, "+
				`s.Version = "", again[0] more than %d`,
			s, err, again, old, old[1],
		)
	}
}

func testSnapshotsAreReplaced(t *testing.T, j journal.Journal) {
	at := put(t, j, ada, morning, record("visit", "1", "{}"))[0]
	for _, want := range []journal.Snapshot{
		snapshot("v1", at, `{"a":1}`), snapshot("v2", at, ""), snapshot("v3", at, "x\x00y"),
	} {
		must(t, j.KeepSnapshot(ctx, ada, want))
		got, err := j.Snapshot(ctx, ada)
		if err != nil || got.Version != want.Version || got.Seq != want.Seq || !bytes.Equal(got.State, want.State) {
			t.Errorf("got snapshot %+v, %v; want %+v", got, err, want)
		}
	}
	if got, err := j.Snapshot(ctx, bob); err != nil || got.Version != "" {
		t.Errorf("Snapshot of a missing log = %+v, %v; want an empty version, <nil>", got, err)
	}
}

func testGivenUpAppendsKeepNothing(t *testing.T, j journal.Journal) {
	gone, cancel := context.WithCancel(ctx)
	cancel()
	one := []journal.Record{record("visit", "1", "{}")}
	_, err := j.Append(gone, journal.Batch{Owner: ada, At: morning, Records: one})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an append with a canceled context: got error %v, want %v", err, context.Canceled)
	}
	wantTexts(t, j, ada)
	put(t, j, ada, morning, record("visit", "1", "{}"), record("visit", "2", "{}"))
	failure := errors.New("no")
	n := 0
	err = j.Read(ctx, ada, 0, func(journal.Record) error { n++; return failure })
	if !errors.Is(err, failure) || n != 1 {
		t.Errorf("Read called the function %d times and returned %v; want 1, %v", n, err, failure)
	}
}

// testAppendsAtOnce checks many concurrent appends, some of which append the same records:
// each record is stored once, and a writer can read its confirmed record immediately.
func testAppendsAtOnce(t *testing.T, j journal.Journal) {
	const writers, each = 16, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			own := owner(journal.Learner, fmt.Sprint("learner ", w))
			for i := range each {
				id := fmt.Sprint(i)
				put(t, j, own, morning, record("answer", id, "{}"))
				if _, found, err := j.Find(ctx, own, key("answer", id)); err != nil || !found {
					t.Errorf("the log of %v lacks the confirmed record %s: error %v", own, id, err)
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
			t.Fatalf("got sequence number %d after %d, want a larger one", r.Seq, list[i].Seq)
		}
	}
	if got, err := j.Owners(ctx, journal.Learner); err != nil || len(got) != writers || got[3].Records != each {
		t.Errorf("got %d learners, %v; want %d with %d records each, <nil>", len(got), err, writers, each)
	}
}

// testRetire checks that a log that was last used before the given time is removed immediately,
// that a log that has been used since then is not removed, and that an owner who returns starts
// with an empty log.
func testRetire(t *testing.T, j journal.Journal) {
	noon := morning.Add(3 * time.Hour)
	var many []journal.Record
	for i := range 5 {
		many = append(many, record("visit", fmt.Sprint(i), "{}"))
	}
	seqs := put(t, j, ada, morning, many...)
	must(t, j.KeepSnapshot(ctx, ada, snapshot("v1", seqs[4], "x")))
	put(t, j, bob, noon, record("visit", "1", "{}"))
	put(t, j, hall, morning, record("vote", "1", "{}"))
	retire := func(o journal.Owner, want bool) {
		t.Helper()
		if done, err := j.Retire(ctx, o, noon); err != nil || done != want {
			t.Errorf("Retire(%v) = %v, %v; want %v, <nil>", o, done, err, want)
		}
	}
	retire(bob, false)
	retire(ada, true)
	retire(ada, false)
	wantTexts(t, j, ada)
	if s, err := j.Snapshot(ctx, ada); err != nil || s.Version != "" {
		t.Errorf(`its snapshot is %+v, %v; want no error, Version = ""`, s, err)
	}
	if list, err := j.Owners(ctx, journal.Learner); err != nil || len(list) != 1 || list[0].Owner != bob {
		t.Errorf("Owners(Learner) = %+v, %v; want only %+v, <nil>", list, err, bob)
	}
	put(t, j, ada, noon, record("visit", "again", "{}"))
	must(t, j.Sweep(ctx))
	must(t, j.Sweep(ctx))
	wantTexts(t, j, ada, "visit again {}")
	wantTexts(t, j, bob, "visit 1 {}")
	wantTexts(t, j, hall, "vote 1 {}")
}

// testSetAside checks that records that are set aside no longer belong to the log, which continues
// without them. Even if the whole log was set aside, they are deleted with the log.
func testSetAside(t *testing.T, j journal.Journal) {
	seqs := put(
		t, j, ada, morning, record("visit", "1", "{}"), record("visit", "2", "{}"), record("visit", "3", "{}"),
	)
	put(t, j, bob, morning, record("visit", "1", "{}"))
	must(t, j.KeepSnapshot(ctx, ada, snapshot("1", seqs[2], "{}")))
	must(t, j.SetAside(ctx, ada, morning.Add(time.Hour), seqs[1]))
	if got := ids(t, j, ada); !slices.Equal(got, []string{"1", "3"}) {
		t.Errorf("the log has ids %v, want %v", got, []string{"1", "3"})
	}
	if s, err := j.Snapshot(ctx, ada); err != nil || s.Version != "" {
		t.Errorf(`the snapshot, which contains the record, still exists: got %v, want no error, s.Version = ""`, err)
	}
	aside, err := j.Aside(ctx, ada)
	hour := morning.Add(time.Hour).Truncate(time.Millisecond)
	if err != nil || len(aside) != 1 || aside[0].Records != 1 || aside[0].Used != hour {
		t.Errorf(
			"the data set aside is %+v, %v; want no error, 1 element, aside[0].Records = 1, aside[0].Used = %+v",
			aside, err,
			hour,
		)
	}
	put(t, j, ada, morning, record("visit", "2", "{}"), record("visit", "4", "{}"))
	if got := ids(t, j, ada); !slices.Equal(got, []string{"1", "3", "2", "4"}) {
		t.Errorf("after more appends, the log has ids %v, want %v", got, []string{"1", "3", "2", "4"})
	}
	must(t, j.SetAside(ctx, ada, morning.Add(2*time.Hour)))
	put(t, j, ada, morning, record("visit", "5", "{}"))
	aside, err = j.Aside(ctx, ada)
	got := ids(t, j, ada)
	if err != nil || !slices.Equal(got, []string{"5"}) || len(aside) != 2 || aside[1].Records != 4 {
		t.Errorf(
			"after setting all records aside: got ids %v, Aside = %+v, %v; "+
				"want [5], 2 elements, the second with 4 records, <nil>",
			got, aside, err,
		)
	}
	if list, err := j.Owners(ctx, store.SetAsideKind); err != nil || len(list) == 0 {
		t.Errorf("Owners(SetAsideKind) = %+v, %v; want at least one element, <nil>", list, err)
	} else if kind, name := store.SetAsideOf(list[len(list)-1].Name); kind != ada.Kind || name != ada.Name {
		t.Errorf("log set aside %q belongs to %s %s, want %s %s",
			list[len(list)-1].Name, kind, name, ada.Kind, ada.Name)
	}
	must(t, j.Drop(ctx, ada))
	if aside, err := j.Aside(ctx, ada); err != nil || len(aside) != 0 {
		t.Errorf("after Drop, Aside = %+v, %v; want none, <nil>", aside, err)
	}
	if list, err := j.Owners(ctx, store.SetAsideKind); err != nil || len(list) != 0 {
		t.Errorf("after Drop, Owners(SetAsideKind) = %+v, %v; want none, <nil>", list, err)
	}
	if got := ids(t, j, bob); !slices.Equal(got, []string{"1"}) {
		t.Errorf("the other owner's log has ids %v, want [1]", got)
	}
}
