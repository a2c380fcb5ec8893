package room

import (
	"context"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

const (
	mostCandidates = 8  // maximum in a vote on the next token
	mostKept       = 12 // maximum number of tokens shown separately in a draw
)

// Undrawn moves a run to a step whose token has not been drawn yet and computes the step's
// scores. It advances the stage only if it has to.
func Undrawn(ctx context.Context, do class.Do) (*session.State, error) {
	st, err := do(ctx, session.Pause{})
	if err != nil {
		return nil, err
	}
	if !st.Started() {
		return nil, terms.Refuse(class.CodeAsk, "class.refused.no_text")
	}
	f, shown := st.Frontier(), st.Cursor
	if f.Stage >= firstChosen {
		f, shown = session.Cursor{Step: f.Step + 1, Stage: infer.KindForward}, session.Cursor{}
		if st, err = goTo(ctx, do, st, f); err != nil {
			return nil, err
		}
	}
	if f.Stage < infer.KindLogits {
		if _, err = goTo(ctx, do, st, session.Cursor{Step: f.Step, Stage: infer.KindLogits}); err != nil {
			return nil, err
		}
	}
	if shown.Step != f.Step {
		shown = session.Cursor{Step: f.Step, Stage: infer.KindForward}
	}
	return do(ctx, session.Seek(shown))
}

func undrawnBySampling(ctx context.Context, do class.Do) (*session.State, error) {
	st, err := Undrawn(ctx, do)
	if err == nil && st.Settings.Greedy() {
		err = terms.Refuse(class.CodeAsk, "class.refused.greedy")
	}
	return st, err
}

// distribution returns the distribution at a step of a state, or nil if there is none.
func distribution(st *session.State, step int) *sampling.Distribution {
	if st == nil || step < 1 || step > len(st.Steps) || st.Steps[step-1].Ran < infer.KindLogits {
		return nil
	}
	if st.Cursor.Step == step && st.Dist != nil {
		return st.Dist
	}
	return st.Steps[step-1].Distribution()
}

// drawnBy returns the distribution of the current step and the token that the run's random number u
// selects. The scores of the step must have been computed.
func drawnBy(st *session.State) (*sampling.Distribution, int32) {
	d := distribution(st, st.Cursor.Step)
	return d, d.Order[d.Draw(sampling.U(st.Settings.Seed, st.Cursor.Step))]
}

// tokenOption returns an option for a token.
func tokenOption(m *infer.Model, d *sampling.Distribution, id, drawn int32) class.Option {
	return class.Option{
		Key: strconv.Itoa(int(id)), Text: readable(m, int(id)), Token: !m.Token(int(id)).Special,
		P: d.P[id], Q: d.Q(d.RankOf(id)), Right: id == drawn,
	}
}

// readable returns a token's text for display. A special token, such as <|end|>, is described in
// words instead, since its name is markup that would only confuse a class.
func readable(m *infer.Model, id int) string {
	switch t := m.Token(id); {
	case m.EOS(id):
		return terms.English.T("class.ask.end")
	case t.Special:
		return "(" + strings.Trim(t.Text, "<|/>[]") + ")"
	default:
		return t.Text
	}
}

// nextPoll returns a poll that asks which of n tokens comes next at the step to which [Undrawn] has
// moved the run. The seed determines the order of the candidates; n is at least
// [predict.LeastCandidates].
func nextPoll(st *session.State, n int, seed uint64) *poll {
	p := &poll{
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

// drawPoll returns a poll in which the class acts as the sampler. Its options are the tokens
// that the filters keep; the least probable of them share one option.
func drawPoll(st *session.State) *poll {
	d, drawn := drawnBy(st)
	p := &poll{
		Kind: class.Draw, Step: st.Cursor.Step,
		PromptText: terms.English.T("class.ask.draw"),
	}
	q := 0.0
	for i := range min(d.Keep, mostKept) {
		o := tokenOption(st.Model, d, d.Order[d.KeptRank(i)], drawn)
		q += o.Q
		p.Options = append(p.Options, o)
	}
	if d.Keep > mostKept {
		_, rest, _ := d.KeptIn(d.KeptRank(mostKept), len(d.Order))
		p.Options = append(p.Options, class.Option{Text: class.Others, Rest: true, Q: max(0, 1-q), P: rest})
	}
	p.Prompt, p.Options = html.EscapeString(p.PromptText), letters(p.Options)
	return p
}

// questionPoll returns a poll that asks a quiz question. The seed determines the order of
// the choices.
func questionPoll(q *lessons.Question, seed uint64) *poll {
	p := &poll{Kind: class.Question, Prompt: q.Prompt, PromptText: q.PromptText}
	p.Options, p.Answer = choiceOptions(q, seed)
	if len(q.Choices) == 0 {
		p.Prompt += class.HowRecalled(terms.English)
	}
	return p
}

// specPoll returns a poll that a script asks for. The run must have been moved to st by
// [ready]. The seed determines the order of the candidates.
func specPoll(st *session.State, a *lessons.AskSpec, seed uint64) *poll {
	switch a.Kind {
	case lessons.AskNext:
		return nextPoll(st, a.Choices, seed)
	case lessons.AskDraw:
		return drawPoll(st)
	case lessons.AskQuestion:
		return questionPoll(a.Question, seed)
	}
	right := a.Answer
	return &poll{
		Kind: class.Number, Prompt: a.Prompt, PromptText: a.PromptText, Unit: a.Unit, Right: &right, Within: a.Within,
	}
}

// openSpec opens a poll that a script asks for.
func (c *core) openSpec(st *session.State, a *lessons.AskSpec) error {
	return c.open(specPoll(st, a, c.nextSeed()), time.Duration(a.Seconds)*time.Second)
}

// nextSeed returns the seed for the candidates of the room's next poll.
func (c *core) nextSeed() uint64 { return c.data.Seed + uint64(len(c.polls)) }

// open opens a poll for the given time, or until the instructor closes it if the time is 0.
func (c *core) open(p *poll, last time.Duration) error {
	if err := c.mayMove(true); err != nil {
		return err
	}
	if last < 0 || last > maxTime {
		return terms.Refuse(class.CodeAsk, "class.refused.open_long", "n", int(maxTime/time.Hour))
	}
	if len(c.polls) >= maxPolls {
		return terms.Refuse(class.CodeAsk, "class.refused.polls", "n", strconv.Itoa(maxPolls))
	}
	p.ID, p.Round, p.Phase, p.Asked = len(c.polls)+1, 1, class.Open, c.cfg.Now()
	if last > 0 {
		p.Ends = p.Asked.Add(last)
	}
	next := c.data
	next.Poll = p.ID
	return c.change(next, p)
}

// maxPolls is the maximum number of polls in a room. Each poll stays in memory with its votes while
// the room exists.
const maxPolls = 1000

// maxTime is the longest time that a poll or the timer can run.
const maxTime = 24 * time.Hour

// majority returns the choice with the most votes. If several are tied, it returns the one
// that the model finds most probable.
func (c *core) majority(p *poll) (string, error) {
	counts := map[string]int{}
	for _, v := range c.votes[p.at()] {
		counts[v.Choice]++
	}
	d := distribution(c.state, p.Step)
	if d == nil {
		return "", terms.Refuse(class.CodeClosed, "class.refused.vote_gone")
	}
	best, rank := "", 0
	for choice, n := range counts {
		r := d.RankOf(int32(number(choice)))
		if best == "" || n > counts[best] || n == counts[best] && r < rank {
			best, rank = choice, r
		}
	}
	if best == "" {
		return "", terms.Refuse(class.CodeNoPoll, "class.refused.no_votes")
	}
	return best, nil
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

// timeUp closes the poll if its time is up.
func (c *core) timeUp() {
	if p := c.onStage(); p != nil && p.live() && p.over(c.cfg.Now()) {
		_ = c.phase(p, class.Closed) // logged; further votes are refused anyway
	}
	c.setAlarm()
}

// setAlarm sets the timer that fires at the poll's end.
func (c *core) setAlarm() {
	c.alarm.Stop()
	if p := c.onStage(); p != nil && p.live() && !p.Ends.IsZero() {
		c.alarm.Reset(max(time.Millisecond, p.Ends.Sub(c.cfg.Now())))
	}
}

// phase changes the phase of a poll.
func (c *core) phase(p *poll, to class.Phase) error {
	next := *p
	next.Phase = to
	return c.change(c.data, &next)
}
