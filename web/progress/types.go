package progress

import (
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

// codeFull is the code of [ErrFull].
const codeFull terms.Code = "learner_full"

// Errors that callers can distinguish. Their texts are for users.
var (
	// ErrInput is returned for invalid input. The message says which part is invalid and what is
	// allowed. Nothing was saved.
	ErrInput = saved.ErrInput
	// ErrFull is returned if a learner already has as many entries of a kind as allowed; see
	// [saved.MaxEntries].
	ErrFull error = &terms.Refusal{Code: codeFull}
)

// Answer is an answer to a question or an exercise. Prediction is one guess of the next token.
type (
	Answer     = saved.Answer
	Prediction = saved.Prediction
)

// The kinds of [Answer], and the maximum length of an import, in bytes.
const (
	Check     = saved.Check
	Quiz      = saved.Quiz
	Drill     = saved.Drill
	MaxImport = saved.MaxFile
)

// CardState is the state of a card for one learner.
type CardState struct {
	// Card is the card's id.
	Card string
	// New is true until the first review. Until then, the fields below are zero, except for Waits.
	New bool
	// Due is the time at which the card is due. Last is the time of the last review.
	Due, Last time.Time
	// Reviews is the total number of reviews. Lapses is the number of reviews at which the learner
	// had forgotten a card that they once knew.
	Reviews, Lapses int
	// Stability is the number of days after which the chance of recall is 90%.
	Stability float64
	// Difficulty is between 1 and 10.
	Difficulty float64
	// Recall is the probability that the learner would recall the card now.
	Recall float64
	// Strong means that the stability is at least [StrongDays].
	Strong bool
	// Waits are the times until the card would be due again after each grade: again, hard,
	// good, easy.
	Waits [4]time.Duration
}

// StrongDays is the lowest stability, in days, of a card that counts as strong. The learner
// then remembers the card for about three weeks. Anki calls such cards mature.
const StrongDays = 21

// Deck is the state of all cards for one learner at one point in time.
type Deck struct {
	// Due, New and Later are the numbers of cards that are due now, have never been reviewed, and
	// are due later. Their sum is the number of cards in the course.
	Due, New, Later int
	// Next is the card to show: the card that has been due for the longest time, or the first new
	// card in course order, or nil.
	Next *CardState
	// NextDue is the time at which the first of the later cards is due, or zero if there are
	// none.
	NextDue time.Time
	// Cards contains all cards in course order.
	Cards []CardState
}

// Map describes a learner's progress. Everything is in course order.
type Map struct {
	// Lessons contains the progress by section. Outcomes contains the progress by outcome, across
	// lessons.
	Lessons  []LessonMap
	Outcomes []OutcomeMap
	// Drills contains the exercises that have been tried, in the order in which they were first
	// tried.
	Drills []DrillMap
	// All is the total of all lessons.
	All Tally
	// LastSection is the section that was visited last, as "slug#id", or "".
	LastSection string
}

// Tally counts the parts of the course and how many of them the learner has done.
type Tally struct {
	// Sections is the number of sections, and Seen is the number of sections that have been seen.
	Sections, Seen int
	// Questions is the number of questions, and Answered is the number of questions that have been
	// answered. Credit is the sum of the newest answers' credits, so Credit / Questions is the
	// share that is right.
	Questions, Answered int
	Credit              float64
	// Cards is the number of cards, Reviewed is the number of cards that have been reviewed, and
	// Strong is the number of strong cards.
	Cards, Reviewed, Strong int
}

// LessonMap is one lesson in a [Map].
type LessonMap struct {
	Slug, Title string
	Tally       Tally
	Sections    []SectionMap
	// Asked is the number of questions that the lesson's page asks, and Answered is the number of
	// those that have been answered. They include questions about earlier lessons, and exclude
	// questions that only the quiz asks.
	Asked, Answered int
}

// SectionMap is one section in a [LessonMap].
type SectionMap struct {
	// ID is the section's id within the lesson; Where is "slug#id".
	ID, Where, Title string
	// Seen reports whether the section has been visited. FirstSeen is the time of the first visit.
	Seen      bool
	FirstSeen time.Time
	Tally     Tally
}

// OutcomeMap is one outcome in a [Map]. Its Tally counts the sections that explain the outcome, and
// the outcome's questions and cards.
type OutcomeMap struct {
	ID, Text string
	Tally    Tally
}

// DrillMap is one kind of exercise in a [Map]. Drill is the part of its items before the slash.
type DrillMap struct {
	Drill string
	// Times is the number of its answers. Best and Last are the credits of the best and the newest
	// answer.
	Times      int
	Best, Last float64
}

// Calibration compares the confidence that a learner stated with how often they were right.
type Calibration struct {
	// N is the number of predictions, and Right is the number of predictions that were right.
	N, Right int
	// Stated is the mean confidence, and Score is the mean logarithmic score in nats. Both are 0 if
	// there are no predictions.
	Stated, Score float64
	// Bins contains the bins of [predict.Bins], including empty bins.
	Bins []predict.Bin
}

// Notice is a message that a learner should see once, for example that earlier progress could not
// be read.
type Notice = store.Notice

// Imported contains the numbers of entries that an import added.
type Imported struct{ Visits, Answers, Reviews, Predictions, Settings int }
