package journal

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// tally is a state for tests. It holds the newest value of each name.
type tally struct {
	Values  map[string]int `json:"values"`
	Records int            `json:"records"`
	Settled int            `json:"-"`
	Old     []Key          `json:"old,omitempty"`
	Newest  map[string]Key `json:"newest"`
}

// tallies folds records whose id is "name.number" and whose data is a value.
var tallies = Fold[tally]{
	Version: "1",
	Begin:   func() *tally { return &tally{Values: map[string]int{}, Newest: map[string]Key{}} },
	Add: func(s *tally, r Record) bool {
		if string(r.Data) == "panic" {
			panic("at a record")
		}
		var name string
		if _, err := fmt.Sscanf(r.ID, "%1s.", &name); err != nil {
			return false
		}
		value, err := strconv.Atoi(string(r.Data))
		if err != nil {
			return false
		}
		if old, known := s.Newest[name]; known {
			s.Old = append(s.Old, old)
		}
		s.Values[name], s.Newest[name] = value, r.Key()
		s.Records++
		s.Settled = 0
		return true
	},
	Settle: func(s *tally) { s.Settled = s.Records },
	Waste:  func(s *tally) *[]Key { return &s.Old },
}

// counted counts a journal's operations, and fails on request.
type counted struct {
	Journal
	mu        sync.Mutex
	reads     int // number of records that were read
	compacted int
	fail      error
}

func (c *counted) Read(ctx context.Context, o Owner, after int64, f func(Record) error) error {
	return c.Journal.Read(ctx, o, after, func(r Record) error {
		c.mu.Lock()
		c.reads++
		c.mu.Unlock()
		return f(r)
	})
}

func (c *counted) Append(ctx context.Context, b Batch) ([]int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail != nil {
		return nil, c.fail
	}
	return c.Journal.Append(ctx, b)
}

func (c *counted) Compact(ctx context.Context, o Owner, gone []Key) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compacted += len(gone)
	return c.Journal.Compact(ctx, o, gone)
}

func (c *counted) taken() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.reads
	c.reads = 0
	return n
}

// add appends the values a.1, a.2 and so on to ada's log, thirty-two at a time.
func add(t testing.TB, fs *Folds[tally], from, to int) {
	t.Helper()
	var list []Record
	for i := from; i <= to; i++ {
		list = append(list, record("set", fmt.Sprint("a.", i), fmt.Sprint(i)))
	}
	must(t, fs.Use(ctx, ada.Name, func(a *Active[tally]) error {
		for batch := range slices.Chunk(list, 32) {
			if _, err := a.Append(ctx, morning, batch...); err != nil {
				return err
			}
		}
		return nil
	}))
}

func stateOf(t testing.TB, fs *Folds[tally], name string) (s tally) {
	t.Helper()
	must(t, fs.Use(ctx, name, func(a *Active[tally]) error {
		s = *a.State()
		return nil
	}))
	return s
}

// TestFoldsBeginWithTheSnapshot: the state of an active owner stays in memory. After a
// restart, the log is folded starting from its snapshot, unless the snapshot has another
// version or is damaged.
func TestFoldsBeginWithTheSnapshot(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		c := &counted{Journal: j}
		plain := tallies
		plain.Waste = nil
		fs := NewFolds(c, Learner, plain)
		const n = snapshotEvery + 10
		add(t, fs, 1, n)
		if s := stateOf(t, fs, ada.Name); s.Values["a"] != n || s.Records != n || s.Settled != n || c.taken() != 0 {
			t.Errorf("the active state is %+v, want %d records and no reads", s, n)
		}
		again := func(fold Fold[tally], want int) {
			t.Helper()
			s := stateOf(t, NewFolds(c, Learner, fold), ada.Name)
			if got := c.taken(); got != want || s.Values["a"] != n || s.Records != n {
				t.Errorf("version %s read %d records, want %d: %+v", fold.Version, got, want, s)
			}
		}
		again(plain, 10)
		other := plain
		other.Version = "2"
		again(other, n)
		kept, err := j.Snapshot(ctx, ada)
		must(t, err)
		kept.State = append([]byte(`{"values":{"b":1},"records":7`), '!') // can be decoded in part
		must(t, j.KeepSnapshot(ctx, ada, kept))
		again(plain, n)
		if s := stateOf(t, NewFolds(c, Learner, plain), ada.Name); len(s.Values) != 1 {
			t.Errorf("%+v contains a part of a damaged snapshot, want len(Values) = 1", s)
		}
	})
}

// TestFoldsIgnoreDuplicates: duplicate and unreadable records do not change the state.
func TestFoldsIgnoreDuplicates(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		fs := NewFolds(j, Learner, tallies)
		add(t, fs, 1, 3)
		add(t, fs, 2, 3)
		must(t, fs.Use(ctx, ada.Name, func(a *Active[tally]) error {
			_, err := a.Append(ctx, morning, record("set", "a.9", "nine"), record("set", "", "1"))
			return err
		}))
		for _, fs := range []*Folds[tally]{fs, NewFolds(j, Learner, tallies)} {
			if s := stateOf(t, fs, ada.Name); s.Records != 3 || s.Values["a"] != 3 {
				t.Errorf("the state is %+v, want 3 records, a = 3", s)
			}
		}
	})
}

