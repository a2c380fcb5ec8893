package journal

import "context"

// Shared is implemented by a [Journal] if several servers can append to its logs. [Folds] reads the
// new records of such a log before each use.
type Shared interface {
	// Mark returns the mark at the end of a log.
	Mark(ctx context.Context, o Owner) (Mark, error)

	// KeepSnapshotAt is like KeepSnapshot, but for a state that was read at a mark. It does
	// nothing if records have been deleted from the log since then, because the state might
	// contain them.
	KeepSnapshotAt(ctx context.Context, o Owner, s Snapshot, at Mark) error
}

// Mark is a position in a log. If Cut is the same in two marks, the log has only grown between
// them.
type Mark struct {
	// Cut changes when records are deleted from the log, and when a new log begins. It is 0
	// if there is no log.
	Cut int64
	// Last is the sequence number of the last record, or 0 if there is none.
	Last int64
}

// follow updates the state of an active owner with the records that other servers have
// added. If they have deleted records, or if there is an unreadable record, the whole log is
// loaded again.
func (a *Active[S]) follow(ctx context.Context) error {
	shared, others := a.folds.logs.(Shared)
	if !others {
		return nil
	}
	mark, err := shared.Mark(ctx, a.owner)
	if err != nil {
		return err
	}
	before := a.mark
	if a.mark = mark; !a.loaded {
		return nil
	}
	if a.loaded = mark.Cut == before.Cut; a.loaded && mark.Last > a.folded.Seq {
		a.loaded = a.readOn(ctx) == nil
	}
	return nil
}

// readOn reads the records that the state does not contain yet and adds them.
func (a *Active[S]) readOn(ctx context.Context) (err error) {
	defer wall(&err)
	fold, more := a.folds.fold, int64(0)
	err = a.folds.logs.Read(ctx, a.owner, a.folded.Seq, func(r Record) error {
		if !a.folded.add(fold, r) {
			return ErrDamaged
		}
		more += r.Size()
		return nil
	})
	a.grow(more)
	if err != nil {
		return err
	}
	fold.settle(a.folded.State)
	return nil
}

// append appends a batch and updates the state. If other servers also append to the log, records
// are added to the state in the order of the log.
func (a *Active[S]) append(ctx context.Context, b Batch) ([]int64, error) {
	fs := a.folds
	if _, others := fs.logs.(Shared); !others {
		seqs, err := a.folded.Append(ctx, fs.logs, fs.fold, b)
		var more int64
		for i, seq := range seqs {
			if seq > 0 {
				more += b.Records[i].Size()
			}
		}
		a.grow(more)
		return seqs, err
	}
	seqs, err := fs.logs.Append(ctx, b)
	if err == nil && a.load(ctx) != nil {
		a.loaded = false // the records are stored, and the next use reads them
	}
	return seqs, err
}

// logs returns the journal in which snapshots of the state are stored.
func (a *Active[S]) logs() Journal {
	if shared, others := a.folds.logs.(Shared); others {
		return marked{a.folds.logs, shared, a.mark}
	}
	return a.folds.logs
}

// marked is a journal for a state that was read at a mark.
type marked struct {
	Journal
	shared Shared
	at     Mark
}

func (m marked) KeepSnapshot(ctx context.Context, o Owner, s Snapshot) error {
	return m.shared.KeepSnapshotAt(ctx, o, s, m.at)
}
