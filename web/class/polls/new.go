package polls

import (
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

const (
	MaxCandidates = 8  // maximum in a vote on the next token
	MaxKept       = 12 // maximum number of tokens shown separately in a draw
)

// tokenOption returns an option for a token.
func tokenOption(m *infer.Model, d *sampling.Distribution, id, drawn int32) class.Option {
	return class.Option{
		Key: strconv.Itoa(int(id)), Text: TokenText(m, int(id)), Token: !m.Token(int(id)).Special,
		P: d.P[id], Q: d.Q(d.RankOf(id)), Right: id == drawn,
	}
}

// TokenText returns a token's text for display. A special token, such as <|end|>, is described in
// words instead, since its name is markup that would only confuse a class.
func TokenText(m *infer.Model, id int) string {
	switch t := m.Token(id); {
	case m.EOS(id):
		return terms.English.T("class.ask.end")
	case t.Special:
		return "(" + strings.Trim(t.Text, "<|/>[]") + ")"
	default:
		return t.Text
	}
}

// NextToken returns a poll that asks which of n tokens comes next at the step to which
// [moves.Undrawn] has moved the run. The seed determines the order of the candidates; n is at
// least [predict.LeastCandidates].
func NextToken(st *session.State, n int, seed uint64) *Poll {
	p := &Poll{
		Kind: class.Next, Step: st.Cursor.Step,
		PromptText: terms.English.T("class.ask.next"),
	}
	d, drawn := drawnBy(st)
	for _, id := range candidates(st, d, drawn, n, seed) {
		p.Options = append(p.Options, tokenOption(st.Model, d, id, drawn))
	}
	p.Prompt, p.Options = html.EscapeString(p.PromptText), letters(p.Options)
	return p
}

// Drawing returns a poll in which the class acts as the sampler. Its options are the tokens
// that the filters keep; the least probable of them share one option.
func Drawing(st *session.State) *Poll {
	d, drawn := drawnBy(st)
	p := &Poll{
		Kind: class.Draw, Step: st.Cursor.Step,
		PromptText: terms.English.T("class.ask.draw"),
	}
	q := 0.0
	for i := range min(d.Keep, MaxKept) {
		o := tokenOption(st.Model, d, d.Order[d.KeptRank(i)], drawn)
		q += o.Q
		p.Options = append(p.Options, o)
	}
	if d.Keep > MaxKept {
		_, rest, _ := d.KeptIn(d.KeptRank(MaxKept), len(d.Order))
		p.Options = append(p.Options, class.Option{Text: class.Others, Rest: true, Q: max(0, 1-q), P: rest})
	}
	p.Prompt, p.Options = html.EscapeString(p.PromptText), letters(p.Options)
	return p
}

// Quiz returns a poll that asks a quiz question. The seed determines the order of
// the choices.
func Quiz(q *lessons.Question, seed uint64) *Poll {
	p := &Poll{Kind: class.Question, Prompt: q.Prompt, PromptText: q.PromptText}
	p.Options, p.Answer = choiceOptions(q, seed)
	if len(q.Choices) == 0 {
		p.Prompt += class.HowRecalled(terms.English)
	}
	return p
}

// Scripted returns a poll that a script asks for. The run must have been moved to st by
// [moves.Ready]. The seed determines the order of the candidates.
func Scripted(st *session.State, a *lessons.AskSpec, seed uint64) *Poll {
	switch a.Kind {
	case lessons.AskNext:
		return NextToken(st, a.Choices, seed)
	case lessons.AskDraw:
		return Drawing(st)
	case lessons.AskQuestion:
		return Quiz(a.Question, seed)
	}
	right := a.Answer
	return &Poll{
		Kind: class.Number, Prompt: a.Prompt, PromptText: a.PromptText, Unit: a.Unit, Right: &right, Within: a.Within,
	}
}

// letters labels the options with letters, in order.
func letters(list []class.Option) []class.Option {
	for i := range list {
		if !list[i].Rest {
			list[i].Letter = string(rune('A' + i))
		}
	}
	return list
}

// choiceOptions returns the choices of a quiz question. For a free-text question, members vote on
// how much of the answer they knew.
func choiceOptions(q *lessons.Question, seed uint64) (list []class.Option, answer string) {
	answer = q.Answer
	for _, i := range q.Shuffled(seed) {
		ch := q.Choices[i]
		list = append(
			list, class.Option{Key: string(rune('a' + i)), Text: ch.Text, HTML: ch.HTML, Right: ch.Right, Why: ch.Why},
		)
	}
	if len(list) == 0 {
		for _, much := range []string{"yes", "part", "no"} {
			text := terms.English.T("class.ask.recalled." + much)
			list = append(list, class.Option{Key: much, Text: text, HTML: html.EscapeString(text)})
		}
		answer += "<ul>"
		for _, point := range q.Rubric {
			answer += "<li>" + point + "</li>"
		}
		answer += "</ul>"
	}
	return letters(slices.Clip(list)), answer
}

// maxPrompt is the maximum length of a typed question, in bytes.
const maxPrompt = 1 << 10

// Numeric returns a poll that asks for a number.
func Numeric(cmd class.AskNumber) (*Poll, error) {
	p := &Poll{
		Kind: class.Number, PromptText: class.OneLine(cmd.Prompt), Unit: class.OneLine(cmd.Unit),
		Within: cmd.Within,
	}
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	switch {
	case p.PromptText == "" || len(cmd.Prompt) > maxPrompt || len(cmd.Unit) > maxPrompt:
		return nil, terms.Refuse(class.CodeAsk, "class.refused.number_prompt", "n", maxPrompt)
	case !finite(cmd.Within) || cmd.Within < 0 || cmd.Answer != nil && !finite(*cmd.Answer):
		return nil, terms.Refuse(class.CodeAsk, "class.refused.number_answer")
	}
	if cmd.Answer != nil {
		right := *cmd.Answer
		p.Right = &right
	}
	p.Prompt = html.EscapeString(p.PromptText)
	return p, nil
}
