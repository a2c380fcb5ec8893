// Package journal stores logs of events: one for each learner and one for each class's
// room.
//
// A [Record] is one event: for example, that a section was seen, that a question was answered, or
// that somebody voted. It has a type, an id and data. The data is the JSON object that represents
// the event in a file of saved progress. Records are appended and never changed. Appending is
// idempotent: a record whose type and id are already in the log is not added again, so a request
// that is sent twice, or a file that is imported twice, counts once.
//
// A [Fold] defines the meaning of a log. It is a pure function from records to a state. [Folds]
// keeps the states of the active owners in memory. It reads the logs of other owners when they
// become active, starting from a [Snapshot] if there is one with the same version. A snapshot only
// saves time: folding the whole log results in the same state.
//
// [Journal.Append] returns when the records are on the disk. Concurrent appends share one
// commit, so that a thousand votes of a class wait for the disk only a few times. A large
// batch, such as an import, is committed in parts, with other owners' appends in between,
// and becomes visible with its last part.
//
// [Journal.Compact] deletes records that a later record has superseded, such as an earlier vote,
// [Journal.Drop] deletes a log on request, and [Journal.Retire] and [Journal.Sweep] delete logs
// that have not been used for a long time. [Journal.Scrub] erases deleted data from the disk. Names
// that can be erased are in separate records. A record that cannot be read is set aside, and the
// log continues without it. Secrets, notices and data that expires are not events and are stored
// elsewhere.
//
// There are four adapters: [SQLite] for a data folder, [Memory], [Stored] for a browser's
// storage, and the Journal in web/journal/stream for a NATS cluster. The tests run the same
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
	Learner = "learner" // the name is the anonymous id in a signed cookie
	Room    = "room"    // the name is the room's code
)

// Owner is the learner or the room to which a log belongs.
type Owner struct{ Kind, Name string }

// Record is one event in a log.
type Record struct {
	// Seq is the record's sequence number, which Append assigns. It is positive and increases
	// through the log, possibly with gaps.
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

// Size returns the size of a record as counted in [Info.Bytes].
func (r Record) Size() int64 { return int64(len(r.Type) + len(r.ID) + len(r.Data)) }

// Batch is a set of records that are appended atomically.
type Batch struct {
	Owner Owner
	// At is the time at which the owner was last active.
	At      time.Time
	Records []Record
}

// Info describes a log.
type Info struct {
	Owner
	Used    time.Time // the latest At of its batches, in whole milliseconds
	Records int
	Bytes   int64 // total size of types, ids and data
}

// Snapshot is the folded state of a log.
type Snapshot struct {
	Version string // version of the fold; "" if there is no snapshot
	Seq     int64  // sequence number of the last record in it
	State   []byte
}

// Limits of a batch. The largest import of saved progress (80,100 entries, 32 MiB) fits into one
// batch, and a session link fits into one record.
const (
	MaxRecord  = 256 << 10 // bytes of a record's data
	MaxID      = 512       // bytes of its type and id
	MaxRecords = 100_000   // records of a batch
	MaxBatch   = 64 << 20  // bytes of a batch
)

// ErrDamaged is returned for a log that cannot be folded. The log is then set aside, so that
// the owner starts with an empty log.
var ErrDamaged = errors.New("the saved data was unreadable and has been set aside")

// ErrAway is returned when the storage of the logs cannot be reached. The error is
// temporary.
var ErrAway = store.ErrAway

// ErrTooLarge is returned for a batch that exceeds the limits.
var ErrTooLarge = errors.New("too large for a log")

// Journal stores logs. Its methods can be called from any goroutine.
//
// Errors are [ErrTooLarge], [ErrAway], or errors from the context or the disk. If Append returns an
// error, none of the batch is stored. After [ErrAway], however, the outcome is unknown, since the
// connection might have broken before the reply arrived. Appending the batch again is safe.
type Journal interface {
	// Append adds the records of a batch that the log does not contain yet, and creates the log if
	// it does not exist. It returns the sequence number of each new record, and 0 for records that
	// the log already contained. A batch without records only updates the time at which an existing
	// log was last used.
	//
	// When it returns, the records are on the disk. Once a batch is in the queue, Append
	// waits for the commit even if ctx ends.
	Append(ctx context.Context, b Batch) ([]int64, error)

	// Read calls f for each record after a sequence number, in order. If f returns an error,
	// Read stops and returns it. f must not use the journal.
	Read(ctx context.Context, o Owner, after int64, f func(Record) error) error

	// Find returns the record with a key.
	Find(ctx context.Context, o Owner, k Key) (r Record, found bool, err error)

	// Owners describes all logs of a kind, sorted by name.
	Owners(ctx context.Context, kind string) ([]Info, error)

	// Compact deletes records from a log. It also deletes the log's snapshot, which might contain
	// them. Keys that are not in the log are ignored. The deleted bytes can stay on the disk until
	// the next Scrub.
	Compact(ctx context.Context, o Owner, gone []Key) error

	// Scrub erases all compacted records of a log from the disk. Once it has begun, it does not
	// stop when ctx ends.
	Scrub(ctx context.Context, o Owner) error

	// Drop deletes a log, including the data that was set aside from it, and scrubs the
	// disk. Dropping a learner also deletes quarantined room records that identify them.
	// Once it has begun, it does not stop when ctx ends. After an error, the log may be
	// gone, and Drop can be called again.
	Drop(ctx context.Context, o Owner) error

	// SetAside moves the records of a log with the given sequence numbers to a separate log,
	// to which nothing can be appended. If no numbers are given, it moves all records. Records that
	// were set aside are kept until the owner is dropped.
	SetAside(ctx context.Context, o Owner, at time.Time, seqs ...int64) error

	// Aside describes the data that was set aside from a log, and when that happened, oldest
	// first. [Info.Records] includes lost records.
	Aside(ctx context.Context, o Owner) ([]Info, error)

	// Snapshot returns the snapshot of a log, or the zero value if there is none.
	Snapshot(ctx context.Context, o Owner) (Snapshot, error)

	// KeepSnapshot stores a snapshot, replacing the previous one. It does nothing if the log does
	// not exist or has been replaced by a newer log with the same name.
	KeepSnapshot(ctx context.Context, o Owner, s Snapshot) error

	// Retire removes a log that was last used before the given time, and reports whether it
	// did. From then on, the log does not exist. Its bytes stay on the disk until the next
	// Sweep.
	Retire(ctx context.Context, o Owner, before time.Time) (bool, error)

	// Sweep deletes all retired logs and scrubs the disk. It works in small steps, so that
	// appends do not have to wait. If ctx ends, the next Sweep continues.
	Sweep(ctx context.Context) error
}

// For returns the journal of an open database. It is stored in the database's file, or in
// memory if the database is in memory.
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
			return fmt.Errorf("%w: a record's type and id total %d bytes; the limit is %d",
				ErrTooLarge, len(r.Type)+len(r.ID), MaxID)
		}
	}
	if sum := b.size(); sum > MaxBatch {
		return fmt.Errorf("%w: the batch has %d bytes; the limit is %d", ErrTooLarge, sum, MaxBatch)
	}
	return nil
}
