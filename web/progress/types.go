package progress

import (
	"errors"
	"time"

	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

// Errors that callers can distinguish. Their texts are for users.
var (
	// ErrInput is returned for invalid input; the message says which part is invalid, and what
	// is allowed. Nothing was saved.
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
	// New is true until the first review; until then the fields below are zero, except Waits.
	New bool
	// Due is when the card is due, Last when it was last reviewed.
	Due, Last time.Time
	// Reviews counts all reviews, Lapses those in which a known card was forgotten.
	Reviews, Lapses int
	// Stability is the number of days after which the chance of recall is 90%.
	Stability float64
	// Difficulty is between 1 and 10.
	Difficulty float64
	// Recall is the chance, 0 to 1, that the learner would recall it now.
	Recall float64
	// Strong means a stability of [StrongDays] or more.
	Strong bool
	// Waits is how long until the card would be due for each grade: again, hard, good, easy.
	Waits [4]time.Duration
}

// StrongDays is the stability, in days, from which a card counts as strong: a memory that lasts
// three weeks. Anki calls such cards mature.
const StrongDays = 21

// Deck is the state of all cards for one learner at one moment.
type Deck struct {
	// Due, New and Later count cards: due now, never reviewed, and due later.
	// Together they are all cards of the course.
	Due, New, Later int
	// Next is the card to show: the one that has been due longest, else the first new one in the
	// course's order, else nil.
	Next *CardState
	// NextDue is when the first of the later cards is due; zero if there are none.
	NextDue time.Time
	// Cards are all cards in the course's order.
	Cards []CardState
}

// Map is how far a learner has progressed, in the course's own order.
type Map struct {
	// Lessons has the progress by section, and Outcomes across lessons.
	Lessons  []LessonMap
	Outcomes []OutcomeMap
	// Drills are the exercises that were tried, in the order of the first try.
	Drills []DrillMap
	// All is the total of all lessons.
	All Tally
	// LastSection is the section visited last, "slug#id", or "".
	LastSection string
}

// Tally counts the parts of the course and how much of them is done.
type Tally struct {
	// Sections counts sections, and Seen those that were seen.
	Sections, Seen int
	// Questions counts questions, Answered those that were ever answered, and Credit is the sum
	// of the newest answers' credit: Credit / Questions is the part that is right.
	Questions, Answered int
	Credit              float64
	// Cards counts cards, Reviewed those that were ever reviewed, and Strong the strong ones.
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
	// ID is the section's id within the lesson; Where is "slug#id".
	ID, Where, Title string
	// Seen reports whether the section was visited, and FirstSeen when for the first time.
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
	// Times counts its answers; Best and Last are the credit of the best and the newest answer.
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
	// Bins are the bins of [predict.Bins], including empty ones.
	Bins []predict.Bin
}

// Notice is something a learner should see once, such as that earlier progress
// could not be read.
type Notice = store.Notice

// Imported counts what an import added.
type Imported struct{ Visits, Answers, Reviews, Predictions, Settings int }
