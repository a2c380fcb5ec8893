package journal

import (
	"container/list"
	"context"
	"encoding/json"
	"sync"
	"time"
)

// Fold says what a log means: the state that its records lead to. S must
// survive encoding as JSON and back.
type Fold[S any] struct {
	// Version names the form of S and the rules that lead to it. Whoever changes
	// either changes it, so that snapshots of before are ignored.
	Version string
	// Begin is the state of an empty log.
	Begin func() *S
	// Add changes a state by a record. What it does depends on the two alone. A
	// record that it does not know, or cannot read, changes nothing.
	Add func(*S, Record)
	// Settle is called after any number of Adds, before somebody looks at the
	// state. It may be nil.
	Settle func(*S)
	// Waste is where a state lists the records that it does not depend on any
	// more, since later ones have replaced them. It may be nil.
	Waste func(*S) *[]Key
}

// Folded is a state and how far in the log it is.
type Folded[S any] struct {
	State *S
	Seq   int64 // of the last record in State
	Since int   // records in State that its snapshot lacks
}

// Load folds a log, beginning with its snapshot where that has the fold's version.
func Load[S any](ctx context.Context, j Journal, o Owner, fold Fold[S]) (Folded[S], error) {
	f := Folded[S]{State: fold.Begin()}
	kept, err := j.Snapshot(ctx, o)
	if err != nil {
		return f, err
	}
	if kept.Version == fold.Version && json.Unmarshal(kept.State, f.State) == nil {
		f.Seq = kept.Seq
	} else {
		f.State = fold.Begin() // without half of a damaged snapshot
	}
	err = j.Read(ctx, o, f.Seq, func(r Record) error {
		f.add(fold, r)
		return nil
	})
	fold.settle(f.State)
	return f, err
}

func (f *Folded[S]) add(fold Fold[S], r Record) {
	fold.Add(f.State, r)
	f.Seq = r.Seq
	f.Since++
}

func (fold Fold[S]) settle(s *S) {
	if fold.Settle != nil {
		fold.Settle(s)
	}
}

// Append appends a batch of one owner and adds to the state what is new of it.
func (f *Folded[S]) Append(ctx context.Context, j Journal, fold Fold[S], b Batch) ([]int64, error) {
	places, err := j.Append(ctx, b)
	if err != nil {
		return nil, err
	}
	for i, r := range b.Records {
		if r.Seq = places[i]; r.Seq > 0 {
			f.add(fold, r)
		}
	}
	fold.settle(f.State)
	return places, nil
}

// Keep keeps the state as the log's snapshot.
func (f *Folded[S]) Keep(ctx context.Context, j Journal, o Owner, fold Fold[S]) error {
	state, err := json.Marshal(f.State)
	if err == nil {
		err = j.KeepSnapshot(ctx, o, Snapshot{fold.Version, f.Seq, state})
	}
	if err == nil {
		f.Since = 0
	}
	return err
}

// Compact takes the records out of the log that the state does not depend on,
// and keeps the state as a snapshot of what is left. After an error the state
// must be loaded again.
func (f *Folded[S]) Compact(ctx context.Context, j Journal, o Owner, fold Fold[S]) error {
	waste := fold.Waste(f.State)
	if err := j.Compact(ctx, o, *waste); err != nil {
		return err
	}
	*waste = nil
	return f.Keep(ctx, j, o, fold)
}

// wasteful tells whether a log is worth compacting.
func (f *Folded[S]) wasteful(fold Fold[S]) bool {
	return fold.Waste != nil && len(*fold.Waste(f.State)) >= compactEvery
}

// How many states [Folds] keeps: so many owners, and so many bytes of logs,
// which their states are smaller than.
const (
	mostActive  = 1024
	activeBytes = 32 << 20
)

// snapshotEvery is after how many records a state is kept again: fewer are
// folded in less than a millisecond.
const snapshotEvery = 256

// compactEvery is how many worthless records a log may have.
const compactEvery = 256

// Folds keeps the states of the active owners of one kind. Its methods may be
// called from any goroutine.
type Folds[S any] struct {
	logs Journal
	kind string
	fold Fold[S]

	mu     sync.Mutex
	active map[string]*list.Element // of *Active[S], by name
	order  *list.List               // the one used last in front
	bytes  int64                    // of all logs in active
}

