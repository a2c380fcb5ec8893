package stream

import (
	"context"
	"errors"
	"time"

	"github.com/tokenbytoken/viz/web/journal"
)

// wasted is the number of bytes by which the garbage in a log must exceed its valid records before
// the log is rewritten.
const wasted = 256 << 10

// tidy rewrites a log if its garbage exceeds its valid records by at least wasted bytes.
func (j *Journal) tidy(ctx context.Context, m *mirror) error {
	if m.dead < m.bytes+wasted {
		return nil
	}
	return j.renew(ctx, m)
}

// renew rewrites a log, including the records that were set aside, and deletes the earlier
// messages. Snapshots stay valid, since the records are the same.
func (j *Journal) renew(ctx context.Context, m *mirror) error {
	first := m.last + 1
	err := j.alter(ctx, m, func() *draft {
		if m.anchor >= first && m.dead == 0 && !m.retired {
			return nil // another server has rewritten the log
		}
		return m.restated(m.groups)
	})
	if err != nil {
		return err
	}
	return j.removeOld(ctx, m)
}

// restated returns a change that contains the complete log and the given groups of set-aside
// records.
func (m *mirror) restated(groups []group) *draft {
	d := m.draft()
	d.Whole, d.Retired = true, m.empty()
	for i, g := range groups {
		d.items = append(d.items, encodeAside(g.at))
		for _, r := range g.records {
			d.items = append(d.items, encodeRecord(i+1, r))
		}
	}
	for _, r := range m.records {
		d.items = append(d.items, encodeRecord(0, r))
	}
	return d
}

// removeOld deletes obsolete messages.
func (j *Journal) removeOld(ctx context.Context, m *mirror) error {
	var old, kept []uint64
	for _, seq := range m.msgs {
		if seq < m.anchor {
			old = append(old, seq)
		} else {
			kept = append(kept, seq)
		}
	}
	if err := j.remove(ctx, m.stream, old...); err != nil {
		return err
	}
	m.msgs = kept
	return nil
}

// Scrub implements [journal.Journal].
func (j *Journal) Scrub(ctx context.Context, o journal.Owner) error {
	return j.with(ctx, o, func(ctx context.Context, m *mirror) error {
		if err := j.sync(ctx, m); err != nil {
			return err
		}
		return j.scrub(ctx, m)
	})
}

// scrub deletes and overwrites all messages that no longer belong to a log, including the
// remains of an interrupted scrub.
func (j *Journal) scrub(ctx context.Context, m *mirror) error {
	if m.last > 0 && !(m.empty() && m.anchor == m.last) && (m.dead > 0 || m.retired) {
		if err := j.renew(ctx, m); err != nil {
			return err
		}
	}
	if err := j.removeOld(ctx, m); err != nil {
		return err
	}
	if err := j.scrubSnapshots(ctx, m); err != nil {
		return err
	}
	if m.last == 0 || !m.empty() {
		return nil
	}
	// Only the message that marks the log as empty is left. It can be deleted, since a log
	// that begins later does not depend on it.
	err := j.remove(ctx, m.stream, m.msgs...)
	m.clear()
	m.loaded = err == nil
	return err
}

// Drop implements [journal.Journal].
func (j *Journal) Drop(ctx context.Context, o journal.Owner) error {
	err := j.drop(ctx, o)
	if err == nil && o.Kind == journal.Learner {
		err = j.forgetAside(context.WithoutCancel(ctx), o.Name)
	}
	return err
}

func (j *Journal) drop(ctx context.Context, o journal.Owner) error {
	return j.with(ctx, o, func(ctx context.Context, m *mirror) error {
		if err := j.sync(ctx, m); err != nil {
			return err
		}
		err := j.alter(ctx, m, func() *draft {
			if m.empty() {
				return nil
			}
			d := m.draft()
			d.end()
			d.Whole, d.Aside = true, 0
			return d
		})
		if err != nil {
			return err
		}
		return j.scrub(ctx, m)
	})
}

// Retire implements [journal.Journal].
func (j *Journal) Retire(ctx context.Context, o journal.Owner, before time.Time) (done bool, err error) {
	err = j.with(ctx, o, func(ctx context.Context, m *mirror) error {
		if err := j.sync(ctx, m); err != nil {
			return err
		}
		return j.alter(ctx, m, func() *draft {
			if done = m.exists && m.used < before.UnixMilli(); !done {
				return nil
			}
			d := m.draft()
			d.end()
			d.Whole = len(m.groups) == 0
			return d
		})
	})
	return done && err == nil, err
}

// Sweep implements [journal.Journal].
func (j *Journal) Sweep(ctx context.Context) error {
	var errs []error
	err := j.eachLast(ctx, "*", func(o journal.Owner, x message) error {
		if x.Retired {
			errs = append(errs, j.Scrub(ctx, o))
		}
		return ctx.Err()
	})
	return errors.Join(append(errs, err)...)
}
