package progress

import (
	"errors"
	"time"

	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

// Errors that callers may want to distinguish. Their texts are for people.
var (
	// ErrInput is returned for invalid input; the message says which part, and what
	// it may be. Nothing was saved.
	ErrInput = saved.ErrInput
	// ErrFull is returned if a learner has as many entries of a kind as allowed, see
	// [saved.MaxEntries].
	ErrFull = errors.New("no room for more")
)

// Answer is an answer to a question or an exercise, and Prediction one guess of the
// next token.
type (
	Answer     = saved.Answer
	Prediction = saved.Prediction
)

// The kinds of [Answer], and how long an import may be, in bytes.
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
	// New is true until the first review; the fields below are zero till then,
	// Waits aside.
	New bool
	// Due is when the card is due, Last when it was last reviewed.
	Due, Last time.Time
	// Reviews counts all reviews, Lapses those that forgot a card once known.
	Reviews, Lapses int
	// Stability is after how many days the chance of recall falls to 90%.
	Stability float64
	// Difficulty goes from 1 to 10.
	Difficulty float64
	// Recall is the chance, 0 to 1, that the learner would recall it now.
	Recall float64
	// Strong means a stability of [StrongDays] or more.
	Strong bool
	// Waits is after how long the card would be due for each grade: again, hard,
	// good, easy.
	Waits [4]time.Duration
}

// StrongDays is the stability, in days, from which a card counts as strong: a
// memory that holds for three weeks. Anki calls such cards mature.
const StrongDays = 21

// Deck is the state of all cards for one learner at one moment.
type Deck struct {
	// Due, New and Later count cards: due now, never reviewed, and due later.
	// Together they are all cards of the course.
	Due, New, Later int
	// Next is the card to show: of those due the one due longest, else the
	// first new one in the course's order, else nil.
	Next *CardState
	// NextDue is when the first of the later cards is due; zero without any.
	NextDue time.Time
	// Cards are all of them in the course's order.
	Cards []CardState
}

// Map is how far a learner has got, in the course's own order.
type Map struct {
	// Lessons by section, and Outcomes across lessons.
	Lessons  []LessonMap
	Outcomes []OutcomeMap
	// Drills are the exercises that were tried, in the order of the first try.
	Drills []DrillMap
	// All sums up all lessons.
	All Tally
	// LastSection is the section visited last, "slug#id", or "".
	LastSection string
}

// Tally counts what a part of the course holds and how much of it is done.
type Tally struct {
	// Sections, and how many of them were seen.
	Sections, Seen int
	// Questions, how many were answered at all, and the sum of the newest
	// answers' credit: Credit / Questions is the part that is right.
	Questions, Answered int
	Credit              float64
	// Cards, how many were reviewed at all, and how many are strong.
	Cards, Reviewed, Strong int
}

// LessonMap is one lesson of a [Map].
type LessonMap struct {
	Slug, Title string
	Tally       Tally
	Sections    []SectionMap
}

// SectionMap is one section of a [LessonMap].
type SectionMap struct {
	// ID within the lesson; Where is "slug#id".
	ID, Where, Title string
	// Seen reports whether it was visited, and FirstSeen when for the first time.
	Seen      bool
	FirstSeen time.Time
	Tally     Tally
}

// OutcomeMap is one outcome of a [Map], with the sections that explain it and
// its questions and cards.
type OutcomeMap struct {
	ID, Text string
	Tally    Tally
}

// DrillMap is one kind of exercise of a [Map]. Drill is the part of its items before
// the slash.
type DrillMap struct {
	Drill string
	// Times counts its answers; Best and Last are the credit of the best and
	// of the newest one.
	Times      int
	Best, Last float64
}

// Calibration compares what a learner stated with how often they were right.
type Calibration struct {
	// N is how many predictions there are, Right how many were right.
	N, Right int
	// Stated is the mean confidence, Score the mean logarithmic score in
	// nats; 0 without predictions.
	Stated, Score float64
	// Bins are those of [predict.Bins], empty ones included.
	Bins []predict.Bin
}

// Notice is something a learner should see once, such as that earlier progress
// could not be read.
type Notice = store.Notice

// Imported counts what an import added to what was there.
type Imported struct{ Visits, Answers, Reviews, Predictions, Settings int }
