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

// day is the length of a day. Days begin at midnight UTC.
const day = 24 * time.Hour

// Standings returns today's date, as a number of days since 1970 (UTC), and the standing of every
// question of the course. Today's answers do not count, wherever they were given, so a quiz that is
// chosen from the standings stays the same all day.
func (s *Store) Standings(ctx context.Context, learnerID string) (date int, list map[string]Standing, err error) {
	today := s.now().UTC().Truncate(day)
	list = map[string]Standing{}
	err = s.glance(ctx, learnerID, func(st *state) {
		for _, q := range s.course.Questions {
			list[q.ID] = standing(st.Firsts[q.ID], st.before(q.ID, today), today)
		}
	})
	return int(today.Unix() / int64(day/time.Second)), list, err
}

// before returns the newest known answer to a question from before a day, or nil.
func (s *state) before(question string, today time.Time) *credit {
	list := []*credit{s.Credit[question], s.Earlier[question]}
	if first := s.Firsts[question]; first != nil {
		list = append(list, &first.credit)
	}
	for _, c := range list {
		if c != nil && moment(c.At).Before(today) {
			return c
		}
	}
	return nil
}

// standing returns the standing of a question at the beginning of a day, given its oldest answer and
// the newest one from before that day.
func standing(first *firstAnswer, newest *credit, today time.Time) Standing {
	if first == nil || newest == nil {
		return Unanswered
	}
	card := quizSchedule.Next(fsrs.Card{}, moment(first.At), gradeOf(first.Credit))
	if newest.ID != first.ID {
		card = quizSchedule.Next(card, moment(newest.At), gradeOf(newest.Credit))
	}
	if card.Due.Before(today.Add(day)) {
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
