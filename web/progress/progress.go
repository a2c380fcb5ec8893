// Package progress keeps what a learner has done: sections seen, questions
// answered, cards reviewed, tokens predicted. A learner is the anonymous id of
// a signed cookie; nothing else is known about them.
//
// Three kinds of things are kept. Events (answers, reviews, predictions) are
// never changed; each carries a key made by whoever asks to keep it, so that a
// request sent again after a lost answer counts once. Visits are summed up.
// Where a card stands follows from its reviews by lessons/fsrs alone; it is
// kept beside them so that the deck need not work through every review, and
// worked out anew after an import.
//
// What [Store.Map], [Store.Cards] and [Store.Calibration] say is computed from
// these when someone looks. The course decides what there is: entries of
// parts it no longer has are kept and exported, and count nowhere.
//
// A method that returns nil has kept its entry for good, see web/store.
// Everything of a learner leaves as one JSON file ([Store.Export]), comes back
// by [Store.Import] and goes by [Store.Delete].
package progress

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/fsrs"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

// Store keeps the progress of all learners. Its methods may be called from any
// goroutine.
type Store struct {
	db        *store.DB
	course    *lessons.Course
	now       func() time.Time
	schedule  fsrs.Params
	sections  map[string]bool // "slug#id"
	questions map[string]bool
	cards     map[string]bool
	most      int // saved.MaxEntries; tests make do with fewer
}

// New returns the progress kept in db for a course. now is the clock; tests
// bring their own.
func New(db *store.DB, course *lessons.Course, now func() time.Time) *Store {
	s := &Store{
		db: db, course: course, now: now, schedule: fsrs.Default(),
		sections: map[string]bool{}, questions: map[string]bool{}, cards: map[string]bool{}, most: saved.MaxEntries,
	}
	for _, l := range course.Lessons {
		for _, x := range l.Sections {
			s.sections[l.Slug+"#"+x.ID] = true
		}
	}
	for _, q := range course.Questions {
		s.questions[q.ID] = true
	}
	for _, c := range course.Cards {
		s.cards[c.ID] = true
	}
	return s
}

// time is now as it is kept: UTC, in whole milliseconds.
func (s *Store) time() time.Time { return moment(s.now().UnixMilli()) }

func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// Visit notes that a section, "slug#id", was on the screen.
func (s *Store) Visit(ctx context.Context, learner, section string) error {
	if !s.sections[section] {
		return saved.Refuse("there is no section %.200q", section)
	}
	return s.keep(ctx, learner, func(tx *sql.Tx, now int64) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO visits (learner, section, first_at, last_at, times) VALUES (?, ?, ?, ?, 1)
			ON CONFLICT DO UPDATE SET last_at = max(last_at, excluded.last_at), times = times + 1`, learner, section, now, now)
		return err
	})
}

// Answer keeps what a learner made of a question or an exercise. The same
// a.ID again keeps nothing and is not an error.
func (s *Store) Answer(ctx context.Context, learner string, a Answer) error {
	if err := a.Check(); err != nil {
		return err
	}
	if a.Kind != Drill && !s.questions[a.Item] {
		return saved.Refuse("there is no question %.200q", a.Item)
	}
	return s.keep(ctx, learner, func(tx *sql.Tx, now int64) error {
		if ok, err := s.fresh(ctx, tx, "answers", learner, a.ID); !ok {
			return err
		}
		_, err := tx.ExecContext(ctx, insertAnswer, learner, a.ID, now, a.Kind, a.Item, a.Credit, a.Detail)
		return err
	})
}

const insertAnswer = `INSERT INTO answers (learner, id, at, kind, item, credit, detail) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

// Predict keeps a guess of the next token, and tells whether it did. The same
// p.ID again keeps nothing and is not an error: the first guess is the one that
// counts.
func (s *Store) Predict(ctx context.Context, learner string, p Prediction) (kept bool, err error) {
	if err := p.Check(); err != nil {
		return false, err
	}
	err = s.keep(ctx, learner, func(tx *sql.Tx, now int64) error {
		var err error
		if kept, err = s.fresh(ctx, tx, "predictions", learner, p.ID); !kept {
			return err
		}
		_, err = tx.ExecContext(ctx, insertPrediction, learner, p.ID, now, p.Confidence, p.Right, p.Score)
		return err
	})
	return kept && err == nil, err
}

const insertPrediction = `INSERT INTO predictions (learner, id, at, confidence, hit, score) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

// Setting returns a learner's own setting, "" where there is none.
func (s *Store) Setting(ctx context.Context, learner, name string) (value string, err error) {
	err = s.look(ctx, learner, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(
			ctx, "SELECT value FROM settings WHERE learner = ? AND name = ?", learner, name,
		).Scan(&value)
		if err == sql.ErrNoRows {
			return nil
		}
		return err
	})
	return value, err
}

// SetSetting keeps a learner's own setting; "" takes it away.
func (s *Store) SetSetting(ctx context.Context, learner, name, value string) error {
	if !saved.Key(name) {
		return saved.Refuse("name %s", saved.WantKey)
	}
	if !saved.Plain(value, saved.MaxSetting) {
		return saved.Refuse("value must be text of at most %d bytes without control characters", saved.MaxSetting)
	}
	return s.keep(ctx, learner, func(tx *sql.Tx, _ int64) error {
		if value == "" {
			_, err := tx.ExecContext(ctx, "DELETE FROM settings WHERE learner = ? AND name = ?", learner, name)
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO settings (learner, name, value) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET value = excluded.value`, learner, name, value)
		if err != nil {
			return err
		}
		return room(ctx, tx, "settings", learner, saved.MaxSettings)
	})
}

