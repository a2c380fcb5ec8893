package polls

import (
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// Alone is the question of a walkthrough step, for someone who takes the walkthrough without a
// class. It is the same poll that a class would get.
type Alone struct {
	p *Poll
	d *sampling.Distribution // the distribution that the question is about; set for Next and Draw
}

// AskAlone returns the question of a walkthrough step. The run must have been moved to st by
// [moves.Perform] and, if the question is about a token, by [moves.Undrawn]. The seed determines
// the order of the candidates.
func AskAlone(st *session.State, a *lessons.AskSpec, seed uint64) (*Alone, error) {
	x := &Alone{}
	if a.Kind == lessons.AskNext || a.Kind == lessons.AskDraw {
		if x.d = Distribution(st, st.Cursor.Step); x.d == nil || st.Step().Ran >= infer.KindSample {
			return nil, terms.Refuse(class.CodeAsk, "class.refused.nothing_drawn")
		}
	}
	x.p = Scripted(st, a, seed)
	x.p.Round = 1
	return x, nil
}

// Open returns the question as shown before the answer.
func (x *Alone) Open() *class.Poll { return x.p.OnScreen(nil, class.Open) }

// Answer is the result shown after the question has been answered.
type Answer struct {
	*class.Poll
	Mine string // key of the chosen option, or the number
	Said string // Mine as text
	// Right is nil if answers cannot be right or wrong, as for a guess about a random draw.
	Right *bool
}

// Answer checks an answer and reveals the right one. If choice is not an option, Answer
// returns a [*terms.Refusal] with [class.CodeNotOffer].
func (x *Alone) Answer(choice string) (Answer, error) {
	p := x.p
	// In old links, choice keys are numbers.
	if n, err := strconv.Atoi(choice); err == nil && p.Kind == class.Question && n >= 1 && n <= len(p.Options) {
		choice = string(rune('a' + n - 1))
	}
	mine, err := p.read(choice)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{
		Poll: p.OnScreen(map[Round]map[int]Vote{p.At(): {1: {Choice: mine}}}, class.Revealed), Mine: mine,
		Said: mine,
	}
	if i := p.option(mine); i >= 0 {
		a.Said = p.Options[i].Text
	}
	if p.Kind == class.Number {
		a.Options, a.Median = nil, nil // the page shows the only answer as text
		a.Said = strings.TrimSpace(mine + " " + p.Unit)
	}
	if p.Kind != class.Next && p.judged() {
		right := p.isRight(mine)
		a.Right = &right
	}
	return a, nil
}

// Draw makes n draws, each with a separate u, as n members of a class would.
func (x *Alone) Draw(n int, seed uint64) *class.Poll {
	votes := map[int]Vote{}
	for i := range n {
		id := x.d.Order[x.d.Draw(sampling.U(seed, i+1))]
		votes[i+1] = Vote{Choice: strconv.Itoa(int(id))}
	}
	return x.p.OnScreen(map[Round]map[int]Vote{x.p.At(): votes}, class.Open)
}
