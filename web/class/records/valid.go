package records

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
)

// The checks in this file validate the records of a log. Invalid records are treated as damaged. A
// corrupted number therefore cannot make the program allocate a huge list, and commands operate
// only on valid data.

// The largest valid numbers and lengths in records.
const (
	MaxMembers  = 1 << 16 // members that a room has had in total
	mostRounds  = 1 << 20 // of a poll
	mostSteps   = 1 << 20 // of a run or a walkthrough
	mostViews   = 1 << 53
	mostChanges = 1 << 40 // of a room
	mostOptions = 64
	longestText = 1 << 16 // in bytes
	longestName = 4 * class.MaxTitle
)

// MaxTexts is the maximum number of texts of a class that are saved for replay.
const MaxTexts = 64

// The range of valid times.
var (
	earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// ValidTime reports whether a time is in the valid range, which excludes the zero time.
func ValidTime(t time.Time) bool { return !t.Before(earliest) && t.Before(latest) }

func timeOrNone(t time.Time) bool { return t.IsZero() || ValidTime(t) }

func between(n, least, most int) bool { return n >= least && n <= most }

// chance reports whether x is between 0 and 1, inclusive. It returns false for NaN.
func chance(x float64) bool { return x >= 0 && x <= 1 }

// text reports whether s is valid UTF-8 of at most the given number of bytes.
func text(s string, most int) bool { return len(s) <= most && utf8.ValidString(s) }

// numbered reports whether a record's id is a valid change number.
func numbered(id string) bool {
	n, err := strconv.Atoi(id)
	return err == nil && between(n, 1, mostChanges)
}

func (b Begun) check() bool { return ValidTime(b.At) }

func (s Stage) check() bool      { return text(s.Link, longestText) }
func (s Seq) check() bool        { return s.Seq <= mostViews }
func (t textRecord) check() bool { return text(t.Prompt, longestText) && text(t.Link, longestText) }

func (m MemberRecord) check() bool {
	return between(m.Member, 1, MaxMembers) && text(m.Learner, longestName) && checkWork(m.Work)
}

func (n NameRecord) check() bool {
	return between(n.Member, 1, MaxMembers) && text(n.Name, longestName)
}

func (v VoteRecord) check() bool {
	return between(v.Poll, 1, polls.MaxPolls) && between(v.Round, 1, mostRounds) && between(v.Member, 1, MaxMembers) &&
		text(v.Choice, longestName) && chance(v.U) && chance(v.Sure) && v.N >= 0
}

func (p pollRecord) check() bool {
	switch p.Kind {
	case class.Next, class.Draw, class.Question, class.Number:
	default:
		return false
	}
	switch p.Phase {
	case class.Open, class.Closed, class.Spread, class.Revealed:
	default:
		return false
	}
	for _, o := range p.Options {
		if !chance(o.P) || !chance(o.Q) || !text(o.Text, longestText) {
			return false
		}
	}
	return between(p.ID, 1, polls.MaxPolls) && between(p.Round, 1, mostRounds) && between(p.Step, 0, mostSteps) &&
		len(p.Options) <= mostOptions && text(p.PromptText, longestText) && timeOrNone(p.Asked) && timeOrNone(p.Ends) &&
		p.Within >= 0
}

func (e Epoch) check() bool { return e.Epoch >= 1 && e.Epoch <= mostChanges }

// Limits of assignments and results.
const (
	MaxTasks    = 40
	MaxSlips    = 64
	longestTask = 80 // in bytes; applies to the names of tasks and of mistakes
)

func plainTask(t string) bool {
	return t != "" && text(t, longestTask) && !strings.ContainsAny(t, " \n\t:")
}

// checkWork reports whether a record's results are valid.
func checkWork(w *class.Work) bool {
	if w == nil {
		return true
	}
	for _, s := range append(slices.Clone(w.Done), w.Slips...) {
		if !text(s, longestTask) {
			return false
		}
	}
	return ValidTime(w.At) && len(w.Done) <= MaxTasks && len(w.Slips) <= MaxSlips
}
