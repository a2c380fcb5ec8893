package saved

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/lessons/fsrs"
)

// ErrInput is returned for invalid input. The message says which part is invalid and what is
// allowed.
var ErrInput = errors.New("nothing was saved")

// Limits for one learner. They ensure that [Parse] accepts every exported file.
const (
	// MaxEntries is the maximum number of answers; reviews and predictions have the same limit. It
	// allows ten entries of each kind per day for more than five years.
	MaxEntries = 20_000
	// MaxID is the maximum length of a name or key, in bytes.
	MaxID = 128
	// MaxDetail is the maximum length of an answer's detail, in bytes.
	MaxDetail = 200
	// MaxSettings is the maximum number of settings. MaxSetting is the maximum length of a
	// setting's value, in bytes.
	MaxSettings = 100
	MaxSetting  = 1000
	// MaxFile is the maximum length of a file, in bytes.
	MaxFile = 32 << 20
)

// The kinds of [Answer].
const (
	Check = "check" // the question at the end of a section
	Quiz  = "quiz"  // a question of the quiz
	Drill = "drill" // a cell of a drill, or a whole drill
)

// Answer is an answer to one question or exercise.
type Answer struct {
	// ID is the idempotency key, chosen by the client: 1 to MaxID of the characters A-Z, a-z, 0-9,
	// ".", "_" and "-". An answer with an existing key is not saved.
	ID string
	// Item is the question's id or, for a drill, its name and, after a slash, a part of it:
	// "softmax/T2".
	Item string
	// Kind is Check, Quiz or Drill.
	Kind string
	// Credit is the share of the answer that was right, from 0 to 1.
	Credit float64
	// Detail describes the result in a format that the caller defines, such as the name of a
	// mistake. It has at most MaxDetail bytes and contains no control characters.
	Detail string
}

// Prediction is one guess of the next token. The text before the token is not saved.
type Prediction struct {
	// ID is the idempotency key, as in [Answer].
	ID string
	// Confidence is the probability that the learner stated for their guess, from 0 to 1.
	Confidence float64
	// Right reports whether the guess was the next token.
	Right bool
	// Score is the logarithmic score in nats: ln of the probability that the learner gave to the
	// actual token, from -100 to 0.
	Score float64
}

// File contains all data of one learner, but does not identify the learner. It does not include the
// state of cards, which is computed from their reviews.
type File struct {
	// Exported is the time at which the file was written.
	Exported time.Time
	// Visits are sorted by section; answers, reviews and predictions are sorted by time, then by
	// id; settings are sorted by name.
	Visits      []Visit
	Answers     []Answered
	Reviews     []Review
	Predictions []Predicted
	Settings    []Setting
}

// Visit summarizes the visits to a section, which is identified by "slug#id".
type Visit struct {
	Section     string
	First, Last time.Time
	Times       int
}

// Answered is an answer and its time.
type Answered struct {
	At time.Time
	Answer
}

// Review is one review of a card.
type Review struct {
	ID    string
	At    time.Time
	Card  string
	Grade fsrs.Grade
}

// Predicted is a prediction and its time.
type Predicted struct {
	At time.Time
	Prediction
}

// Setting is a learner's own setting.
type Setting struct{ Name, Value string }

// Refuse returns an [ErrInput] with an explanation.
func Refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}

// Check returns an [ErrInput] if the answer is invalid.
func (a Answer) Check() error {
	switch {
	case !Key(a.ID):
		return Refuse("id %s", WantKey)
	case !Name(a.Item):
		return Refuse("item %s", WantName)
	case a.Kind != Check && a.Kind != Quiz && a.Kind != Drill:
		return Refuse("kind must be %s, %s or %s", Check, Quiz, Drill)
	case !(a.Credit >= 0 && a.Credit <= 1): // also true for NaN
		return Refuse("credit must be 0 to 1")
	case !Plain(a.Detail, MaxDetail):
		return Refuse("detail must be text of at most %d bytes without control characters", MaxDetail)
	}
	return nil
}

// LeastScore is the score of a learner who gave the actual token a probability of e^-100.
const LeastScore = -100

// Check returns an [ErrInput] if the prediction is invalid.
func (p Prediction) Check() error {
	switch {
	case !Key(p.ID):
		return Refuse("id %s", WantKey)
	case !(p.Confidence >= 0 && p.Confidence <= 1):
		return Refuse("confidence must be 0 to 1")
	case !(p.Score >= LeastScore && p.Score <= 0):
		return Refuse("score must be %d to 0", LeastScore)
	}
	return nil
}

// The format of names and keys, for messages.
var (
	WantKey  = fmt.Sprintf("must be 1 to %d of the characters A-Z a-z 0-9 . _ -", MaxID)
	WantName = fmt.Sprintf("must be 1 to %d of the characters A-Z a-z 0-9 . _ - # /", MaxID)
)

// Key reports whether s is a valid idempotency key.
func Key(s string) bool { return made(s, "._-") }

// Name reports whether s is a valid name for a learner or a part of the course.
func Name(s string) bool { return made(s, "._-#/") }

func made(s, marks string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune(marks, rune(c)) {
			return false
		}
	}
	return s != "" && len(s) <= MaxID
}

// Plain reports whether s is valid text of at most the given number of bytes.
func Plain(s string, most int) bool {
	return len(s) <= most && utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}
