package journal

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Fold defines how the records of a log are converted to a state. A state must survive being
// encoded as JSON and decoded again.
type Fold[S any] struct {
	// Version identifies the format of S and the rules of Add. It must change when either of
	// them changes, so that earlier snapshots are ignored.
	Version string
	// Begin returns the state of an empty log.
	Begin func() *S
	// Add applies a record to a state. The result must depend only on the state and the record. If
	// the record is unknown or invalid, Add leaves the state unchanged and returns false. The
	// record is then set aside.
	Add func(*S, Record) bool
	// Settle is called after one or more calls to Add, before the state is used. It can be nil.
	Settle func(*S)
	// Waste returns the state's list of records that later ones have superseded. It can be
	// nil.
	Waste func(*S) *[]Key
}

// Folded is a state and the position in the log that it corresponds to.
type Folded[S any] struct {
	State *S
	Seq   int64 // sequence number of the last record in State
	Since int   // number of records in State that are not in the snapshot

	// Unreadable lists the sequence numbers of the records that Load could not read.
	Unreadable []int64
}

// mostPanics is the maximum number of records that Load skips because the fold panics on
// them.
const mostPanics = 16

// Load folds a log, starting from its snapshot if that is intact and has the fold's version.
// Load never panics because of a bad record: it skips records that cannot be added, and
// returns [ErrDamaged] if the log still cannot be folded.
func Load[S any](ctx context.Context, j Journal, o Owner, fold Fold[S]) (f Folded[S], err error) {
	kept, err := j.Snapshot(ctx, o)
	if err != nil {
		return Folded[S]{State: fold.Begin()}, err
	}
	var left []int64 // sequence numbers of records on which the fold panics
	for range mostPanics {
		f, at, err := fold.read(ctx, j, o, kept, left)
		if at == 0 {
			return f, err
		}
		left = append(left, at)
	}
	return f, fmt.Errorf("%w: too many unreadable records", ErrDamaged)
}

// read folds a log, starting from a snapshot and omitting the records in left. If the fold panics
// on another record, read returns that record's number.
func (fold Fold[S]) read(
	ctx context.Context, j Journal, o Owner, kept Snapshot, left []int64,
) (f Folded[S], at int64, err error) {
	f.State = fold.Begin()
	if kept.Version == fold.sealed(o, kept) && json.Unmarshal(kept.State, f.State) == nil {
		f.Seq = kept.Seq
	} else {
		f.State = fold.Begin() // discard a snapshot that was only partly decoded
	}
	err = j.Read(ctx, o, f.Seq, func(r Record) (err error) {
		at = r.Seq
		defer wall(&err)
		if slices.Contains(left, r.Seq) || !f.add(fold, r) {
			f.Unreadable = append(f.Unreadable, r.Seq)
		}
		at = 0
		return nil
	})
	if err == nil {
		err = fold.trySettle(f.State)
	}
	return f, at, err
}

// wall, when deferred, converts a panic caused by the contents of a log to an [ErrDamaged].
func wall(err *error) {
	if x := recover(); x != nil {
		*err = fmt.Errorf("%w (%v)", ErrDamaged, x)
	}
}

func (fold Fold[S]) trySettle(s *S) (err error) {
	defer wall(&err)
	fold.settle(s)
	return nil
}

// sealed returns the version under which a snapshot of a log is stored: the fold's version and a
// hash. The hash detects a damaged snapshot, which must not be used in place of an intact log.
func (fold Fold[S]) sealed(o Owner, s Snapshot) string {
	h := sha256.New()
	for _, part := range []string{fold.Version, o.Kind, o.Name, strconv.FormatInt(s.Seq, 10), string(s.State)} {
		fmt.Fprintf(h, "%d:%s,", len(part), part)
	}
	return fold.Version + " " + hex.EncodeToString(h.Sum(nil))
}

// add applies a record and reports whether it could be read.
func (f *Folded[S]) add(fold Fold[S], r Record) bool {
	read := fold.Add(f.State, r)
	f.Seq = r.Seq
	f.Since++
	return read
}

func (fold Fold[S]) settle(s *S) {
	if fold.Settle != nil {
		fold.Settle(s)
	}
}

// Append appends a batch and applies its new records to the state.
func (f *Folded[S]) Append(ctx context.Context, j Journal, fold Fold[S], b Batch) ([]int64, error) {
	seqs, err := j.Append(ctx, b)
	if err != nil {
		return nil, err
	}
	for i, r := range b.Records {
		if r.Seq = seqs[i]; r.Seq > 0 {
			f.add(fold, r)
		}
	}
	fold.settle(f.State)
	return seqs, nil
}

