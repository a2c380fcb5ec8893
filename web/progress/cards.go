package progress

import (
	"cmp"
	"context"
	"time"

	"github.com/tokenbytoken/viz/lessons/fsrs"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
)

// Review saves a review of a card and returns the card's new state. If the error is nil, the review
// is on the disk. If Review is called again with the same id, it saves nothing and returns the
// current state.
func (s *Store) Review(ctx context.Context, learnerID, card string, g fsrs.Grade, id string) (CardState, error) {
	switch {
	case !s.cards[card]:
		return CardState{}, saved.Refuse("unknown card %.200q", card)
	case g < fsrs.Again || g > fsrs.Easy:
		return CardState{}, saved.Refuse("grade must be again, hard, good or easy")
	case !saved.Key(id):
		return CardState{}, saved.Refuse("id %s", saved.WantKey)
	}
	var after CardState
	err := s.use(ctx, learnerID, func(l *learner) error {
		// Keep reviews in chronological order, even if the clock was set back.
		now := s.time()
		if last := l.State().card(card).Last; !now.After(last) {
			now = last.Add(time.Millisecond)
		}
		fresh, err := s.keepNew(ctx, l, id, saved.Review{ID: id, At: now, Card: card, Grade: g})
		if err != nil {
			return err
		}
		if !fresh {
			now = s.time()
			err = sameCard(ctx, l, card, id)
		}
		after = s.stand(card, l.State().card(card), now)
		return err
	})
	if err != nil {
		return CardState{}, err
	}
	return after, nil
}

// sameCard returns an error if the id of a review has already been used for another card.
func sameCard(ctx context.Context, l *learner, card, id string) error {
	r, known, err := l.Find(ctx, journal.Key{Type: saved.TypeReview, ID: id})
	if err != nil || !known {
		return err
	}
	e, err := saved.Read(r.Type, r.Data)
	if earlier, ok := e.(saved.Review); ok && earlier.Card != card {
		return saved.Refuse("id %s already belongs to a review of card %s", id, earlier.Card)
	}
	return err
}

// Cards returns the current state of all cards.
func (s *Store) Cards(ctx context.Context, learnerID string) (d Deck, err error) {
	err = s.glance(ctx, learnerID, func(st *state) { d = s.deck(st, s.time()) })
	return d, err
}

func (s *Store) deck(st *state, now time.Time) Deck {
	d := Deck{Cards: make([]CardState, 0, len(s.course.Cards))}
	for _, c := range s.course.Cards {
		d.Cards = append(d.Cards, s.stand(c.ID, st.card(c.ID), now))
	}
	var due, first *CardState // the first due card, and the first new card
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

// stand returns the state of a card. If the card has never been reviewed, c is the zero Card.
func (s *Store) stand(id string, c fsrs.Card, now time.Time) CardState {
	x := CardState{
		Card: id, New: c.State == fsrs.New, Due: c.Due, Last: c.Last, Reviews: c.Reps, Lapses: c.Lapses,
		Stability: c.Stability, Difficulty: c.Difficulty, Recall: schedule.Retrievability(c, now),
		Strong: strong(c),
	}
	for i, next := range schedule.Preview(c, now) {
		x.Waits[i] = next.Due.Sub(now)
	}
	return x
}

func strong(c fsrs.Card) bool { return c.Stability >= StrongDays }
