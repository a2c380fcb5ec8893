package progress

import (
	"context"
	"database/sql"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/lessons/fsrs"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

// carriers is the number of learners that are migrated at the same time, so that they share
// commits.
const carriers = 16

// Carry migrates learners' data from the tables of an earlier database format to logs, by importing
// each learner's export, and then drops the tables. If it is interrupted, the next start completes
// it. It does nothing to databases in the current format.
func Carry(ctx context.Context, db *store.DB, logs journal.Journal) error {
	before, err := db.Before(store.LearnersInLogs)
	if err != nil || !before {
		return err
	}
	var names []string
	if err := query(ctx, db, `SELECT learner FROM visits UNION SELECT learner FROM answers
		UNION SELECT learner FROM reviews UNION SELECT learner FROM predictions UNION SELECT learner FROM settings`,
		func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			names = append(names, name)
			return err
		}); err != nil {
		return err
	}
	learners := journal.NewFolds(logs, journal.Learner, folding)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(carriers)
	for _, name := range names {
		group.Go(func() error {
			return fault.Try(func() error {
				f, err := tables(ctx, db, name)
				if err != nil {
					return err
				}
				return learners.Use(ctx, name, func(l *learner) error {
					_, err := add(ctx, l, f, latest(f), func(*merge) error { return nil })
					return err
				})
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return db.Carried(store.LearnersInLogs)
}

// tables reads a learner's data from the tables that preceded the logs.
func tables(ctx context.Context, db *store.DB, name string) (f saved.File, err error) {
	for _, table := range []struct {
		query string
		row   func(scan func(...any) error) (saved.Entry, error)
	}{
		{"SELECT section, first_at, last_at, times FROM visits WHERE learner = ?", visitRow},
		{"SELECT id, at, kind, item, credit, detail FROM answers WHERE learner = ?", answerRow},
		{"SELECT id, at, card, grade FROM reviews WHERE learner = ?", reviewRow},
		{"SELECT id, at, confidence, hit, score FROM predictions WHERE learner = ?", predictionRow},
		{"SELECT name, value FROM settings WHERE learner = ?", settingRow},
	} {
		if err := query(ctx, db, table.query, func(scan func(...any) error) error {
			e, err := table.row(scan)
			if err == nil && saved.Sound(e) { // invalid entries remain only in the copy of the old database
				f.Put(e)
			}
			return err
		}, name); err != nil {
			return f, err
		}
	}
	f.Sort()
	return f, nil
}

func visitRow(scan func(...any) error) (saved.Entry, error) {
	var v saved.Visit
	var first, last int64
	err := scan(&v.Section, &first, &last, &v.Times)
	v.First, v.Last = moment(first), moment(last)
	return v, err
}

func answerRow(scan func(...any) error) (saved.Entry, error) {
	var a saved.Answered
	var at int64
	err := scan(&a.ID, &at, &a.Kind, &a.Item, &a.Credit, &a.Detail)
	a.At = moment(at)
	return a, err
}

func reviewRow(scan func(...any) error) (saved.Entry, error) {
	var id, card string
	var at int64
	var grade fsrs.Grade
	err := scan(&id, &at, &card, &grade)
	return saved.Review{ID: id, At: moment(at), Card: card, Grade: grade}, err
}

func predictionRow(scan func(...any) error) (saved.Entry, error) {
	var p saved.Predicted
	var at int64
	err := scan(&p.ID, &at, &p.Confidence, &p.Right, &p.Score)
	p.At = moment(at)
	return p, err
}

func settingRow(scan func(...any) error) (saved.Entry, error) {
	var x saved.Setting
	err := scan(&x.Name, &x.Value)
	return x, err
}

// latest returns the time of the newest entry of a file.
func latest(f saved.File) (at time.Time) {
	note := func(t time.Time) {
		if t.After(at) {
			at = t
		}
	}
	for _, v := range f.Visits {
		note(v.Last)
	}
	for _, a := range f.Answers {
		note(a.At)
	}
	for _, r := range f.Reviews {
		note(r.At)
	}
	for _, p := range f.Predictions {
		note(p.At)
	}
	return at
}

// query calls f for every row of a query, in a transaction of its own.
func query(
	ctx context.Context, db *store.DB, text string, f func(scan func(...any) error) error, args ...any,
) error {
	return db.Read(ctx, func(tx *sql.Tx) error { return store.EachRow(ctx, tx, text, f, args...) })
}
