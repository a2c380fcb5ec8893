// Package journal stores logs of events: one for each learner and one for each class's
// room.
//
// A [Record] is one event: a section seen, a question answered, a vote. It has a type, an
// id, and as its data the JSON object that represents it in a file of saved progress.
// Records are appended and never changed. Appending is idempotent: a record whose type and
// id are already in the log is not added again, so a request that is sent twice, or a file
// that is imported twice, counts once.
//
// A [Fold] defines the meaning of a log. It is a pure function from records to a state.
// [Folds] keeps the states of the active owners in memory and reads the logs of others when
// they return, starting from a [Snapshot] if there is one of the same version. A snapshot
// only saves time: without it, the log gives the same state.
//
// [Journal.Append] returns when the records are on the disk. Concurrent appends share one
// commit, so that a class that votes waits for the disk a few times instead of a thousand.
// A large batch, such as an import, is committed in parts, with the appends of others
// between them, and becomes visible with its last part.
//
// [Journal.Compact] deletes records that a later one has superseded (the vote before the
// vote that counts), [Journal.Drop] deletes a log on request, and [Journal.Retire] and
// [Journal.Sweep] delete logs that have not been used for long. [Journal.Scrub] makes sure
// that no deleted data is left on the disk. Names that can be erased are in separate
// records. A record that cannot be read is set aside, and the log continues without it.
// Secrets, notices and data that expires are not events and are stored elsewhere.
//
// There are four adapters: [SQLite] for a data folder, [Memory], [Stored] for a browser's
// storage, and the one of web/journal/stream for a NATS cluster. The tests run the same
// suite (web/journal/journaltest) on all of them.
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

// Owner is the learner or room that a log belongs to.
type Owner struct{ Kind, Name string }

// Record is one event of a log.
type Record struct {
	// Seq is the record's sequence number, assigned by Append: above 0 and increasing
	// along the log, with gaps.
	Seq int64
	// Type is the kind of event. ID identifies the record among the records of its type.
	Type, ID string
	// Data is a JSON object. Readers must not change it.
	Data []byte
}

// Key identifies a record within a log.
type Key struct{ Type, ID string }

// Key returns the record's key.
func (r Record) Key() Key { return Key{r.Type, r.ID} }

// Size returns the size of a record, as [Info.Bytes] counts it.
func (r Record) Size() int64 { return int64(len(r.Type) + len(r.ID) + len(r.Data)) }

// Batch is a set of records that are appended together, all or none.
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

// Snapshot is the folded state of a log.
type Snapshot struct {
	Version string // of the fold; "" if there is no snapshot
	Seq     int64  // of the last record in it
	State   []byte
}

// Limits of a batch. The largest import of saved progress (80,100 entries in 32 MiB) fits
// into a batch, and a session link into a record.
const (
	MaxRecord  = 256 << 10 // bytes of a record's data
	MaxID      = 512       // bytes of its type and id
	MaxRecords = 100_000   // in a batch
	MaxBatch   = 64 << 20  // bytes of a batch
)

// ErrDamaged is returned for a log that cannot be folded. The log is then set aside, so
// that the owner starts with an empty one.
var ErrDamaged = errors.New("what was saved could not be read and was set aside")

// ErrAway is returned when the storage of the logs cannot be reached. The error is
// temporary.
var ErrAway = store.ErrAway

// ErrTooLarge is returned for a batch that exceeds the limits.
var ErrTooLarge = errors.New("too large for a log")

