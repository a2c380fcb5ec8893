// Package journal keeps logs: of each learner, and of each room of a class, the
// events that concern them.
//
// A [Record] is one event: a section seen, a question answered, a vote. It has
// a type, an id, and as its data the JSON object that stands for it in a file
// of saved progress. Records are appended and never changed. The id makes that
// idempotent: a record whose type and id the log has already is not added
// again, so whatever is sent twice, and a file that is imported twice, counts
// once.
//
// What a log means is said by a [Fold], a pure function from records to a
// state. [Folds] keeps the states of those who are active and reads the logs of
// others when they come back, from a [Snapshot] where there is one of the same
// version. A snapshot saves time and nothing else: without it the log says the
// same.
//
// [Journal.Append] returns when the records are on the disk. All who wait at
// the same time share one commit, so that a class that votes costs a few waits
// for the disk instead of a thousand.
//
// Records that a later one has made worthless (the vote before the vote that
// counts) are taken out by [Journal.Compact], a log that nobody needs by
// [Journal.Drop]; both leave nothing of them on the disk. Names that must
// vanish lie in records of their own. What is secret, what is to be told once,
// and what expires are no events and have no place here.
//
// There are two adapters: [SQLite] over a data folder, and [Memory]. The
// tests hold both to the same suite.
package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tokenbytoken/viz/web/store"
)

// The kinds of owners.
const (
	Learner = "learner" // the name is the anonymous id of a signed cookie
	Room    = "room"    // the name is the code
)

// Owner is whom a log is about.
type Owner struct{ Kind, Name string }

// Record is one event of a log.
type Record struct {
	// Seq is the record's place, given by Append: above 0, it grows along the log, with gaps.
	Seq int64
	// Type says what kind of event it is, and ID names it among those of its type.
	Type, ID string
	// Data is a JSON object. It must not be changed by whoever has read it.
	Data []byte
}

// Key names a record within a log.
type Key struct{ Type, ID string }

// Key is the record's.
func (r Record) Key() Key { return Key{r.Type, r.ID} }

// size is what a record takes, as [Info.Bytes] counts it.
func (r Record) size() int64 { return int64(len(r.Type) + len(r.ID) + len(r.Data)) }

// Batch is what is appended at once, all of it or nothing.
type Batch struct {
	Owner Owner
	// At is when the owner was last active.
	At      time.Time
	Records []Record
}

// Info describes a log.
type Info struct {
	Owner
	Used    time.Time // the latest At of its batches, in whole milliseconds
	Records int
	Bytes   int64 // of types, ids and data
}

// Snapshot is the state that a log was folded into.
type Snapshot struct {
	Version string // of the fold; "" is no snapshot
	Seq     int64  // of the last record that is in it
	State   []byte
}

// Limits of what is appended. The largest import of saved progress (80,100
// entries in 32 MiB) fits into a batch, and a session link into a record.
const (
	MaxRecord  = 256 << 10 // bytes of a record's data
	MaxID      = 512       // bytes of its type and id
	MaxRecords = 100_000   // in a batch
	MaxBatch   = 64 << 20  // bytes of a batch
)

// ErrTooLarge is behind the refusal of a batch that is beyond the limits.
var ErrTooLarge = errors.New("too large for a log")

// Journal keeps logs. Its methods may be called from any goroutine.
//
// Errors are [ErrTooLarge], the context's, or those of the disk. After an error
// of Append nothing of the batch is kept.
type Journal interface {
	// Append adds those records of a batch that the log does not have yet, and
	// begins a log where there is none. It returns the place of each record, 0
	// of those that were there. A batch without records only notes the use of
	// a log that there is.
	//
	// When it returns, the records are on the disk. ctx counts until the batch
	// is taken: from then on Append waits for what becomes of it.
	Append(ctx context.Context, b Batch) ([]int64, error)

	// Read calls f for each record after a place, in order, until f returns an
	// error, which Read returns. f must not use the journal.
	Read(ctx context.Context, o Owner, after int64, f func(Record) error) error

	// Find returns the record with a key.
	Find(ctx context.Context, o Owner, k Key) (r Record, found bool, err error)

	// Owners describes all logs of a kind, in order of their names.
	Owners(ctx context.Context, kind string) ([]Info, error)

	// Compact deletes records of a log, and its snapshot, which may contain
	// them. Keys that the log does not have are ignored. The bytes may stay on
	// the disk until the next Scrub.
	Compact(ctx context.Context, o Owner, gone []Key) error

	// Scrub makes sure that nothing that was compacted out of a log is left on
	// the disk. Once it has begun it does not stop when ctx ends.
	Scrub(ctx context.Context, o Owner) error

	// Drop deletes a log, and scrubs. Once it has begun it does not stop when
	// ctx ends. After an error the log may be gone, and Drop can be called again.
	Drop(ctx context.Context, o Owner) error

	// Snapshot returns the snapshot of a log, a zero one where there is none.
	Snapshot(ctx context.Context, o Owner) (Snapshot, error)

	// KeepSnapshot keeps a snapshot in place of the one before. It is ignored
	// where there is no such log, or only a newer one of the same name.
	KeepSnapshot(ctx context.Context, o Owner, s Snapshot) error
}

// For returns the journal that belongs to an open database: in its file, or in
// memory where it is there itself.
func For(db *store.DB) Journal {
	if db.InMemory() {
		return NewMemory()
	}
	return NewSQLite(db)
}

// size sums up the records.
func (b Batch) size() (n int64) {
	for _, r := range b.Records {
		n += r.size()
	}
	return n
}

// check refuses a batch that is beyond the limits.
func (b Batch) check() error {
	if len(b.Records) > MaxRecords {
		return fmt.Errorf("%w: %d records at once; at most %d are taken", ErrTooLarge, len(b.Records), MaxRecords)
	}
	for _, r := range b.Records {
		if len(r.Data) > MaxRecord {
			return fmt.Errorf("%w: a record of type %s has %d bytes; at most %d are taken",
				ErrTooLarge, r.Type, len(r.Data), MaxRecord)
		}
		if len(r.Type)+len(r.ID) > MaxID {
			return fmt.Errorf("%w: the id of a record has %d bytes; at most %d are taken",
				ErrTooLarge, len(r.ID), MaxID)
		}
	}
	if sum := b.size(); sum > MaxBatch {
		return fmt.Errorf("%w: %d bytes at once; at most %d are taken", ErrTooLarge, sum, MaxBatch)
	}
	return nil
}