// noticeDays is how long a notice is shown to whoever has not seen it.
const noticeDays = 30

// Notices returns what a learner should be told about the data itself and has
// not been told yet, and takes it as told.
func (s *Store) Notices(ctx context.Context, learner string) (list []Notice, err error) {
	err = s.keep(ctx, learner, func(tx *sql.Tx, now int64) error {
		list = nil
		var ids []int64
		err := each(ctx, tx, `SELECT id, at, text FROM notices WHERE at > ? AND id NOT IN
			(SELECT notice FROM notices_seen WHERE learner = ?) ORDER BY id`, func(scan func(...any) error) error {
			var id, at int64
			var n Notice
			err := scan(&id, &at, &n.Text)
			n.At = moment(at)
			ids, list = append(ids, id), append(list, n)
			return err
		}, now-noticeDays*24*time.Hour.Milliseconds(), learner)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := tx.ExecContext(
				ctx, "INSERT INTO notices_seen (learner, notice) VALUES (?, ?)", learner, id,
			); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// tables are all with something of a learner's.
var tables = []string{"visits", "answers", "reviews", "cards", "predictions", "settings", "notices_seen"}

// Delete deletes everything of a learner, from the file as well.
func (s *Store) Delete(ctx context.Context, learner string) error {
	err := s.keep(ctx, learner, func(tx *sql.Tx, _ int64) error {
		for _, t := range tables {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+t+" WHERE learner = ?", learner); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		s.db.Scrub(ctx)
	}
	return err
}

// keep runs f in a transaction that writes, with the time in milliseconds.
func (s *Store) keep(ctx context.Context, learner string, f func(tx *sql.Tx, now int64) error) error {
	if !saved.Name(learner) {
		return saved.Refuse("learner %s", saved.WantName)
	}
	now := s.time().UnixMilli()
	return s.db.Write(ctx, func(tx *sql.Tx) error { return f(tx, now) })
}

func (s *Store) look(ctx context.Context, learner string, f func(*sql.Tx) error) error {
	if !saved.Name(learner) {
		return saved.Refuse("learner %s", saved.WantName)
	}
	return s.db.Read(ctx, f)
}

// fresh tells whether an entry has yet to be kept; it is an [ErrFull] where
// there is no room for it.
func (s *Store) fresh(ctx context.Context, tx *sql.Tx, table, learner, id string) (bool, error) {
	var known bool
	err := tx.QueryRowContext(
		ctx, "SELECT EXISTS (SELECT 1 FROM "+table+" WHERE learner = ? AND id = ?)", learner, id,
	).Scan(&known)
	if err != nil || known {
		return false, err
	}
	err = room(ctx, tx, table, learner, s.most-1)
	return err == nil, err
}

// room is an [ErrFull] where a learner has more than most rows of a table.
func room(ctx context.Context, tx *sql.Tx, table, learner string, most int) error {
	var n int
	if err := tx.QueryRowContext(
		ctx, "SELECT count(*) FROM "+table+" WHERE learner = ?", learner,
	).Scan(&n); err != nil {
		return err
	}
	if n > most {
		return fmt.Errorf("%w %s: what was kept stays; export it and delete it to begin anew", ErrFull, table)
	}
	return nil
}

// each calls f for every row of a query.
func each(ctx context.Context, tx *sql.Tx, query string, f func(scan func(...any) error) error, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// ratio is a / b, and 0 where b is.
func ratio(a float64, b int) float64 {
	if b == 0 || math.IsNaN(a) {
		return 0
	}
	return a / float64(b)
}
