package class

import (
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/predict"
)

// Summary is the summary of a class. It is computed from the room's saved state, not from
// data sent by browsers.
type Summary struct {
	Title, Code string
	Begun, Used time.Time
	Members     int
	Voters      int    // members who voted at least once
	Walk        string // title of the walkthrough, "" if there is none
	WalkSlug    string // its slug
	Polls       []PollSummary
	Texts       []Text
	Assigned    *AssignedSummary // nil if nothing is assigned
	Raised      []Raised         // what members asked, in order, except for erased questions
	// Letters are the members' choices in the first round of polls on quiz questions, by the poll's
	// index in Polls. Each string has a letter for each member, in the order in which they joined: a for
	// the question's first choice, or - without a vote. [Summary.Choices] reads it.
	Letters map[int]string `json:",omitempty"`

	// Statistics on the votes that could be right or wrong and that came with a stated confidence:
	Calibration []predict.Bin // share of right votes for each stated confidence
	Stated      int           // the number of such votes
	MeanScore   float64       // mean logarithmic score in nats; 0 is the best possible

	// Statistics on polls about the next token, from the last round of each poll if anyone voted in
	// that round:
	NextAsked    int
	NextRight    float64 // mean share of votes for the token that the run's own u selects
	NextExpected float64 // mean probability, after the filters, of the tokens voted for: the share expected by chance
}

// Choice is a member's choice in the first round of a poll on a quiz question. Members are numbered in
// the order in which they joined.
type Choice struct {
	Poll   int // its index in the summary's polls
	Member int
	Choice int // its index in the question's choices
}

// Choices returns the choices in s.Letters, ordered by poll and then by member.
func (s *Summary) Choices() (list []Choice) {
	for _, poll := range slices.Sorted(maps.Keys(s.Letters)) {
		for i, letter := range []byte(s.Letters[poll]) {
			if letter != '-' {
				list = append(list, Choice{Poll: poll, Member: i + 1, Choice: int(letter) - 'a'})
			}
		}
	}
	return list
}

// PollSummary is the summary of one poll with all its rounds.
type PollSummary struct {
	Poll          // as revealed, with its last round
	Text   string // the question as plain text
	Asked  time.Time
	Rounds []Round
	// Distance is the total variation distance between the last round's votes and the
	// model's probabilities after the filters, both over the options: half the sum of the
	// differences, from 0 for identical to 1 for disjoint distributions. It is −1 if it is
	// undefined because there are no votes or the poll does not ask for tokens.
	Distance float64
}

// Round is the result of one round.
type Round struct {
	Votes, Right int
	Counts       []int // by option; for numbers, by the answers of that round
	Options      []Option
	Median       *float64 // for numbers
}

// Of returns the number of votes for an option in this round. In polls on numbers, each round has
// its own answers, and all except the most frequent ones are counted together as one option.
func (r Round) Of(o Option) int {
	for i, own := range r.Options {
		if own.Key == o.Key && own.Rest == o.Rest {
			return r.Counts[i]
		}
	}
	return 0
}

// Text is a text that the class generated, with a session link that replays it from its first
// stage.
type Text struct{ Prompt, Link string }

// WriteCSV writes one row per option of each round of each poll.
func (s *Summary) WriteCSV(w io.Writer, form terms.SheetForm) error {
	out := terms.NewSheet(w, form)
	out.Row("poll", "asked", "kind", "question", "round", "option", "votes", "share", "p", "q", "right")
	for i, p := range s.Polls {
		for n, r := range p.Rounds {
			for j, o := range r.Options {
				var pr, q any // set for tokens
				if p.Kind == Next || p.Kind == Draw {
					pr, q = o.P, o.Q
				}
				out.Row(
					i+1, p.Asked.UTC().Format(time.RFC3339), string(p.Kind), p.Text, n+1,
					optionCell(cmp.Or(o.Text, o.Letter)), r.Counts[j], share(r.Counts[j], r.Votes), pr, q, o.Right,
				)
			}
		}
	}
	return out.Flush()
}

func share(n, of int) any {
	if of == 0 {
		return nil
	}
	return float64(n) / float64(of)
}

// optionCell returns an option's spreadsheet cell: a number is written as a number, even if it is
// negative.
func optionCell(text string) any {
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
		return x
	}
	return text
}
