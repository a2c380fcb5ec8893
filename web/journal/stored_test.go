package journal

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"
)

// rowTable is a [Table] in memory that fails on request.
type rowTable struct {
	mu   sync.Mutex
	rows map[Owner]map[Key]Row
	fail error
}

func newTable() *rowTable { return &rowTable{rows: map[Owner]map[Key]Row{}} }

func (t *rowTable) Rows(context.Context) (list []Row, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, log := range t.rows {
		list = slices.AppendSeq(list, maps.Values(log))
	}
	return list, t.fail
}

func (t *rowTable) Put(_ context.Context, rows []Row) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fail != nil {
		return t.fail
	}
	for _, r := range rows {
		if t.rows[r.Owner] == nil {
			t.rows[r.Owner] = map[Key]Row{}
		}
		t.rows[r.Owner][r.Key()] = r
	}
	return nil
}

func (t *rowTable) Delete(_ context.Context, o Owner, gone []Key) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range gone {
		delete(t.rows[o], k)
	}
	return t.fail
}

func (t *rowTable) Drop(_ context.Context, o Owner) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.rows, o)
	return t.fail
}

// keptIn opens the logs in a table.
func keptIn(t testing.TB, table Table) *Stored {
	t.Helper()
	k, err := OpenStored(ctx, table)
	must(t, err)
	return k
}

// typed returns the keys of a log's records in order.
func typed(t *testing.T, j Journal, o Owner) (list []Key) {
	t.Helper()
	must(t, j.Read(ctx, o, 0, func(r Record) error { list = append(list, r.Key()); return nil }))
	return list
}

// TestKeptLogsComeBack: after a program has appended, compacted and dropped logs, the next
// program that opens the table has the same logs, in the same order.
func TestKeptLogsComeBack(t *testing.T) {
	t.Parallel()
	table := newTable()
	a, b := Owner{Learner, "a"}, Owner{Learner, "b"}
	k := keptIn(t, table)
	add := func(o Owner, ids ...string) {
		t.Helper()
		batch := Batch{Owner: o, At: time.UnixMilli(5000)}
		for _, id := range ids {
			batch.Records = append(batch.Records, Record{Type: "answer", ID: id, Data: []byte(`{"id":"` + id + `"}`)})
		}
		_, err := k.Append(ctx, batch)
		must(t, err)
	}
	add(a, "z", "m", "m")
	add(b, "gone")
	add(a, "c", "z", "b")
	must(t, k.Compact(ctx, a, []Key{{"answer", "m"}}))
	must(t, k.Drop(ctx, b))
	must(t, k.SetAside(ctx, a, time.UnixMilli(9000), 4)) // z, m, gone, then c

	again := keptIn(t, table)
	if got, want := typed(t, again, a), []Key{{"answer", "z"}, {"answer", "b"}}; !slices.Equal(got, want) {
		t.Errorf("the restored log is %v, want %v", got, want)
	}
	if got := typed(t, again, b); got != nil {
		t.Errorf("a dropped log was restored with %v, want nil", got)
	}
	infos, err := again.Owners(ctx, Learner)
	must(t, err)
	if len(infos) != 1 || infos[0].Used != moment(5000) {
		t.Errorf("the restored logs are %v, want the log of a, used at 5 s", infos)
	}
}

// TestKeptMergesTwoPrograms: two programs use one table, as when a new version takes over from an
// old one. Each appends a record of its own and a record that the other also appends. The shared
// record is stored once.
func TestKeptMergesTwoPrograms(t *testing.T) {
	t.Parallel()
	table := newTable()
	one, two := keptIn(t, table), keptIn(t, table)
	o := Owner{Learner, "a"}
	for i, k := range []*Stored{one, two} {
		_, err := k.Append(ctx, Batch{Owner: o, Records: []Record{
			{Type: "answer", ID: "both", Data: []byte("{}")},
			{Type: "answer", ID: []string{"first", "second"}[i], Data: []byte("{}")},
		}})
		must(t, err)
	}
	got := typed(t, keptIn(t, table), o)
	slices.SortFunc(got, func(a, b Key) int { return len(a.ID) - len(b.ID) })
	if want := []Key{{"answer", "both"}, {"answer", "first"}, {"answer", "second"}}; !slices.Equal(got, want) {
		t.Errorf("the merged log is %v, want %v", got, want)
	}
}

// TestKeptRefusesWhenStorageIsFull: if the table refuses records, they are not added to memory
// either. Otherwise, data would appear to be saved but be gone after a reload.
func TestKeptRefusesWhenStorageIsFull(t *testing.T) {
	t.Parallel()
	table := newTable()
	k := keptIn(t, table)
	table.fail = errors.New("no space")
	o := Owner{Learner, "a"}
	batch := Batch{Owner: o, Records: []Record{{Type: "answer", ID: "x", Data: []byte("{}")}}}
	if _, err := k.Append(ctx, batch); !errors.Is(err, table.fail) {
		t.Errorf("a full table: got error %v, want the table's error", err)
	}
	if got := typed(t, k, o); got != nil {
		t.Errorf("a refused record is in memory: got %v, want nil", got)
	}
	table.fail = nil
	seqs, err := k.Append(ctx, batch)
	if must(t, err); len(seqs) != 1 || seqs[0] == 0 {
		t.Errorf("after there is space again: got numbers %v, want the record added", seqs)
	}
}
