package progress

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/tokenbytoken/viz/web/progress/saved"
)

// Import adds what an export holds to what is kept of a learner. The file is
// taken whole or, with an [ErrInput] that names the place, not at all; with an
// [ErrFull] there would be too much.
//
// The two are merged so that nothing is lost, and importing a file twice is as
// good as once: an answer, review or prediction is added unless its id is
// known; a visit takes the earlier first, the later last and the larger number
// of times; a setting that is there stays. Then all cards are worked out from
// all reviews in the order of their times.
func (s *Store) Import(ctx context.Context, learner string, data []byte) (Imported, error) {
	f, err := saved.Parse(data)
	if err != nil {
		return Imported{}, err
	}
	var added Imported
	err = s.keep(ctx, learner, func(tx *sql.Tx, _ int64) error {
		added = Imported{}
		if err := merge(ctx, tx, learner, f, &added); err != nil {
			return err
		}
		for _, t := range []string{"visits", "answers", "reviews", "predictions"} {
			if err := room(ctx, tx, t, learner, s.most); err != nil {
				return err
			}
		}
		if err := room(ctx, tx, "settings", learner, saved.MaxSettings); err != nil {
			return err
		}
		return s.rebuild(ctx, tx, learner)
	})
	if err != nil {
		return Imported{}, err
	}
	return added, nil
}

// merge adds what is in a file and counts it.
func merge(ctx context.Context, tx *sql.Tx, learner string, f saved.File, added *Imported) error {
	for _, list := range []struct {
		added *int
		query string
		n     int
		row   func(int) []any
	}{
		{&added.Visits, "INSERT INTO visits (learner, section, first_at, last_at, times) VALUES (?, ?, ?, ?, ?) " +
			"ON CONFLICT DO NOTHING", len(f.Visits), func(i int) []any {
			v := f.Visits[i]
			return []any{learner, v.Section, v.First.UnixMilli(), v.Last.UnixMilli(), v.Times}
		}},
		{new(int), `UPDATE visits SET first_at = min(first_at, ?3), last_at = max(last_at, ?4), times = max(times, ?5)
			WHERE learner = ?1 AND section = ?2`, len(f.Visits), func(i int) []any {
			v := f.Visits[i]
			return []any{learner, v.Section, v.First.UnixMilli(), v.Last.UnixMilli(), v.Times}
		}},
		{&added.Answers, insertAnswer, len(f.Answers), func(i int) []any {
			a := f.Answers[i]
			return []any{learner, a.ID, a.At.UnixMilli(), a.Kind, a.Item, a.Credit, a.Detail}
		}},
		{&added.Reviews, insertReview, len(f.Reviews), func(i int) []any {
			r := f.Reviews[i]
			return []any{learner, r.ID, r.At.UnixMilli(), r.Card, int(r.Grade)}
		}},
		{&added.Predictions, insertPrediction, len(f.Predictions), func(i int) []any {
			p := f.Predictions[i]
			return []any{learner, p.ID, p.At.UnixMilli(), p.Confidence, p.Right, p.Score}
		}},
		{&added.Settings, "INSERT INTO settings (learner, name, value) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", len(f.Settings), func(i int) []any {
			return []any{learner, f.Settings[i].Name, f.Settings[i].Value}
		}},
	} {
		n, err := insert(ctx, tx, list.query, list.n, list.row)
		if err != nil {
			return err
		}
		*list.added = n
	}
	return nil
}

// insert runs a statement for n rows and returns how many rows it changed.
func insert(ctx context.Context, tx *sql.Tx, query string, n int, row func(int) []any) (changed int, err error) {
	statement, err := tx.PrepareContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer statement.Close()
	for i := range n {
		result, err := statement.ExecContext(ctx, row(i)...)
		if err != nil {
			return 0, fmt.Errorf("entry %d: %w", i, err)
		}
		rows, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		changed += int(rows)
	}
	return changed, nil
}
