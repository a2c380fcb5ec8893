package progress

import (
	"context"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

// Import adds the entries of an export to a learner's data. If it returns an error, it has added
// none of them. The error can be an [ErrInput] that names the invalid part, an [ErrFull] or a
// [store.ErrScarce].
//
// The export and the data are merged so that nothing is lost, and importing a file twice has the
// same effect as importing it once. An answer, review or prediction is added unless one with its id
// already exists. If both have visits to a section, the merged record has the earlier first time,
// the later last time and the larger count. Existing settings are kept. The state of cards is
// recomputed from all reviews in chronological order.
func (s *Store) Import(ctx context.Context, learnerID string, data []byte) (Imported, error) {
	select {
	case s.imports <- struct{}{}:
		defer func() { <-s.imports }()
	case <-ctx.Done():
		return Imported{}, ctx.Err()
	}
	f, err := saved.Parse(data)
	if err != nil {
		return Imported{}, err
	}
	var added Imported
	err = s.use(ctx, learnerID, func(l *learner) error {
		var err error
		added, err = add(ctx, l, f, s.time(), func(m *merge) error {
			if len(m.records) > 0 && s.db.Space(ctx) >= store.SpaceForSmall {
				return store.ErrScarce
			}
			return m.fits(s.most, s.share())
		})
		return err
	})
	if err != nil {
		return Imported{}, err
	}
	return added, nil
}

// add appends the new entries of a file to a learner's log, in one batch, unless check returns
// an error.
func add(
	ctx context.Context, l *learner, f saved.File, at time.Time, check func(*merge) error,
) (Imported, error) {
	m := merge{state: l.State(), known: map[journal.Key]bool{}}
	if err := l.Read(ctx, func(r journal.Record) error {
		m.known[r.Key()] = true
		return nil
	}); err != nil {
		return Imported{}, err
	}
	if err := m.file(f); err != nil {
		return Imported{}, err
	}
	if err := check(&m); err != nil || len(m.records) == 0 {
		return m.added, err
	}
	_, err := l.Append(ctx, at, m.records...)
	return m.added, err
}

// A merge collects the records that a file adds to a learner's log.
type merge struct {
	state   *state
	known   map[journal.Key]bool
	records []journal.Record
	added   Imported
}

// file collects the new entries of a file.
func (m *merge) file(f saved.File) error {
	for _, v := range f.Visits {
		before := m.state.Visits[v.Section]
		after := before.join(v)
		if before != nil && after.same(*before) {
			continue
		}
		if before == nil {
			m.added.Visits++
		}
		if err := m.add(visitID(v.Section, after), after.entry(v.Section), new(int)); err != nil {
			return err
		}
	}
	for _, a := range f.Answers {
		if err := m.add(a.ID, a, &m.added.Answers); err != nil {
			return err
		}
	}
	for _, r := range f.Reviews {
		if err := m.add(r.ID, r, &m.added.Reviews); err != nil {
			return err
		}
	}
	for _, p := range f.Predictions {
		if err := m.add(p.ID, p, &m.added.Predictions); err != nil {
			return err
		}
	}
	for _, x := range f.Settings {
		if m.state.Settings[x.Name] != nil {
			continue
		}
		id := settingID(x.Name, m.state.Changes+1+m.added.Settings)
		if err := m.add(id, x, &m.added.Settings); err != nil {
			return err
		}
	}
	return nil
}

// add collects an entry unless one with its id already exists.
func (m *merge) add(id string, e saved.Entry, added *int) error {
	r, err := record(id, e)
	if err != nil || m.known[r.Key()] {
		return err
	}
	*added++
	m.records = append(m.records, r)
	return nil
}

// fits returns an [ErrFull] if a learner would have too many entries or bytes.
func (m *merge) fits(most int, bytes int64) error {
	s, n := m.state, m.added
	for _, x := range []struct {
		key     string
		n, most int
	}{
		{"progress.full.visits", len(s.Visits) + n.Visits, most},
		{fullKeys[saved.TypeAnswer], s.Counts[saved.TypeAnswer] + n.Answers, most},
		{fullKeys[saved.TypeReview], s.Counts[saved.TypeReview] + n.Reviews, most},
		{fullKeys[saved.TypePrediction], s.Counts[saved.TypePrediction] + n.Predictions, most},
		{"progress.full.settings", len(s.Settings) + n.Settings, saved.MaxSettings},
	} {
		if x.n > x.most {
			return terms.Refuse(codeFull, x.key)
		}
	}
	sum := s.Bytes
	for _, r := range m.records {
		sum += sizeOf(r)
	}
	if sum > bytes {
		return terms.Refuse(codeFull, "progress.full.entries")
	}
	return nil
}
