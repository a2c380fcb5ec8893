package classroom

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/stage"
)

// poll is a poll as screens show it. It does not contain anything that is still secret.
type poll struct {
	*class.Poll
	Ask     string // the question as HTML; plain text for polls about tokens
	Options []option
	Say     string // "23 of 28 have voted"
	Dots    []bool // one for each person present, true for each vote; empty if there are too many people
	Ends    string // milliseconds since 1970; "" if the poll has no time limit
	Shown   bool   // counts are shown
	Known   bool   // the right answer and the model's probabilities are shown
	Head    stage.Rich
	Missing string // the probability of the tokens that could not be voted for
	Tie     string // "A tie: 4 votes each for A and C.", "" without one
}

// option is an option with the bars of the class and the model, once they are public.
type option struct {
	class.Option
	Label     stage.Text // set for a token
	Votes     string     // "7 votes, 27%"
	Share     string     // "27%"
	ClassBar  string     // SVG lengths
	ModelBar  string
	Model     string // "16%"
	Before    string // "before 35%", after a re-vote
	BeforeBar string
}

// mostDots is the maximum number of people who are shown as individual dots.
const mostDots = 56

// pollIn translates the program's own texts in a poll into a language.
func pollIn(w stage.Words, p class.Poll) *class.Poll {
	p.Prompt, p.Options = class.HTMLIn(w.Language, p.Prompt), slices.Clone(p.Options)
	for i := range p.Options {
		if o := &p.Options[i]; !o.Token {
			o.Text, o.HTML = class.TextIn(w.Language, o.Text), class.HTMLIn(w.Language, o.HTML)
		}
	}
	return &p
}

func newPoll(w stage.Words, v *class.View) *poll {
	if v.Poll == nil {
		return nil
	}
	p := pollIn(w, *v.Poll)
	q := &poll{
		Poll: p, Ask: p.Prompt, Shown: p.Phase == class.Spread || p.Phase == class.Revealed,
		Known: p.Phase == class.Revealed,
	}
	if p.Kind == class.Draw && p.Phase == class.Open {
		q.Shown = anyCount(p) // the histogram grows while everyone watches
	}
	here := max(v.Here, p.Votes)
	q.Say = w.T("class.poll.voted."+q.draws(), "n", p.Votes, "here", here)
	for i := range here {
		if here > mostDots {
			break
		}
		q.Dots = append(q.Dots, i < p.Votes)
	}
	if !p.Ends.IsZero() && p.Phase == class.Open {
		q.Ends = strconv.FormatInt(p.Ends.UnixMilli(), 10)
	}
	q.fill(w)
	q.Head = q.head(w)
	q.Tie = q.tie(w)
	return q
}

// draws returns the last part of the key of a text about votes, since such texts have a separate
// variant for draws.
func (q *poll) draws() string {
	if q.Kind == class.Draw {
		return "draw"
	}
	return "vote"
}

func anyCount(p *class.Poll) bool {
	for _, o := range p.Options {
		if o.Count > 0 {
			return true
		}
	}
	return false
}

// fill sets the options. The lengths of bars are relative to the longest bar.
func (q *poll) fill(w stage.Words) {
	total, longest, missing := 0, 0.0, 1.0
	for _, o := range q.Poll.Options {
		total += o.Count
		missing -= o.Q
	}
	for i, o := range q.Poll.Options {
		longest = max(longest, o.Q, share(o.Count, total))
		if i < len(q.Before()) {
			longest = max(longest, share(q.Before()[i], sum(q.Before())))
		}
	}
	for i, o := range q.Poll.Options {
		one := option{Option: o}
		if o.Token {
			one.Label = stage.Marked(o.Text)
		}
		if q.Shown {
			part := share(o.Count, total)
			one.Share, one.ClassBar = terms.Percent(part), sized(part/longest)
			one.Votes = w.T("class.bar.votes."+q.draws(), "n", o.Count, "share", one.Share)
			if i < len(q.Before()) {
				was := share(q.Before()[i], sum(q.Before()))
				one.Before, one.BeforeBar = w.T("class.bar.before", "share", terms.Percent(was)), sized(was/longest)
			}
		}
		if q.modeled() {
			one.Model, one.ModelBar = terms.Percent(o.Q), sized(o.Q/longest)
		}
		q.Options = append(q.Options, one)
	}
	if q.Known && q.Kind == class.Next && missing > 0.005 {
		q.Missing = terms.Percent(missing)
	}
}

