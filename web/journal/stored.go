package journal

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Table is the storage of [Stored], a table in a browser's storage. Several programs can share a
// table. If two of them put the same record, it is stored once, since its owner, type and id are
// its key.
type Table interface {
	// Rows returns all rows, in any order.
	Rows(context.Context) ([]Row, error)
	// Put stores all rows or none. It returns once they are stored persistently.
	Put(context.Context, []Row) error
	// Delete deletes the records of an owner that have the given keys, and Drop deletes all
	// records of an owner. Missing records are ignored.
	Delete(ctx context.Context, o Owner, gone []Key) error
	Drop(ctx context.Context, o Owner) error
}

// Row is a record as a [Table] stores it.
type Row struct {
	Owner
	Record       // Seq orders all rows of one program
	Used   int64 // Batch.At when the record was appended, in milliseconds since 1970
}

// Stored keeps logs in memory and stores them in a table, from which they are restored when the
// program restarts. A browser's storage belongs to one person, so everything in it fits into
// memory. Two things are not stored: snapshots, which only save time, and the counts of records
// that were set aside.
type Stored struct {
	*Memory
	table   Table
	writing sync.Mutex // held while changing the table and the memory
}

var _ Journal = (*Stored)(nil)

// OpenStored returns a journal of the logs in a table.
func OpenStored(ctx context.Context, t Table) (*Stored, error) {
	rows, err := t.Rows(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(
			cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID),
		)
	})
	k := &Stored{Memory: NewMemory(), table: t}
	for _, r := range rows {
		_, err := k.Memory.Append(ctx, Batch{Owner: r.Owner, At: moment(r.Used), Records: []Record{r.Record}})
		if err != nil {
			return nil, err
		}
	}
	return k, nil
}

// Append implements [Journal]. Records are stored in the table before they are added to
// memory.
func (k *Stored) Append(ctx context.Context, b Batch) ([]int64, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	k.writing.Lock()
	defer k.writing.Unlock()
	rows, err := k.rows(ctx, b)
	if err != nil {
		return nil, err
	}
	if len(rows) > 0 {
		if err := k.table.Put(ctx, rows); err != nil {
			return nil, err
		}
	}
	return k.Memory.Append(context.WithoutCancel(ctx), b) // the records are already in the table
}

// rows returns the records of a batch that the log does not have yet.
func (k *Stored) rows(ctx context.Context, b Batch) (rows []Row, err error) {
	next := k.newest()
	seen := map[Key]bool{}
	for _, r := range b.Records {
		_, known, err := k.Find(ctx, b.Owner, r.Key())
		if err != nil {
			return nil, err
		}
		if known || seen[r.Key()] {
			continue
		}
		seen[r.Key()] = true
		next++
		r.Seq = next
		rows = append(rows, Row{Owner: b.Owner, Record: r, Used: b.At.UnixMilli()})
	}
	return rows, ctx.Err()
}

// newest returns the sequence number of the newest record in all logs.
func (m *Memory) newest() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// Compact implements [Journal].
func (k *Stored) Compact(ctx context.Context, o Owner, gone []Key) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	if err := k.table.Delete(ctx, o, gone); err != nil {
		return err
	}
	return k.Memory.Compact(context.WithoutCancel(ctx), o, gone)
}

// Drop implements [Journal].
func (k *Stored) Drop(ctx context.Context, o Owner) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	if err := k.table.Drop(ctx, o); err != nil {
		return err
	}
	return k.Memory.Drop(context.WithoutCancel(ctx), o)
}

// SetAside implements [Journal]. It deletes the records from the table, since damaged data
// in a browser's storage will not become readable again.
func (k *Stored) SetAside(ctx context.Context, o Owner, at time.Time, seqs ...int64) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	var gone []Key
	err := k.Read(ctx, o, 0, func(r Record) error {
		if len(seqs) == 0 || slices.Contains(seqs, r.Seq) {
			gone = append(gone, r.Key())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := k.table.Delete(ctx, o, gone); err != nil {
		return err
	}
	return k.Memory.SetAside(context.WithoutCancel(ctx), o, at, seqs...)
}

// Retire implements [Journal].
func (k *Stored) Retire(ctx context.Context, o Owner, before time.Time) (bool, error) {
	k.writing.Lock()
	defer k.writing.Unlock()
	gone, err := k.Memory.Retire(ctx, o, before)
	if gone {
		err = k.table.Drop(context.WithoutCancel(ctx), o)
	}
	return gone, err
}
