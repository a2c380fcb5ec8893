package progress

import (
	"context"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

// The times for which a learner's data is kept after they were last active.
const (
	// Life is the lifetime of the cookie, counted from the first visit. After that, browsers can no
	// longer reach the data.
	Life = 400 * 24 * time.Hour
	// AbandonedLife applies to learners with at most fewRecords records, visits to at most one section,
	// and no answer, review or prediction. A sentence or other setting does not count.
	AbandonedLife = 30 * 24 * time.Hour
)

// fewRecords is the maximum number of records in the log of a learner who has hardly started. Until
// it is compacted, the log has one record for each time that the section was on the screen. It also has
// one for each setting.
const fewRecords = 8

// Expire deletes the data of learners who, at time now, have been inactive for [Life] or, if they
// have hardly started, for [AbandonedLife]. Other callers may write at the same time. Expire
// returns the number of learners whose data was deleted.
func (s *Store) Expire(ctx context.Context, now time.Time) (gone int, err error) {
	list, err := s.logs.Owners(ctx, journal.Learner)
	if err != nil {
		return 0, err
	}
	old, abandoned := now.Add(-Life), now.Add(-AbandonedLife)
	for _, log := range list {
		var done bool
		switch {
		case log.Used.Before(old):
			done, err = s.learners.Retire(ctx, log.Name, old, nil)
		case log.Used.Before(abandoned) && log.Records <= fewRecords:
			done, err = s.learners.Retire(ctx, log.Name, abandoned, (*state).hardlyBegun)
		}
		if err == nil && done {
			gone++
			err = s.db.ForgetReader(ctx, log.Name)
		}
		if err != nil {
			return gone, err
		}
	}
	if err := s.expireAside(ctx, list, now); err != nil {
		return gone, err
	}
	return gone, s.logs.Sweep(ctx) // also completes the deletions of earlier calls
}

// expireAside deletes the quarantined data of learners who no longer have a log, once it is older
// than [store.DamagedLife]. For all other logs, the database itself does this.
func (s *Store) expireAside(ctx context.Context, logs []journal.Info, now time.Time) error {
	aside, err := s.logs.Owners(ctx, store.SetAsideKind)
	if err != nil {
		return err
	}
	for _, x := range aside {
		kind, learner := store.SetAsideOf(x.Name)
		has := slices.ContainsFunc(logs, func(log journal.Info) bool { return log.Name == learner })
		if kind != journal.Learner || has || now.Sub(x.Used) <= store.DamagedLife {
			continue
		}
		if err := s.logs.Drop(ctx, journal.Owner{Kind: kind, Name: learner}); err != nil {
			return err
		}
	}
	return nil
}

// hardlyBegun reports whether a learner has done so little that deleting the data loses nothing of
// value.
func (s *state) hardlyBegun() bool {
	return len(s.Visits) <= 1 && len(s.Credit) == 0 && len(s.Drills) == 0 && len(s.Cards) == 0 &&
		s.Counts[saved.TypePrediction] == 0
}