// Before returns the counts of the previous round.
func (q *poll) Before() []int { return q.Poll.Before }

// modeled reports whether the model's probabilities are shown next to the counts.
func (q *poll) modeled() bool {
	if q.Kind == class.Draw {
		for _, o := range q.Poll.Options {
			if o.Q > 0 {
				return true
			}
		}
	}
	return q.Known && q.Kind == class.Next
}

// Modeled exports modeled for templates.
func (q *poll) Modeled() bool { return q.modeled() }

// head summarizes a revealed poll of tokens in a sentence.
func (q *poll) head(w stage.Words) stage.Rich {
	if !q.Known || q.Kind != class.Next || len(q.Poll.Options) == 0 {
		return nil
	}
	most := leaders(q.Poll.Options, func(o class.Option) float64 { return float64(o.Count) })
	leans := leaders(q.Poll.Options, func(o class.Option) float64 { return o.Q })
	who := "tie"
	switch len(most) {
	case 0:
		who = "nobody"
	case 1:
		who = "one"
	}
	if len(leans) > 1 {
		who += ".tied"
	}
	return w.Rich("class.head."+who, "class", chips(w, most, stage.Given), "model", chips(w, leans, stage.Gen))
}

// tie returns a sentence about a tie if several options have the most votes. It returns "" for a
// question without a right option, where members report how much they knew, since such a question
// cannot have a winner.
func (q *poll) tie(w stage.Words) string {
	right := func(o class.Option) bool { return o.Right }
	if !q.Shown || q.Kind == class.Question && !slices.ContainsFunc(q.Poll.Options, right) {
		return ""
	}
	most := leaders(q.Poll.Options, func(o class.Option) float64 { return float64(o.Count) })
	if len(most) < 2 {
		return ""
	}
	var names []stage.Rich
	for _, o := range most {
		name := o.Letter
		if o.Token || name == "" {
			name = w.T("class.quoted", "text", stage.Marked(strings.TrimSpace(o.Text)).String())
		}
		names = append(names, stage.Rich{{S: name}})
	}
	key := "class.tie." + q.draws()
	if q.Known && q.Poll.Kind == class.Next || q.Kind == class.Draw && q.Phase != class.Open {
		key += ".append"
	}
	return w.T(key, "n", most[0].Count, "names", listed(w, names).String())
}

// leaders returns the options with the largest value. It returns several if they are tied,
// and none if no value is above 0.
func leaders(options []class.Option, value func(class.Option) float64) (list []*class.Option) {
	best := 0.0
	for i := range options {
		o := &options[i]
		switch v := value(*o); {
		case v <= 0 || v < best || o.Rest:
		case v > best:
			best, list = v, []*class.Option{o}
		default:
			list = append(list, o)
		}
	}
	return list
}

// chips joins tokens for use in a sentence.
func chips(w stage.Words, list []*class.Option, s stage.Style) stage.Rich {
	var tokens []stage.Rich
	for _, o := range list {
		tokens = append(tokens, stage.Rich{{Style: s, Token: stage.Marked(o.Text)}})
	}
	return listed(w, tokens)
}

// listed joins the items of a list: "a and b", "a, b and c".
func listed(w stage.Words, list []stage.Rich) (r stage.Rich) {
	for i, x := range list {
		switch {
		case i == 0:
			r = x
		case i == len(list)-1:
			r = w.Rich("list.last", "list", r, "last", x)
		default:
			r = w.Rich("list.next", "list", r, "next", x)
		}
	}
	return r
}

func sum(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// millis formats a time for scripts. It returns "" for the zero time.
func millis(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

// sureLevel is a level of confidence that a voter can choose, and the key of its name.
type sureLevel struct{ Value, Key string }

var sureLevels = []sureLevel{
	{"0.2", "class.sure.guess"}, {"0.5", "class.sure.half"}, {"0.8", "class.sure.quite"}, {"0.95", "class.sure.very"},
}

func sureIs(r *class.Receipt, l sureLevel) bool {
	return strconv.FormatFloat(r.Sure, 'f', -1, 64) == l.Value
}

// judged reports whether a vote can turn out to be right or wrong. Only then does it make
// sense to ask for the voter's confidence.
func judged(q *poll) bool {
	return q.Kind == class.Next || q.Kind == class.Question && q.Options[0].HTML != ""
}
