package stream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// lastAside returns the time at which records were last set aside, in milliseconds since
// 1970.
func (m *mirror) lastAside() int64 {
	if n := len(m.groups); n > 0 {
		return m.groups[n-1].at
	}
	return 0
}

// SetAside implements [journal.Journal].
func (j *Journal) SetAside(ctx context.Context, o journal.Owner, at time.Time, seqs ...int64) error {
	return j.with(ctx, o, func(ctx context.Context, m *mirror) error {
		return j.alter(ctx, m, func() *draft { return m.settingAside(at, seqs) })
	})
}

// settingAside returns a change that moves records to a new group of records that are set aside.
func (m *mirror) settingAside(at time.Time, seqs []int64) *draft {
	if !m.exists {
		return nil
	}
	d := m.draft()
	d.Cut = 0
	d.Aside = at.UnixMilli()
	d.items = append(d.items, encodeAside(d.Aside))
	if len(seqs) == 0 {
		d.items = append(d.items, []byte{itemMoveAll})
		d.end()
		d.Retired = m.retired
		return d
	}
	for _, seq := range seqs {
		if i, ok := m.at(seq); ok {
			d.items = append(d.items, encodeMove(seq))
			d.Records--
			d.Bytes -= m.records[i].Size()
		}
	}
	return d
}

// Aside implements [journal.Journal].
func (j *Journal) Aside(ctx context.Context, o journal.Owner) (list []journal.Info, err error) {
	err = j.with(ctx, o, func(ctx context.Context, m *mirror) error {
		if err := j.sync(ctx, m); err != nil {
			return err
		}
		for _, g := range m.groups {
			i := journal.Info{Owner: o, Used: time.UnixMilli(g.at).UTC(), Records: len(g.records)}
			for _, r := range g.records {
				i.Bytes += r.Size()
			}
			list = append(list, i)
		}
		return nil
	})
	return list, err
}

// ownersAside describes the records that were set aside from all logs. As in a database, they are
// listed as separate logs, each with the time at which records were last set aside.
func (j *Journal) ownersAside(ctx context.Context) (list []journal.Info, err error) {
	err = j.eachLast(ctx, "*", func(o journal.Owner, x message) error {
		if x.Aside != 0 {
			at := time.UnixMilli(x.Aside).UTC()
			name := store.SetAsideName(o.Kind, o.Name, at)
			list = append(list, journal.Info{Owner: journal.Owner{Kind: store.SetAsideKind, Name: name}, Used: at})
		}
		return ctx.Err()
	})
	slices.SortFunc(list, func(a, b journal.Info) int { return cmp.Compare(a.Name, b.Name) })
	return list, err
}

// forgetAside deletes the quarantined room records that identify a learner. It also deletes all
// nicknames in the same group, since it is unknown whose they are.
func (j *Journal) forgetAside(ctx context.Context, learner string) error {
	if learner == "" {
		return nil
	}
	var rooms []journal.Owner
	err := j.eachLast(ctx, encodeName(journal.Room), func(o journal.Owner, x message) error {
		if x.Aside != 0 {
			rooms = append(rooms, o)
		}
		return nil
	})
	errs := []error{err}
	for _, o := range rooms {
		errs = append(errs, j.with(ctx, o, func(ctx context.Context, m *mirror) error {
			if err := j.sync(ctx, m); err != nil {
				return err
			}
			if m.without(learner) == nil {
				return nil
			}
			err := j.alter(ctx, m, func() *draft {
				groups := m.without(learner)
				if groups == nil {
					return nil
				}
				return m.restated(groups)
			})
			return cmp.Or(err, j.scrub(ctx, m))
		}))
	}
	return errors.Join(errs...)
}

// without returns the groups of set-aside records without those that identify a learner. If a group
// contains the learner's member record, its nicknames are omitted too. If no record identifies the
// learner, it returns nil.
func (m *mirror) without(learner string) (groups []group) {
	says := func(r journal.Record) bool { return bytes.Contains(r.Data, []byte(learner)) }
	found := false
	for _, g := range m.groups {
		member := slices.ContainsFunc(g.records, func(r journal.Record) bool { return r.Type == "member" && says(r) })
		left := slices.DeleteFunc(slices.Clone(g.records), func(r journal.Record) bool {
			return says(r) || member && r.Type == "name"
		})
		found = found || len(left) < len(g.records)
		groups = append(groups, group{g.at, left})
	}
	if !found {
		return nil
	}
	return groups
}