// TestWasteIsCompacted: a log whose records replace each other stays small and keeps its
// state.
func TestWasteIsCompacted(t *testing.T) {
	fixture.Long(t)
	conform(t, func(t *testing.T, j Journal) {
		c := &counted{Journal: j}
		fs := NewFolds(c, Learner, tallies)
		const n = 3*compactEvery + 5
		add(t, fs, 1, n)
		list, err := j.Owners(ctx, Learner)
		must(t, err)
		if c.compacted < 2*compactEvery || list[0].Records != n-c.compacted {
			t.Errorf(
				"%d records were compacted, %d are left; want at least %d, %d", c.compacted, list[0].Records,
				2*compactEvery, n-c.compacted,
			)
		}
		before := stateOf(t, fs, ada.Name)
		after := stateOf(t, NewFolds(j, Learner, tallies), ada.Name)
		if after.Settled = before.Settled; !reflect.DeepEqual(before, after) {
			t.Errorf("folded again, the state is %+v, want %+v", after, before)
		}
	})
}

// TestFailedAppendKeepsTheState: after a failed append, the state still matches the log.
func TestFailedAppendKeepsTheState(t *testing.T) {
	c := &counted{Journal: NewMemory()}
	fs := NewFolds(c, Learner, tallies)
	add(t, fs, 1, 2)
	c.fail = errors.New("the disk is full")
	err := fs.Use(ctx, ada.Name, func(a *Active[tally]) error {
		_, err := a.Append(ctx, morning, record("set", "a.3", "3"))
		return err
	})
	if !errors.Is(err, c.fail) {
		t.Errorf("the append returns %v, want %v", err, c.fail)
	}
	c.fail = nil
	if s := stateOf(t, fs, ada.Name); s.Values["a"] != 2 {
		t.Errorf("the state is %+v, want a = 2", s)
	}
	add(t, fs, 3, 3)
	must(t, fs.Use(ctx, ada.Name, func(a *Active[tally]) error { return a.Drop(ctx) }))
	if s := stateOf(t, fs, ada.Name); s.Records != 0 || len(s.Values) != 0 {
		t.Errorf("after the log was dropped, the state is %+v, want Records = 0, len(Values) = 0", s)
	}
}

// TestFoldsEvictLeastRecentlyUsed: the least recently used states are evicted, except for
// states in use.
func TestFoldsEvictLeastRecentlyUsed(t *testing.T) {
	fs := NewFolds(NewMemory(), Learner, tallies)
	err := fs.Use(ctx, "held", func(a *Active[tally]) error {
		for i := range mostActive + 50 {
			stateOf(t, fs, fmt.Sprint(i))
		}
		_, err := a.Append(ctx, morning, record("set", "a.1", "1"))
		return err
	})
	must(t, err)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	newest := fmt.Sprint(mostActive + 49)
	if len(fs.active) != mostActive || fs.order.Len() != mostActive ||
		fs.active["0"] != nil || fs.active[newest] == nil {
		t.Errorf(
			"got %d states, %d in order; want %d of each, the newest among them", len(fs.active), fs.order.Len(),
			mostActive,
		)
	}
	var sum int64
	for _, e := range fs.active {
		sum += e.Value.(*Active[tally]).size
	}
	if sum != fs.bytes {
		t.Errorf("counted %d bytes, want %d, the total of the states", fs.bytes, sum)
	}
}

// TestFoldsConcurrently: when many goroutines use the same states at the same time, no
// record is lost or counted twice.
func TestFoldsConcurrently(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		fs := NewFolds(j, Learner, tallies)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 25 {
					name := fmt.Sprint(i % 3)
					if err := fs.Use(ctx, name, func(a *Active[tally]) error {
						id := fmt.Sprintf("%s.%d", name, i+g%2*100)
						_, err := a.Append(ctx, morning, record("set", id, fmt.Sprint(i)))
						return err
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		sum := 0
		for name := range 3 {
			s, fresh := stateOf(t, fs, fmt.Sprint(name)), stateOf(t, NewFolds(j, Learner, tallies), fmt.Sprint(name))
			if !reflect.DeepEqual(s.Values, fresh.Values) || s.Records != fresh.Records {
				t.Errorf(
					"the active state is %+v, and the state of the log is %+v; want Values = %v, Records = %d",
					s, fresh, fresh.Values,
					fresh.Records,
				)
			}
			sum += s.Records
		}
		if sum != 50 { // 25 ids from the even goroutines, and 25 others from the odd ones
			t.Errorf("%d records count, want 50", sum)
		}
	})
}
