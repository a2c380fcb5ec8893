package progress

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

// recordsOf returns the records of a learner's log.
func recordsOf(t rapid.TB, s *Store, name string) (list []journal.Record) {
	t.Helper()
	if err := s.use(ctx, name, func(l *learner) error {
		return l.Read(ctx, func(r journal.Record) error {
			list = append(list, r)
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// folded folds records and returns the resulting state, without the parts that describe the log.
func folded(list []journal.Record) *state {
	s := folding.Begin()
	for _, r := range list {
		folding.Add(s, r)
	}
	folding.Settle(s)
	s.Waste = nil
	return s
}

// TestStatesFollowFromRecords: the records in the log determine the state. Their order does not
// matter, except that the last change of a setting counts. The state survives a snapshot.
func TestStatesFollowFromRecords(t *testing.T) {
	s, c := newStore(t)
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		runs++
		name := fmt.Sprint("ada-", runs)
		c.t = morning
		fill(r, s, c, name)
		list := recordsOf(r, s, name)
		straight := folded(list)
		text, err := json.Marshal(straight)
		if err != nil {
			r.Fatal(err)
		}
		again := folding.Begin()
		if err := json.Unmarshal(text, again); err != nil || !reflect.DeepEqual(again, straight) {
			r.Fatalf("a snapshot is restored as\n%+v\nwant\n%+v, %v", again, straight, err)
		}
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "order"), 0))
		order.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		shuffled := folded(list)
		straight.Settings, shuffled.Settings = nil, nil
		for section, v := range shuffled.Visits { // which of the records counts can differ
			v.ID = straight.Visits[section].ID
		}
		if !reflect.DeepEqual(shuffled, straight) {
			r.Fatalf("folded in another order, the state is\n%+v, want\n%+v", shuffled, straight)
		}
	})
}

// TestLogsStayShort: even after a large number of visits and setting changes, the log is not
// much longer than the state that it describes.
func TestLogsStayShort(t *testing.T) {
	logs, c := journal.NewMemory(), &clock{t: morning}
	s := New(logs, memory(t), course(), c.now)
	for i := range 3000 {
		c.add(time.Second)
		must(t, s.Visit(ctx, ada, []string{"loop#steps", "loop#draw"}[i%2]))
		must(t, s.set(ctx, ada, fmt.Sprint("name-", i%50), []string{"x", "y", ""}[i%3]))
	}
	if n := len(recordsOf(t, s, ada)); n > 600 {
		t.Errorf("after 6,000 operations, there are %d records, want at most 600", n)
	}
	again := New(logs, memory(t), course(), c.now)
	if a, b := export(t, s, ada), export(t, again, ada); a != b {
		t.Errorf("folded again, the state is\n%s\nwant, as before,\n%s", b, a)
	}
	must(t, s.use(ctx, ada, func(l *learner) error {
		if v := l.State().Visits["loop#draw"]; v.Times != 1500 || len(l.State().Settings) > 50 {
			t.Errorf(
				"visits %+v, %d settings; want Times = 1500, len(l.State().Settings) at most 50", v,
				len(l.State().Settings),
			)
		}
		return nil
	}))
}

// TestSupersededVisits: only the record that includes all visits to a section counts. A record that
// includes fewer visits is superseded, whether it was appended before or afterwards.
func TestSupersededVisits(t *testing.T) {
	const ms = time.Millisecond
	at := func(first, last time.Duration, times int) saved.Visit {
		return saved.Visit{
			Section: "loop#steps", First: morning.Add(first), Last: morning.Add(last), Times: times,
		}
	}
	s := folding.Begin()
	for _, v := range []struct {
		id string
		saved.Visit
	}{
		{"a", at(10*ms, 20*ms, 3)},
		{"less", at(12*ms, 15*ms, 1)},
		{"same", at(10*ms, 20*ms, 3)},
		{"b", at(5*ms, 30*ms, 4)},
	} {
		r, err := record(v.id, v.Visit)
		must(t, err)
		folding.Add(s, r)
	}
	var gone []string
	for _, k := range s.Waste {
		gone = append(gone, k.ID)
	}
	if want := []string{"less", "same", "a"}; !slices.Equal(gone, want) || s.Visits["loop#steps"].ID != "b" {
		t.Errorf("the superseded records are %v, want %v; the state has %+v", gone, want, s.Visits["loop#steps"])
	}
}

