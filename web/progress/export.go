package progress

import (
	"context"
	"database/sql"

	"github.com/tokenbytoken/viz/web/progress/saved"
)

// Export returns everything that is kept of a learner as one JSON file that
// [Store.Import] takes.
func (s *Store) Export(ctx context.Context, learner string) ([]byte, error) {
	f := saved.File{Exported: s.time()}
	if err := s.look(ctx, learner, func(tx *sql.Tx) error { return read(ctx, tx, learner, &f) }); err != nil {
		return nil, err
	}
	return f.Encode()
}

// read reads all entries of a learner, in the order of a file.
func read(ctx context.Context, tx *sql.Tx, learner string, to *saved.File) error {
	f := rows{to}
	for _, table := range []struct {
		query string
		row   func(scan func(...any) error) error
	}{
		{"SELECT section, first_at, last_at, times FROM visits WHERE learner = ? ORDER BY section", f.visit},
		{"SELECT id, at, kind, item, credit, detail FROM answers WHERE learner = ? ORDER BY at, id", f.answer},
		{"SELECT id, at, card, grade FROM reviews WHERE learner = ? ORDER BY at, id", f.review},
		{"SELECT id, at, confidence, hit, score FROM predictions WHERE learner = ? ORDER BY at, id", f.prediction},
		{"SELECT name, value FROM settings WHERE learner = ? ORDER BY name", f.setting},
	} {
		if err := each(ctx, tx, table.query, table.row, learner); err != nil {
			return err
		}
	}
	return nil
}

// rows appends what is read to a file, one row at a time.
type rows struct{ *saved.File }

func (f rows) visit(scan func(...any) error) error {
	var v saved.Visit
	var first, last int64
	err := scan(&v.Section, &first, &last, &v.Times)
	v.First, v.Last = moment(first), moment(last)
	f.Visits = append(f.Visits, v)
	return err
}

func (f rows) answer(scan func(...any) error) error {
	var a saved.Answered
	var at int64
	err := scan(&a.ID, &at, &a.Kind, &a.Item, &a.Credit, &a.Detail)
	a.At = moment(at)
	f.Answers = append(f.Answers, a)
	return err
}

func (f rows) review(scan func(...any) error) error {
	var r saved.Review
	var at int64
	err := scan(&r.ID, &at, &r.Card, &r.Grade)
	r.At = moment(at)
	f.Reviews = append(f.Reviews, r)
	return err
}

func (f rows) prediction(scan func(...any) error) error {
	var p saved.Predicted
	var at int64
	err := scan(&p.ID, &at, &p.Confidence, &p.Right, &p.Score)
	p.At = moment(at)
	f.Predictions = append(f.Predictions, p)
	return err
}

func (f rows) setting(scan func(...any) error) error {
	var x saved.Setting
	err := scan(&x.Name, &x.Value)
	f.Settings = append(f.Settings, x)
	return err
}
