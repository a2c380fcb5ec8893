package stream

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// seen is a state for tests: the ids of a log's records, and the keys of the superseded
// records.
type seen struct {
	IDs  []string
	Gone []journal.Key
}

// seeing folds a log to the ids of its records. Records of the type "passing" can be
// compacted immediately.
var seeing = journal.Fold[seen]{
	Version: "1",
	Begin:   func() *seen { return &seen{} },
	Add: func(s *seen, r journal.Record) bool {
		s.IDs = append(s.IDs, r.ID)
		if r.Type == "passing" {
			s.Gone = append(s.Gone, r.Key())
		}
		return true
	},
	Waste: func(s *seen) *[]journal.Key { return &s.Gone },
}

// foldsOf returns the states of learners on one server.
func foldsOf(j *Journal) *journal.Folds[seen] { return journal.NewFolds(j, journal.Learner, seeing) }

// stateOf returns ada's state on one server.
func stateOf(t *testing.T, fs *journal.Folds[seen]) (s seen) {
	t.Helper()
	must(t, fs.Use(ctx, ada.Name, func(a *journal.Active[seen]) error {
		s = seen{slices.Clone(a.State().IDs), slices.Clone(a.State().Gone)}
		return nil
	}))
	return s
}

func add(t *testing.T, fs *journal.Folds[seen], kind string, ids ...string) {
	t.Helper()
	var list []journal.Record
	for _, id := range ids {
		list = append(list, record(kind, id, "{}"))
	}
	must(t, fs.Use(ctx, ada.Name, func(a *journal.Active[seen]) error {
		if _, err := a.Append(ctx, morning, list...); err != nil {
			return err
		}
		for _, id := range ids {
			if kind == "stays" && !slices.Contains(a.State().IDs, id) {
				t.Errorf("the state does not contain %s, which was just appended", id)
			}
		}
		return nil
	}))
}

// TestServersShareLearnerState: if a learner's requests reach several servers, each server
// sees the records that were saved through the others, and no longer sees the records that
// were deleted through them.
func TestServersShareLearnerState(t *testing.T) {
	nc := dial(t, streamtest.Node(t, t.TempDir()))
	first := open(t, nc, Config{InMemory: true})
	a, b := foldsOf(first), foldsOf(open(t, nc, first.cfg))
	want := func(fs *journal.Folds[seen], ids ...string) {
		t.Helper()
		if got := stateOf(t, fs).IDs; !slices.Equal(got, ids) {
			t.Errorf("the state is %q, want %q", got, ids)
		}
	}
	want(b)
	add(t, a, "stays", "1")
	want(b, "1")
	add(t, b, "stays", "2")
	add(t, a, "stays", "3")
	want(a, "1", "2", "3")
	want(b, "1", "2", "3")
	must(t, first.Compact(ctx, ada, []journal.Key{{Type: "stays", ID: "2"}}))
	want(b, "1", "3")
	must(t, a.Use(ctx, ada.Name, func(x *journal.Active[seen]) error { return x.Drop(ctx) }))
	want(b)
	add(t, b, "stays", "4")
	want(a, "4")
	// Another server appends a record after this one has read the log and before it appends
	// its own.
	must(t, a.Use(ctx, ada.Name, func(x *journal.Active[seen]) error {
		add(t, b, "stays", "5")
		_, err := x.Append(ctx, morning, record("stays", "6", "{}"))
		if got := x.State().IDs; !slices.Equal(got, []string{"4", "5", "6"}) {
			t.Errorf("after the server's own record, the state is %q, want %q", got, []string{"4", "5", "6"})
		}
		return err
	}))
	hasAll := func(s *seen) bool { return len(s.IDs) == 3 }
	if done, err := a.Retire(ctx, ada.Name, morning.AddDate(0, 0, 1), hasAll); !done {
		t.Errorf("a log that another server began was not retired: %v", err)
	}
	want(b)
}

// TestConcurrentCompaction: two servers concurrently append so many records to one log that
// each compacts it and stores snapshots. Both end up with the state of the log.
func TestConcurrentCompaction(t *testing.T) {
	nc := dial(t, streamtest.Node(t, t.TempDir()))
	first := open(t, nc, Config{InMemory: true})
	servers := []*journal.Folds[seen]{foldsOf(first), foldsOf(open(t, nc, first.cfg))}
	var wg sync.WaitGroup
	for n, fs := range servers {
		wg.Go(func() {
			for i := range 40 {
				var ids []string
				for k := range 10 {
					ids = append(ids, fmt.Sprint(n, "-", i, "-", k))
				}
				add(t, fs, []string{"stays", "passing"}[i%2], ids...)
			}
		})
	}
	wg.Wait()
	want := ids(t, first, ada)
	stays := slices.DeleteFunc(slices.Clone(want), func(id string) bool {
		var n, i, k int
		_, err := fmt.Sscanf(id, "%d-%d-%d", &n, &i, &k)
		return err != nil || i%2 == 1
	})
	if len(stays) != 2*20*10 {
		t.Errorf("%d permanent records are left, want 400", len(stays))
	}
	for _, fs := range append(servers, foldsOf(first)) {
		got := stateOf(t, fs)
		rest := slices.DeleteFunc(slices.Clone(got.IDs), func(id string) bool { return !slices.Contains(stays, id) })
		if !slices.Equal(rest, stays) {
			t.Errorf("a state has %d records, want the %d permanent ones", len(rest), len(stays))
		}
	}
}
