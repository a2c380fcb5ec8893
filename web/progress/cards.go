package progress

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/lessons/fsrs"
	"github.com/tokenbytoken/viz/web/progress/saved"
)

// Review keeps a review of a card and returns where the card stands after it.
// When it returns nil the review outlives the end of the process at any
// moment. The same id again counts once and returns the card as it stands.
func (s *Store) Review(ctx context.Context, learner, card string, g fsrs.Grade, id string) (CardState, error) {
	switch {
	case !s.cards[card]:
		return CardState{}, saved.Refuse("there is no card %.200q", card)
	case g < fsrs.Again || g > fsrs.Easy:
		return CardState{}, saved.Refuse("grade must be again, hard, good or easy")
	case !saved.Key(id):
		return CardState{}, saved.Refuse("id %s", saved.WantKey)
	}
	var after CardState
	err := s.keep(ctx, learner, func(tx *sql.Tx, ms int64) error {
		c, err := cardOf(ctx, tx, learner, card)
		if err != nil {
			return err
		}
		now := moment(ms)
		ok, err := s.fresh(ctx, tx, "reviews", learner, id)
		if err != nil {
			return err
		}
		if !ok {
			after = s.stand(card, c, now)
			return sameCard(ctx, tx, learner, card, id)
		}
		// The log is in order of time, even where the clock was set back.
		if !now.After(c.Last) {
			now = c.Last.Add(time.Millisecond)
		}
		if _, err := tx.ExecContext(ctx, insertReview, learner, id, now.UnixMilli(), card, int(g)); err != nil {
			return err
		}
		c = s.schedule.Next(c, now, g)
		after = s.stand(card, c, now)
		return putCard(ctx, tx, learner, card, c)
	})
	if err != nil {
		return CardState{}, err
	}
	return after, nil
}

const insertReview = `INSERT INTO reviews (learner, id, at, card, grade) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

// sameCard refuses a key that was used for a review of another card.
func sameCard(ctx context.Context, tx *sql.Tx, learner, card, id string) error {
	var earlier string
	err := tx.QueryRowContext(ctx, "SELECT card FROM reviews WHERE learner = ? AND id = ?", learner, id).Scan(&earlier)
	if err == nil && earlier != card {
		return saved.Refuse("id %s stands for a review of the card %s", id, earlier)
	}
	return err
}

// Cards returns all cards as they stand now.
func (s *Store) Cards(ctx context.Context, learner string) (Deck, error) {
	var known map[string]fsrs.Card
	err := s.look(ctx, learner, func(tx *sql.Tx) (err error) {
		known, err = cardsOf(ctx, tx, learner)
		return err
	})
	if err != nil {
		return Deck{}, err
	}
	return s.deck(known, s.time()), nil
}

func (s *Store) deck(known map[string]fsrs.Card, now time.Time) Deck {
	d := Deck{Cards: make([]CardState, 0, len(s.course.Cards))}
	for _, c := range s.course.Cards {
		d.Cards = append(d.Cards, s.stand(c.ID, known[c.ID], now))
	}
	var due, first *CardState // of those due, and of the new ones
	for i := range d.Cards {
		c := &d.Cards[i]
		switch {
		case c.New:
			d.New++
			first = cmp.Or(first, c)
		case c.Due.After(now):
			d.Later++
			if d.NextDue.IsZero() || c.Due.Before(d.NextDue) {
				d.NextDue = c.Due
			}
		default:
			d.Due++
			if due == nil || c.Due.Before(due.Due) {
				due = c
			}
		}
	}
	d.Next = cmp.Or(due, first)
	return d
}

// stand says where a card stands. c is the zero Card where it was never reviewed.
func (s *Store) stand(id string, c fsrs.Card, now time.Time) CardState {
	x := CardState{
		Card: id, New: c.State == fsrs.New, Due: c.Due, Last: c.Last, Reviews: c.Reps, Lapses: c.Lapses,
		Stability: c.Stability, Difficulty: c.Difficulty, Recall: s.schedule.Retrievability(c, now),
		Strong: strong(c),
	}
	for i, next := range s.schedule.Preview(c, now) {
		x.Waits[i] = next.Due.Sub(now)
	}
	return x
}

func strong(c fsrs.Card) bool { return c.Stability >= StrongDays }

const cardColumns = "due_at, last_at, stability, difficulty, reps, lapses, state, step, interval"

func scanCard(scan func(...any) error, before ...any) (c fsrs.Card, err error) {
	var due, last int64
	err = scan(
		append(before, &due, &last, &c.Stability, &c.Difficulty, &c.Reps, &c.Lapses, &c.State, &c.Step, &c.Interval)...,
	)
	c.Due, c.Last = moment(due), moment(last)
	return c, err
}

// cardOf reads a card, the zero one where it was never reviewed.
func cardOf(ctx context.Context, tx *sql.Tx, learner, card string) (fsrs.Card, error) {
	c, err := scanCard(
		tx.QueryRowContext(ctx, "SELECT "+cardColumns+" FROM cards WHERE learner = ? AND card = ?", learner, card).Scan,
	)
	if errors.Is(err, sql.ErrNoRows) {
		return fsrs.Card{}, nil
	}
	return c, err
}

func cardsOf(ctx context.Context, tx *sql.Tx, learner string) (map[string]fsrs.Card, error) {
	known := map[string]fsrs.Card{}
	err := each(ctx, tx, "SELECT card, "+cardColumns+" FROM cards WHERE learner = ?", func(scan func(...any) error) error {
		var id string
		c, err := scanCard(scan, &id)
		known[id] = c
		return err
	}, learner)
	return known, err
}

func putCard(ctx context.Context, tx *sql.Tx, learner, card string, c fsrs.Card) error {
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO cards (learner, card, "+cardColumns+") VALUES (?, ?, ?, "+
		"?, ?, ?, ?, ?, ?, ?, ?)",
		learner, card, c.Due.UnixMilli(), c.Last.UnixMilli(), c.Stability, c.Difficulty, c.Reps, c.Lapses, int(c.State), c.Step, c.Interval)
	return err
}

// rebuild works out all cards of a learner from their reviews.
func (s *Store) rebuild(ctx context.Context, tx *sql.Tx, learner string) error {
	known := map[string]fsrs.Card{}
	err := each(ctx, tx, "SELECT card, at, grade FROM reviews WHERE learner = ? ORDER BY at, id", func(scan func(...any) error) error {
		var card string
		var at int64
		var g fsrs.Grade
		if err := scan(&card, &at, &g); err != nil {
			return err
		}
		known[card] = s.schedule.Next(known[card], moment(at), g)
		return nil
	}, learner)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM cards WHERE learner = ?", learner); err != nil {
		return err
	}
	ids := make([]string, 0, len(known))
	for id := range known {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if err := putCard(ctx, tx, learner, id, known[id]); err != nil {
			return err
		}
	}
	return nil
}