// Journal stores logs. Its methods can be called from any goroutine.
//
// Errors are [ErrTooLarge], [ErrAway], the context's, or the disk's. If Append returns an error,
// none of the batch is stored, except that after [ErrAway] the outcome is unknown: the connection
// might have broken before the answer arrived. A batch that is then appended again counts once.
type Journal interface {
	// Append adds the records of a batch that the log does not have yet, and creates the
	// log if there is none. It returns the sequence number of each new record, and 0 for
	// records that the log already had. A batch without records only updates when an
	// existing log was last used.
	//
	// When it returns, the records are on the disk. Once a batch is in the queue, Append
	// waits for the commit even if ctx ends.
	Append(ctx context.Context, b Batch) ([]int64, error)

	// Read calls f for each record after a sequence number, in order, until f
	// returns an error, which Read returns. f must not use the journal.
	Read(ctx context.Context, o Owner, after int64, f func(Record) error) error

	// Find returns the record with a key.
	Find(ctx context.Context, o Owner, k Key) (r Record, found bool, err error)

	// Owners describes all logs of a kind, in order of their names.
	Owners(ctx context.Context, kind string) ([]Info, error)

	// Compact deletes records of a log, and its snapshot, which might contain them. Keys
	// that the log does not have are ignored. The bytes can stay on the disk until the next
	// Scrub.
	Compact(ctx context.Context, o Owner, gone []Key) error

	// Scrub makes sure that no compacted record of a log is left on the disk. Once it has
	// begun it does not stop when ctx ends.
	Scrub(ctx context.Context, o Owner) error

	// Drop deletes a log, including what was set aside of it, and scrubs. Dropping a
	// learner also deletes quarantined room records that identify them. Once it has begun
	// it does not stop when ctx ends. After an error the log may be gone, and Drop can be
	// called again.
	Drop(ctx context.Context, o Owner) error

	// SetAside moves records of a log, by their sequence numbers, to a separate log that
	// cannot be appended to. Without numbers, it moves all of them. They stay there until
	// the owner is dropped.
	SetAside(ctx context.Context, o Owner, at time.Time, seqs ...int64) error

	// Aside describes what was set aside of a log, and when, oldest first. Records includes
	// lost records.
	Aside(ctx context.Context, o Owner) ([]Info, error)

	// Snapshot returns the snapshot of a log, the zero value if there is none.
	Snapshot(ctx context.Context, o Owner) (Snapshot, error)

	// KeepSnapshot stores a snapshot and replaces the one before. It does nothing if
	// there is no such log, or only a newer one of the same name.
	KeepSnapshot(ctx context.Context, o Owner, s Snapshot) error

	// Retire removes a log that was last used before a time, and reports whether it did.
	// From then on the log does not exist. Its bytes stay on the disk until the next Sweep.
	Retire(ctx context.Context, o Owner, before time.Time) (bool, error)

	// Sweep deletes all retired logs, in small steps so that appends do not have to wait,
	// and scrubs. If ctx ends, the next Sweep continues.
	Sweep(ctx context.Context) error
}

// For returns the journal of an open database: in its file, or in memory if the database is
// in memory.
func For(db *store.DB) Journal {
	if db.InMemory() {
		return NewMemory()
	}
	return NewSQLite(db)
}

// size returns the total size of the records.
func (b Batch) size() (n int64) {
	for _, r := range b.Records {
		n += r.Size()
	}
	return n
}

// Check returns an error if a batch exceeds the limits.
func (b Batch) Check() error {
	if len(b.Records) > MaxRecords {
		return fmt.Errorf("%w: the batch has %d records; the limit is %d", ErrTooLarge, len(b.Records), MaxRecords)
	}
	for _, r := range b.Records {
		if len(r.Data) > MaxRecord {
			return fmt.Errorf("%w: a record of type %s has %d bytes; the limit is %d",
				ErrTooLarge, r.Type, len(r.Data), MaxRecord)
		}
		if len(r.Type)+len(r.ID) > MaxID {
			return fmt.Errorf("%w: type and id of a record have %d bytes; the limit is %d",
				ErrTooLarge, len(r.Type)+len(r.ID), MaxID)
		}
	}
	if sum := b.size(); sum > MaxBatch {
		return fmt.Errorf("%w: the batch has %d bytes; the limit is %d", ErrTooLarge, sum, MaxBatch)
	}
	return nil
}
