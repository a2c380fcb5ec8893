package stream

import (
	"context"

	"github.com/nats-io/nuid"

	"github.com/tokenbytoken/viz/web/journal"
)

// stored describes the messages of a log's snapshots.
type stored struct {
	seqs []uint64 // numbers of all messages
	last meta     // meta of the newest message
	body []byte   // the newest snapshot, if it is complete
	own  int      // number of messages of the newest snapshot
}

// add adds the next message.
func (s *stored) add(x message) {
	s.seqs = append(s.seqs, x.seq)
	if x.Part == 1 || x.ID != s.last.ID {
		s.body, s.own = nil, 0
	}
	if x.Part == s.own+1 {
		s.body, s.own = append(s.body, x.body...), s.own+1
	}
	s.last = x.meta
}

// complete reports whether the newest snapshot has all its parts.
func (s *stored) complete() bool { return s.own > 0 && s.own == s.last.Of }

// snapshots reads the snapshots of a log.
func (j *Journal) snapshots(ctx context.Context, m *mirror) (s stored, err error) {
	newest, found, err := j.lead(ctx, m.stream, m.snap, 0)
	if err != nil || !found {
		return s, err
	}
	if newest.Of == 1 {
		s.add(newest)
		return s, nil
	}
	_, err = j.fetch(ctx, m.stream, m.snap, 1, s.add)
	return s, err
}

// Snapshot implements [journal.Journal].
func (j *Journal) Snapshot(ctx context.Context, o journal.Owner) (s journal.Snapshot, err error) {
	err = j.with(ctx, o, func(ctx context.Context, m *mirror) error {
		if err := j.sync(ctx, m); err != nil || !m.exists {
			return err
		}
		var kept stored
		err := j.trying(ctx, func() (err error) {
			kept, err = j.snapshots(ctx, m)
			return err
		})
		if err == nil && m.holds(&kept) {
			s = decodeSnapshot(kept.body)
		}
		return err
	})
	return s, err
}

// holds reports whether the newest snapshot belongs to this log and no records have been
// deleted from the log since the snapshot was stored.
func (m *mirror) holds(s *stored) bool {
	return m.exists && s.complete() && s.last.First == m.first && s.last.Cut == m.cut
}

// encodeSnapshot encodes a snapshot as a sequence of parts, which are used as the items of a
// draft.
func encodeSnapshot(s journal.Snapshot) (items [][]byte) {
	b := encodeRecord(0, journal.Record{Seq: s.Seq, Type: s.Version, Data: s.State})
	const some = 64 << 10
	for len(b) > some {
		items, b = append(items, b[:some:some]), b[some:]
	}
	return append(items, b)
}

// decodeSnapshot decodes a snapshot, or returns the zero value if it is invalid.
func decodeSnapshot(body []byte) journal.Snapshot {
	i, err := (&reader{body}).next()
	if err != nil || i.kind != itemRecord {
		return journal.Snapshot{}
	}
	return journal.Snapshot{Version: i.Type, Seq: i.Seq, State: i.Data}
}

// KeepSnapshot implements [journal.Journal]. It deletes earlier snapshots.
func (j *Journal) KeepSnapshot(ctx context.Context, o journal.Owner, s journal.Snapshot) error {
	return j.keepSnapshot(ctx, o, s, nil)
}

// KeepSnapshotAt implements [journal.Shared].
func (j *Journal) KeepSnapshotAt(ctx context.Context, o journal.Owner, s journal.Snapshot, at journal.Mark) error {
	return j.keepSnapshot(ctx, o, s, &at)
}

// keepSnapshot stores a snapshot. If at is not nil, it does nothing if records have been
// deleted from the log since that mark.
func (j *Journal) keepSnapshot(ctx context.Context, o journal.Owner, s journal.Snapshot, at *journal.Mark) error {
	return j.with(ctx, o, func(ctx context.Context, m *mirror) error {
		if err := j.sync(ctx, m); err != nil || !m.exists || s.Seq < m.first {
			return err
		}
		if at != nil && at.Cut != m.mark().Cut {
			return nil
		}
		var old stored
		_, err := j.fetch(ctx, m.stream, m.snap, 1, old.add)
		if err != nil {
			return err
		}
		d := &draft{meta: meta{Form: form, ID: nuid.Next(), First: m.first, Cut: m.cut}, items: encodeSnapshot(s)}
		if _, _, err := j.send(ctx, m.stream, m.snap, d, false); err != nil {
			return err
		}
		return j.remove(ctx, m.stream, old.seqs...)
	})
}

// scrubSnapshots deletes all snapshots of a log except the newest one. If the newest one is
// invalid, it is deleted too.
func (j *Journal) scrubSnapshots(ctx context.Context, m *mirror) error {
	var all stored
	err := j.trying(ctx, func() error {
		all = stored{}
		_, err := j.fetch(ctx, m.stream, m.snap, 1, all.add)
		return err
	})
	if err != nil {
		return err
	}
	kept := 0
	if m.holds(&all) {
		kept = all.own
	}
	return j.remove(ctx, m.stream, all.seqs[:len(all.seqs)-kept]...)
}
