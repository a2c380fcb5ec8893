package progress

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/progress/saved"
)

// A Belief is a learner's first answer to a course question, together with their newest result.
type Belief struct {
	Question   string  // the question's id
	First, Now float64 // the credit of the first and of the newest answer, 0 to 1
	Chose      int     // the choice in the first answer, starting at 0; -1 if it was not a choice
}

// A firstAnswer is the oldest answer to a question.
type firstAnswer struct {
	credit
	Detail string `json:"detail"`
}

// Beliefs returns a learner's answers to the course's questions, in the order of the quiz.
func (s *Store) Beliefs(ctx context.Context, learnerID string) (list []Belief, err error) {
	err = s.glance(ctx, learnerID, func(st *state) {
		for _, q := range s.course.Questions {
			first, now := st.Firsts[q.ID], st.Credit[q.ID]
			if first == nil || now == nil {
				continue
			}
			b := Belief{Question: q.ID, First: first.Credit, Now: now.Credit, Chose: -1}
			if n, ok := chosen(first.Detail, len(q.Choices)); ok {
				b.Chose = n
			}
			list = append(list, b)
		}
	})
	return list, err
}

// A Pick is the first choice that a learner made when a choice question was asked.
type Pick struct {
	Question string // the question's id
	At       time.Time
	Choice   int  // starting at 0
	Newest   bool // whether the learner has been asked more than once, and this is the newest pick
}

// Picks returns each choice question's oldest pick, followed by its newest one if it is another, in
// the order of the quiz. Further choices, which a learner makes once a wrong one is explained, do not
// count.
func (s *Store) Picks(ctx context.Context, learnerID string) (list []Pick, err error) {
	var f saved.File
	if err := s.use(ctx, learnerID, func(l *learner) error { return read(ctx, l, &f) }); err != nil {
		return nil, err
	}
	for _, q := range s.course.Questions {
		var of []Pick
		for _, a := range f.Answers { // by time
			if n, ok := chosen(a.Detail, len(q.Choices)); ok && a.Item == q.ID && strings.HasSuffix(a.ID, firstTry) {
				of = append(of, Pick{Question: q.ID, At: a.At, Choice: n})
			}
		}
		if len(of) > 0 {
			list = append(list, of[0])
		}
		if len(of) > 1 {
			last := of[len(of)-1]
			last.Newest = true
			list = append(list, last)
		}
	}
	return list, nil
}

// firstTry ends the ids of answers that are the first choice of an attempt.
const firstTry = ".1"

// A Guess is a learner's first answer to the question of an experiment in a lesson. Chose and Found
// are keys of choices: the learner's, and the one that the experiment confirmed.
type Guess struct{ Experiment, Chose, Found string }

// Guess saves a guess. Later guesses of the same experiment are not saved, which is not an error.
// A guess is saved like an answer to a question, so that older programs can read it.
func (s *Store) Guess(ctx context.Context, learnerID string, g Guess) error {
	choices := s.asking[g.Experiment].Choices()
	if !slices.Contains(choices, g.Chose) || !slices.Contains(choices, g.Found) {
		return saved.Refuse("unknown guess %.200q", g)
	}
	return s.keepGuess(ctx, learnerID, g)
}

// NoGuess saves that a learner had no idea before an experiment. Having seen the result, they can no
// longer guess: later guesses of the same experiment are not saved. [Store.Guesses] does not list it.
func (s *Store) NoGuess(ctx context.Context, learnerID, experiment, found string) error {
	if !slices.Contains(s.asking[experiment].Choices(), found) {
		return saved.Refuse("unknown result %.200q of %.200q", found, experiment)
	}
	return s.keepGuess(ctx, learnerID, Guess{experiment, lessons.NoGuess, found})
}

func (s *Store) keepGuess(ctx context.Context, learnerID string, g Guess) error {
	a := Answer{ID: "guess-" + g.Experiment, Item: g.Experiment, Kind: Check, Detail: g.Chose + " " + g.Found}
	if g.Chose == g.Found {
		a.Credit = 1
	}
	if err := a.Check(); err != nil {
		return err
	}
	return s.use(ctx, learnerID, func(l *learner) error {
		_, err := s.keepNew(ctx, l, a.ID, saved.Answered{At: s.time(), Answer: a})
		return err
	})
}

// Guesses returns a learner's guesses, in the order of the lessons.
func (s *Store) Guesses(ctx context.Context, learnerID string) (list []Guess, err error) {
	err = s.glance(ctx, learnerID, func(st *state) {
		for _, w := range s.course.Experiments() {
			if first := st.Firsts[w.ID]; first != nil && w.Ask != "" {
				chose, found, _ := strings.Cut(first.Detail, " ")
				// An import may have others.
				if slices.Contains(w.Choices(), chose) && slices.Contains(w.Choices(), found) {
					list = append(list, Guess{w.ID, chose, found})
				}
			}
		}
	})
	return list, err
}
