package stream

import (
	"cmp"
	"context"

	"github.com/tokenbytoken/viz/web/journal"
)

// Append implements [journal.Journal].
func (j *Journal) Append(ctx context.Context, b journal.Batch) (seqs []int64, err error) {
	return j.appendIf(ctx, b, func(*mirror) error { return nil })
}

// appendIf appends a batch unless may returns an error for the state of the log before the batch.
// It can call may several times.
func (j *Journal) appendIf(
	ctx context.Context, b journal.Batch, may func(*mirror) error,
) (seqs []int64, err error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	seqs = make([]int64, len(b.Records))
	size := int64(0)
	for _, r := range b.Records {
		size += r.Size()
	}
	err = j.withSize(ctx, b.Owner, size, func(ctx context.Context, m *mirror) error {
		var added []int
		var refused error
		err := j.alter(ctx, m, func() (d *draft) {
			if added, refused = nil, may(m); refused == nil {
				d, added = m.appending(b)
			}
			return d // if d is nil, alter makes sure that the log is up to date
		})
		err = cmp.Or(err, refused)
		for _, i := range added {
			seqs[i] = m.known[b.Records[i].Key()]
		}
		if err == nil && len(added) > 0 {
			// The records have been stored. The rest only saves space, and is retried later.
			_ = j.tidy(ctx, m)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return seqs, nil
}

// appending returns a change that adds the records of a batch that the log does not have yet, and
// the indexes of these records in the batch.
func (m *mirror) appending(b journal.Batch) (d *draft, added []int) {
	d = m.draft()
	if !m.exists {
		if len(b.Records) == 0 {
			return nil, nil
		}
		d.begin()
	}
	seen := map[journal.Key]bool{}
	for i, r := range b.Records {
		if _, known := m.known[r.Key()]; known || seen[r.Key()] {
			continue
		}
		seen[r.Key()] = true
		added = append(added, i)
		r.Seq = 0
		d.items = append(d.items, encodeRecord(0, r))
		d.Records++
		d.Bytes += r.Size()
	}
	used := b.At.UnixMilli()
	if len(added) == 0 && m.exists && used <= m.used {
		return nil, nil
	}
	if d.Used = used; m.exists {
		d.Used = max(used, m.used)
	}
	return d, added
}

// Read implements [journal.Journal].
func (j *Journal) Read(ctx context.Context, o journal.Owner, after int64, f func(journal.Record) error) error {
	var list []journal.Record
	err := j.with(ctx, o, func(ctx context.Context, m *mirror) error {
		err := j.sync(ctx, m)
		i, _ := m.at(after + 1)
		list = m.records[i:]
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Mark implements [journal.Shared].
func (j *Journal) Mark(ctx context.Context, o journal.Owner) (at journal.Mark, err error) {
	err = j.with(ctx, o, func(ctx context.Context, m *mirror) error {
		err := j.sync(ctx, m)
		at = m.mark()
		return err
	})
	return at, err
}

func (m *mirror) mark() (at journal.Mark) {
	if m.exists {
		at.Cut = int64(m.cut)
	}
	if n := len(m.records); n > 0 {
		at.Last = m.records[n-1].Seq
	}
	return at
}

// Find implements [journal.Journal].
func (j *Journal) Find(ctx context.Context, o journal.Owner, k journal.Key) (r journal.Record, found bool, err error) {
	err = j.with(ctx, o, func(ctx context.Context, m *mirror) error {
		if err := j.sync(ctx, m); err != nil {
			return err
		}
		r, found = m.find(k)
		return nil
	})
	return r, found, err
}

// Compact implements [journal.Journal].
func (j *Journal) Compact(ctx context.Context, o journal.Owner, gone []journal.Key) error {
	return j.with(ctx, o, func(ctx context.Context, m *mirror) error {
		if err := j.sync(ctx, m); err != nil {
			return err
		}
		if err := j.alter(ctx, m, func() *draft { return m.compacting(gone) }); err != nil {
			return err
		}
		return j.tidy(ctx, m)
	})
}

// compacting returns a change that deletes records.
func (m *mirror) compacting(gone []journal.Key) *draft {
	if !m.exists {
		return nil
	}
	d := m.draft()
	d.Cut = 0
	seen := map[journal.Key]bool{}
	for _, k := range gone {
		r, found := m.find(k)
		if !found || seen[k] {
			continue
		}
		seen[k] = true
		d.items = append(d.items, encodeGone(k))
		d.Records--
		d.Bytes -= r.Size()
	}
	return d
}