// Keep stores the state as the log's snapshot.
func (f *Folded[S]) Keep(ctx context.Context, j Journal, o Owner, fold Fold[S]) error {
	state, err := json.Marshal(f.State)
	if err == nil {
		kept := Snapshot{Seq: f.Seq, State: state}
		kept.Version = fold.sealed(o, kept)
		err = j.KeepSnapshot(ctx, o, kept)
	}
	if err == nil {
		f.Since = 0
	}
	return err
}

// Compact deletes superseded records of the log, oldest first and up to a limit, and stores
// the state as a snapshot. After an error, the state must be loaded again.
func (f *Folded[S]) Compact(ctx context.Context, j Journal, o Owner, fold Fold[S]) error {
	waste := fold.Waste(f.State)
	n := min(len(*waste), compactMost)
	if err := j.Compact(ctx, o, (*waste)[:n]); err != nil {
		return err
	}
	*waste = slices.Clone((*waste)[n:])
	return f.Keep(ctx, j, o, fold)
}

// wasteful reports whether a log is worth compacting.
func (f *Folded[S]) wasteful(fold Fold[S]) bool {
	return fold.Waste != nil && len(*fold.Waste(f.State)) >= compactEvery
}

// Limits on the states that [Folds] keeps in memory: the number of owners, and the size of their
// logs in bytes. A log is larger than its state.
const (
	mostActive  = 1024
	activeBytes = 32 << 20
)

// snapshotEvery is the number of records after which a new snapshot is stored. Folding fewer
// records takes less than a millisecond.
const snapshotEvery = 256

// compactEvery is the number of superseded records at which a log is compacted. compactMost is the
// maximum number of records deleted in one transaction. It is low enough that other callers do not
// have to wait long.
const (
	compactEvery = 256
	compactMost  = groupRecords
)

// Folds keeps the states of the active owners of one kind in memory. Its methods can be
// called from any goroutine.
type Folds[S any] struct {
	logs Journal
	kind string
	fold Fold[S]

	mu     sync.Mutex
	active map[string]*list.Element // elements are *Active[S]; by name
	order  *list.List               // most recently used first
	bytes  int64                    // of all logs in active
}

// NewFolds returns the states of all owners of a kind. Nothing else may append to their
// logs, unless the journal is [Shared].
func NewFolds[S any](logs Journal, kind string, fold Fold[S]) *Folds[S] {
	return &Folds[S]{logs: logs, kind: kind, fold: fold, active: map[string]*list.Element{}, order: list.New()}
}

// Active is an active owner. It is valid only during the call to [Folds.Use].
type Active[S any] struct {
	folds  *Folds[S]
	owner  Owner
	folded Folded[S]
	loaded bool // folded is the state of the log or, if the journal is Shared, an earlier state
	mark   Mark // the mark of a Shared log when folded was read

	turn  chan struct{} // a lock, as a channel of capacity 1 so that waiting can be canceled
	users int           // number of current and waiting users; guarded by folds.mu, like size
	size  int64         // approximate bytes of the folded log
}

// Use calls f with exclusive access to the state of an owner. f must not retain the state.
func (fs *Folds[S]) Use(ctx context.Context, name string, f func(*Active[S]) error) error {
	a := fs.acquire(name)
	defer fs.release(a)
	if err := a.wait(ctx); err != nil {
		return err
	}
	defer func() { <-a.turn }()
	if err := a.load(ctx); err != nil {
		return err
	}
	return f(a)
}