// NewFolds returns the states of the owners of a kind. Nothing else may append
// to their logs.
func NewFolds[S any](logs Journal, kind string, fold Fold[S]) *Folds[S] {
	return &Folds[S]{logs: logs, kind: kind, fold: fold, active: map[string]*list.Element{}, order: list.New()}
}

// Active is an owner who is active. It belongs to whoever [Folds.Use] gave it to.
type Active[S any] struct {
	folds  *Folds[S]
	owner  Owner
	folded Folded[S]
	here   bool // folded is what the log says

	mu    sync.Mutex
	users int   // who use it or wait for it; guarded by folds.mu, as is size
	size  int64 // bytes of the log that went into folded, about
}

// Use calls f with the state of an owner, which nobody else uses at the same
// time. f must not keep the state.
func (fs *Folds[S]) Use(ctx context.Context, name string, f func(*Active[S]) error) error {
	a := fs.take(name)
	defer fs.leave(a)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.here {
		folded, err := Load(ctx, fs.logs, a.owner, fs.fold)
		if err != nil {
			return err
		}
		a.folded, a.here = folded, true
		fs.weigh(a)
	}
	return f(a)
}

func (fs *Folds[S]) take(name string) *Active[S] {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	e := fs.active[name]
	if e == nil {
		e = fs.order.PushFront(&Active[S]{folds: fs, owner: Owner{fs.kind, name}})
		fs.active[name] = e
	}
	fs.order.MoveToFront(e)
	a := e.Value.(*Active[S])
	a.users++
	return a
}

// leave ends a use, and forgets the states used longest ago where there are too many.
func (fs *Folds[S]) leave(a *Active[S]) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	a.users--
	for e := fs.order.Back(); e != nil && (fs.order.Len() > mostActive || fs.bytes > activeBytes); {
		old := e
		e = e.Prev()
		if x := old.Value.(*Active[S]); x.users == 0 {
			fs.order.Remove(old)
			delete(fs.active, x.owner.Name)
			fs.bytes -= x.size
		}
	}
}

// weigh notes how large a state is that was read from its log.
func (fs *Folds[S]) weigh(a *Active[S]) {
	state, err := json.Marshal(a.folded.State)
	if err != nil {
		return // it is found out when the state is to be kept
	}
	a.grow(int64(len(state)) - a.size)
}

func (a *Active[S]) grow(by int64) {
	a.folds.mu.Lock()
	defer a.folds.mu.Unlock()
	a.size += by
	a.folds.bytes += by
}

// State is the owner's state. Only [Active.Append] changes it.
func (a *Active[S]) State() *S { return a.folded.State }

// Append appends records to the owner's log and adds what is new to the state.
func (a *Active[S]) Append(ctx context.Context, at time.Time, records ...Record) ([]int64, error) {
	places, err := a.folded.Append(ctx, a.folds.logs, a.folds.fold, Batch{a.owner, at, records})
	if err != nil {
		a.here = false // whatever happened, the log knows
		return nil, err
	}
	var more int64
	for i, r := range records {
		if places[i] > 0 {
			more += r.size()
		}
	}
	a.grow(more)
	// The records are kept: what follows only saves time and space, and is made
	// up for later where it fails.
	if a.folded.wasteful(a.folds.fold) {
		a.here = a.folded.Compact(ctx, a.folds.logs, a.owner, a.folds.fold) == nil
	} else if a.folded.Since >= snapshotEvery {
		_ = a.folded.Keep(ctx, a.folds.logs, a.owner, a.folds.fold)
	}
	return places, nil
}

// Find returns the record with a key.
func (a *Active[S]) Find(ctx context.Context, k Key) (Record, bool, error) {
	return a.folds.logs.Find(ctx, a.owner, k)
}

// Read calls f for all records of the owner.
func (a *Active[S]) Read(ctx context.Context, f func(Record) error) error {
	return a.folds.logs.Read(ctx, a.owner, 0, f)
}

// Drop deletes the log. The state is that of an empty one.
func (a *Active[S]) Drop(ctx context.Context) error {
	a.here = false
	if err := a.folds.logs.Drop(ctx, a.owner); err != nil {
		return err
	}
	a.folded, a.here = Folded[S]{State: a.folds.fold.Begin()}, true
	a.grow(-a.size)
	return nil
}