// TestDamagedRecord: an unreadable record does not affect other records.
func TestDamagedRecord(t *testing.T) {
	logs, c := journal.NewMemory(), &clock{t: morning}
	s := New(logs, memory(t), course(), c.now)
	must(t, s.Visit(ctx, ada, "loop#steps"))
	for _, r := range []journal.Record{
		{Type: saved.TypeAnswer, ID: "1", Data: []byte(`{"at":"never"}`)},
		{Type: saved.TypeReview, ID: "1", Data: []byte("{")},
		{Type: saved.TypeSetting, ID: "no number", Data: []byte(`{"name":"a","value":"b"}`)},
		{Type: "of a later program", ID: "1", Data: []byte("{}")},
	} {
		_, err := logs.Append(ctx, journal.Batch{
			Owner: journal.Owner{Kind: journal.Learner, Name: ada}, At: c.now(), Records: []journal.Record{r},
		})
		must(t, err)
	}
	again := New(logs, memory(t), course(), c.now)
	if a, b := export(t, s, ada), export(t, again, ada); a != b || mapOf(t, again, ada).All.Seen != 1 {
		t.Errorf("with damaged records, the export is\n%s\nwas\n%s\nwant a = %s, mapOf(t, again, ada).All.Seen = 1",
			b, a, b)
	}
	_, err := again.Import(ctx, ada, []byte(example))
	must(t, err)
}

// TestLossIsReported: a learner is notified of their own unreadable records, and nobody else is.
// Intact records still count.
func TestLossIsReported(t *testing.T) {
	db, err := store.Open("", nil)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	logs, c := journal.NewSQLite(db), &clock{t: time.Now()}
	s := New(logs, db, course(), c.now)
	must(t, s.Visit(ctx, ada, "loop#steps"))
	must(t, s.Visit(ctx, "bob", "loop#steps"))
	for i, data := range []string{
		`{"section":"loop#draw","first":"0001-01-01T00:00:00.000Z","last":"9999-01-01T00:00:00.000Z","times":1}`,
		`{"section":"loop#draw","first":"2026-01-01T00:00:00.000Z","last":"2026-01-01T00:00:00.000Z","times":-9}`,
		`{"section":"loop#draw","first":"2026-01-01T00:00:00.000Z","last":"2026-01-01T00:00:00.000Z","times":1e300}`,
		`{"section":"","first":"2026-01-01T00:00:00.000Z","last":"2026-01-01T00:00:00.000Z","times":1}`, "NaN", "",
	} {
		_, err := logs.Append(ctx, journal.Batch{
			Owner: journal.Owner{Kind: journal.Learner, Name: ada}, At: c.now(),
			Records: []journal.Record{{Type: saved.TypeVisit, ID: fmt.Sprint(i), Data: []byte(data)}},
		})
		must(t, err)
	}
	s = New(logs, db, course(), c.now)
	if seen := mapOf(t, s, ada).All.Seen; seen != 1 {
		t.Errorf("%d sections count, want 1", seen)
	}
	for range 2 {
		list, err := s.Notices(ctx, ada)
		if err != nil || len(list) != 1 || !strings.Contains(list[0].Text, "6 entries of your progress") {
			t.Errorf("got notices %v, %v; want one about 6 entries", list, err)
		}
	}
	if list, err := s.Notices(ctx, "bob"); err != nil || len(list) != 0 {
		t.Errorf("another learner gets notices %v, %v; want none", list, err)
	}
	c.add((noticeDays + 1) * 24 * time.Hour)
	if list, err := s.Notices(ctx, ada); err != nil || len(list) != 0 {
		t.Errorf("a month later, the notices are %v, %v; want 0 elements, <nil>", list, err)
	}
}