// wait waits until no other caller is using the owner.
func (a *Active[S]) wait(ctx context.Context) error {
	select {
	case a.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case a.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// load reads the log unless it has already been loaded, and sets aside unreadable records. If the
// log cannot be folded, load sets all of it aside, and the owner starts with an empty log.
func (a *Active[S]) load(ctx context.Context) error {
	if err := a.follow(ctx); err != nil {
		return err
	}
	if a.loaded {
		return nil
	}
	fs := a.folds
	folded, err := Load(ctx, fs.logs, a.owner, fs.fold)
	if errors.Is(err, ErrDamaged) {
		folded, err = Folded[S]{State: fs.fold.Begin()}, fs.logs.SetAside(ctx, a.owner, time.Now())
	} else if err == nil && len(folded.Unreadable) > 0 {
		_ = fs.logs.SetAside(ctx, a.owner, time.Now(), folded.Unreadable...) // best effort: they are ignored anyway
	}
	if err != nil {
		return err
	}
	a.folded, a.loaded = folded, true
	fs.measure(a)
	return nil
}

// Aside describes the data that was set aside from the owner's log.
func (a *Active[S]) Aside(ctx context.Context) ([]Info, error) {
	return a.folds.logs.Aside(ctx, a.owner)
}

func (fs *Folds[S]) acquire(name string) *Active[S] {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	e := fs.active[name]
	if e == nil {
		e = fs.order.PushFront(&Active[S]{folds: fs, owner: Owner{fs.kind, name}, turn: make(chan struct{}, 1)})
		fs.active[name] = e
	}
	fs.order.MoveToFront(e)
	a := e.Value.(*Active[S])
	a.users++
	return a
}

// Retire removes the log of an owner who was last active before the given time, and reports whether
// it did. Afterward, the state is the same as for an empty log. If ok is not nil, Retire removes
// the log only if ok returns true for the state.
func (fs *Folds[S]) Retire(ctx context.Context, name string, before time.Time, ok func(*S) bool) (bool, error) {
	a := fs.acquire(name)
	defer fs.release(a)
	if err := a.wait(ctx); err != nil {
		return false, err
	}
	defer func() { <-a.turn }()
	if ok != nil {
		if err := a.load(ctx); err != nil {
			return false, err
		}
	}
	if ok != nil && !ok(a.folded.State) {
		return false, nil
	}
	done, err := fs.logs.Retire(ctx, a.owner, before)
	if done || err != nil {
		a.loaded = false
		a.grow(-a.size)
	}
	return done, err
}

// release ends a use of a state, and evicts the least recently used states if there are too
// many.
func (fs *Folds[S]) release(a *Active[S]) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	a.users--
	if a.users == 0 && !a.loaded { // there is no state to keep
		fs.order.Remove(fs.active[a.owner.Name])
		delete(fs.active, a.owner.Name)
		fs.bytes -= a.size
		return
	}
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

// measure sets the size of a loaded state.
func (fs *Folds[S]) measure(a *Active[S]) {
	state, err := json.Marshal(a.folded.State)
	if err != nil {
		return // storing the snapshot will fail and report it
	}
	a.grow(int64(len(state)) - a.size)
}

func (a *Active[S]) grow(by int64) {
	a.folds.mu.Lock()
	defer a.folds.mu.Unlock()
	a.size += by
	a.folds.bytes += by
}

// Empty reports whether the log has no records.
func (a *Active[S]) Empty() bool { return a.folded.Seq == 0 }

// State returns the owner's state. Only [Active.Append] changes it.
func (a *Active[S]) State() *S { return a.folded.State }

// Append appends records to the owner's log and applies the new ones to the state.
func (a *Active[S]) Append(ctx context.Context, at time.Time, records ...Record) ([]int64, error) {
	seqs, err := a.append(ctx, Batch{a.owner, at, records})
	if err != nil {
		a.loaded = false // the outcome is unknown: reload the log
		return nil, err
	}
	if !a.loaded {
		return seqs, nil
	}
	// The records have been stored. The rest only saves time and space, and is retried later
	// if it fails.
	if a.folded.wasteful(a.folds.fold) {
		a.loaded = a.folded.Compact(ctx, a.logs(), a.owner, a.folds.fold) == nil
	} else if a.folded.Since >= snapshotEvery {
		_ = a.folded.Keep(ctx, a.logs(), a.owner, a.folds.fold)
	}
	return seqs, nil
}

// Compact deletes all superseded records of the log now, for data that must not be kept until the log is
// compacted anyway. After an error, it can be called again.
func (a *Active[S]) Compact(ctx context.Context) error {
	if err := a.load(ctx); err != nil {
		return err
	}
	fold := a.folds.fold
	for fold.Waste != nil && len(*fold.Waste(a.folded.State)) > 0 {
		if err := a.folded.Compact(ctx, a.logs(), a.owner, fold); err != nil {
			a.loaded = false
			return err
		}
	}
	return nil
}

// Find returns the record with a key.
func (a *Active[S]) Find(ctx context.Context, k Key) (Record, bool, error) {
	return a.folds.logs.Find(ctx, a.owner, k)
}

// Read calls f for all records of the owner.
func (a *Active[S]) Read(ctx context.Context, f func(Record) error) error {
	return a.folds.logs.Read(ctx, a.owner, 0, f)
}

// Drop deletes the log. Afterward, the state is the same as for an empty log.
func (a *Active[S]) Drop(ctx context.Context) error {
	a.loaded = false
	if err := a.folds.logs.Drop(ctx, a.owner); err != nil {
		return err
	}
	a.folded, a.loaded = Folded[S]{State: a.folds.fold.Begin()}, true
	a.grow(-a.size)
	return nil
}
