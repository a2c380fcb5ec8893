package progress

import (
	"context"
	"time"

	"github.com/tokenbytoken/viz/lessons/fsrs"
)

// A Standing describes a learner's knowledge of a question at the beginning of a day.
type Standing int

// The standings of a question.
const (
	Unanswered Standing = iota
	Due                 // it is time to answer it again
	Known               // answered, and not due today
)

// quizSchedule computes when a question is next due. It has no steps shorter than a day.
var quizSchedule = func() fsrs.Params {
	p := fsrs.Default()
	p.Learning, p.Relearning = nil, nil
	return p
}()

// Standings returns the day, as a number of days since 1970 (UTC), and the standing of every
// question of the course. Answers that the learner gave in the quiz on this day do not count, so a
// quiz that is chosen from the standings stays the same while it is being answered.
func (s *Store) Standings(ctx context.Context, learnerID string) (day int, list map[string]Standing, err error) {
	today := s.now().UTC().Truncate(24 * time.Hour)
	list = map[string]Standing{}
	err = s.glance(ctx, learnerID, func(st *state) {
		for _, q := range s.course.Questions {
			list[q.ID] = standing(st.Firsts[q.ID], st.Credit[q.ID], today)
		}
	})
	return int(today.Unix() / int64(24*time.Hour/time.Second)), list, err
}

// standing returns the standing of a question at the beginning of a day, given its oldest and its
// newest answer. A question whose older answers are no longer known counts as due on the day of its
// newest answer.
func standing(first *firstAnswer, newest *credit, today time.Time) Standing {
	switch {
	case first == nil || newest == nil:
		return Unanswered
	case newest.Quiz && !moment(newest.At).Before(today):
		if !moment(first.At).Before(today) {
			return Unanswered
		}
		return Due
	}
	card := quizSchedule.Next(fsrs.Card{}, moment(first.At), gradeOf(first.Credit))
	if newest.ID != first.ID {
		card = quizSchedule.Next(card, moment(newest.At), gradeOf(newest.Credit))
	}
	if card.Due.Before(today.Add(24 * time.Hour)) {
		return Due
	}
	return Known
}

// gradeOf converts an answer's credit into the grade of a review: good if nothing was missing, hard
// from half of the credit.
func gradeOf(credit float64) fsrs.Grade {
	switch {
	case credit >= 1:
		return fsrs.Good
	case credit >= 0.5:
		return fsrs.Hard
	}
	return fsrs.Again
}
