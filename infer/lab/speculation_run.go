package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/speculation"
	"github.com/tokenbytoken/viz/infer/terms"
)

// speculationRun is a run of the speculation lab.
type speculationRun struct {
	*running
	target, draft           *infer.Model
	targetMeter, draftMeter *meter
	v                       terms.Values
	tokens                  int
	gammas                  []int
	shown                   *specText
	plain                   []plainText
	texts                   [][]*specText // by γ
	synthetic               Synthetic
}

// pairFor checks that there is a draft and that it is compatible with the target, and returns the
// prompt's length and how many tokens fit into the context.
func pairFor(env Env, v terms.Values) (prompt, tokens int, err error) {
	l := env.words()
	if env.Draft == nil {
		return 0, 0, terms.NewRangeError(
			"draft", l.T("lab.refused.draft.missing"), l.T("lab.refused.draft", "model", env.Target.Name()),
		)
	}
	if err := infer.CheckPair(env.Target, env.Draft); err != nil {
		return 0, 0, terms.NewRangeError(
			"draft", env.Draft.Name(), l.T("lab.refused.draft.pair", "why", err.Error()),
		)
	}
	return env.room(v, "tokens")
}

// Estimate implements [Lab].
func (speculationLab) Estimate(env Env, v terms.Values) (Estimate, error) {
	m, tokens, err := pairFor(env, v)
	if err != nil {
		return Estimate{}, err
	}
	alone, drafted := written(env.Target.Shape(), m, tokens), written(env.Draft.Shape(), m, tokens)
	once := alone
	for _, gamma := range append(v.List("gammas"), v.Int("gamma")) { // assuming about two tokens per round
		both := alone.plus(drafted).times(gamma + 1)
		once = once.plus(work{both.steps / 2, both.passes / 2})
	}
	const aRound = 2 * time.Microsecond // estimated time of one round of the synthetic pair
	e := guess(
		env, once.times(v.Int("repeats")), v.Int("repeats")*tokens*(1+3*len(v.List("gammas"))),
		env.Target.Shape().KVBytes(m+tokens, 4)+env.Draft.Shape().KVBytes(m+tokens, 4),
	)
	e.Took += aRound * time.Duration(v.Int("rounds"))
	e.judge()
	return e, nil
}

// Run implements [Lab].
func (speculationLab) Run(ctx context.Context, env Env, v terms.Values, progress func(Progress)) (*Report, error) {
	_, tokens, err := pairFor(env, v)
	if err != nil {
		return nil, err
	}
	r := &speculationRun{
		running: start(ctx, "speculation", env, v, progress), v: v, tokens: tokens, gammas: v.List("gammas"),
	}
	if !slices.Contains(r.gammas, v.Int("gamma")) {
		r.gammas = append(r.gammas, v.Int("gamma")) // so that the text shown is timed as often as the other texts
	}
	slices.Sort(r.gammas)
	r.target, r.targetMeter = env.target()
	r.draft, r.draftMeter = env.draft()
	r.fill = r.fillReport
	r.texts = make([][]*specText, len(r.gammas))
	r.of = tokens + v.Int("repeats")*(1+len(r.gammas)) + 1
	for _, part := range []func() error{r.show, r.compare, r.synthesize} {
		if err := part(); err != nil {
			return r.end(err)
		}
	}
	return r.end(nil)
}

// specText is a text generated with a draft.
type specText struct {
	gamma  int
	rounds []SpecRound
	lane   []SpecTime
	full   []bool // by round: whether it drafted γ tokens and did not end the text
	verify []time.Duration
	draft  []time.Duration // one step of the draft, by round
	text   string
	took   time.Duration // without the prompt
	totals speculation.Totals
}

// show generates the text to show, round by round.
func (r *speculationRun) show() error {
	r.shown = &specText{gamma: r.v.Int("gamma")}
	return r.write(r.shown, func(n int) {
		r.tell(n, Text(
			"lab.speculation.run.round", "n", fmt.Sprint(len(r.shown.rounds)), "gamma", fmt.Sprint(r.shown.gamma),
		))
	})
}

// write generates one text with a draft. After each round, it calls told with the number of new
// tokens.
func (r *speculationRun) write(t *specText, told func(int)) error {
	sp, err := speculation.New(r.target, r.draft, r.v["prompt"], settingsOf(r.v, r.tokens), t.gamma)
	if err != nil {
		return err
	}
	sp.Rows = -1 // list no tokens
	if len(r.target.Encode(r.v["prompt"])) > 1 {
		if _, err := sp.Next(r.ctx); err != nil { // read the prompt
			return err
		}
	}
	clock := watchOf(r.targetMeter, r.draftMeter)
	for {
		stages, err := sp.Round(r.ctx)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		t.took = clock.took()
		n := t.add(stages, t.took, r.target)
		if told != nil {
			told(n)
		}
	}
}

// add records a round that ended at the given time, and returns the number of its tokens.
func (t *specText) add(stages []speculation.Stage, at time.Duration, m *infer.Model) int {
	var row SpecRound
	var drafted []Token
	before := len(t.lane)
	arrived := func(step int, token Token, from string) {
		t.lane = append(t.lane, SpecTime{Step: step, Token: token, At: milliseconds(at), Round: row.Round, From: from})
	}
	last := func(d speculation.Drawn, bonus bool, mass float64) {
		x := &SpecDrawn{
			Step: d.Step, Token: tokenOf(m, d.Chosen.ID), Bonus: bonus, P: d.Chosen.P, Q: d.Chosen.Q, R: d.Chosen.R,
			U: uOf(d.Greedy, d.U), Mass: mass,
		}
		if bonus {
			x.R = x.P
		}
		row.Last = x
	}
	for _, stage := range stages {
		switch s := stage.(type) {
		case speculation.Propose:
			row.Round, row.DraftMs = s.Round, milliseconds(s.Cost.Took)
			for _, d := range s.Drafted {
				drafted = append(drafted, tokenOf(m, d.Chosen.ID))
			}
			if n := s.Cost.Passes; n > 0 {
				t.draft = append(t.draft, s.Cost.Took/time.Duration(n))
			}
		case speculation.Verify:
			row.VerifyMs = milliseconds(s.Cost.Took)
			if s.Cost.Positions == t.gamma+1 {
				t.verify = append(t.verify, s.Cost.Took)
			}
		case speculation.Accept:
			j := SpecJudged{
				Step: s.Step, Token: tokenOf(m, s.Token.ID), Q: s.Q, P: s.P, Chance: s.Probability,
				U: uOf(s.Greedy, s.U), Accepted: s.Accepted,
			}
			if row.Judged = append(row.Judged, j); s.Accepted {
				arrived(s.Step, j.Token, "draft")
			}
		case speculation.Correct:
			last(s.Drawn, false, s.Mass)
			arrived(s.Step, row.Last.Token, "correction")
		case speculation.Bonus:
			last(s.Drawn, true, 0)
			arrived(s.Step, row.Last.Token, "bonus")
		case speculation.Extend:
			row.Stop, t.totals = s.Stop, s.Totals
			t.text += s.Text
			t.full = append(t.full, s.Drafted == t.gamma && s.Stop == infer.StopNone)
		}
	}
	row.Unjudged = drafted[len(row.Judged):]
	t.rounds = append(t.rounds, row)
	return len(t.lane) - before
}

func uOf(greedy bool, u float64) *float64 {
	if greedy {
		return nil
	}
	return &u
}

// compare measures the target alone and with every γ, alternating between them.
func (r *speculationRun) compare() error {
	repeats := r.v.Int("repeats")
	for i := range repeats {
		plain, err := writePlain(r.ctx, r.target, r.targetMeter, r.v, r.tokens)
		if err != nil {
			return err
		}
		r.plain = append(r.plain, plain)
		r.tell(1, Text("lab.speculation.run.alone", "n", fmt.Sprint(i+1), "all", fmt.Sprint(repeats)))
		for at, gamma := range r.gammas {
			t := &specText{gamma: gamma}
			if err := r.write(t, nil); err != nil {
				return err
			}
			r.texts[at] = append(r.texts[at], t)
			r.tell(1, Text(
				"lab.speculation.run.gamma", "gamma", fmt.Sprint(gamma), "n", fmt.Sprint(i+1), "all",
				fmt.Sprint(repeats),
			))
		}
	}
	return nil
}

// synthesize builds the synthetic pair from the two models' predictions after the prompt, at T = 1
// without filters.
func (r *speculationRun) synthesize() error {
	var dists [2][]float64
	for i, m := range []*infer.Model{r.target, r.draft} {
		ids := m.Encode(r.v["prompt"])
		ids = ids[max(0, len(ids)-m.Config().Context):]
		last, _, err := m.Forward(r.ctx, m.NewCache(), ids)
		if err != nil {
			return err
		}
		z, _, err := m.Logits(last)
		if err != nil {
			return err
		}
		dists[i], _, _ = sampling.Softmax(z, 1)
	}
	s, err := synthesize(r.ctx, dists[0], dists[1], r.v.Int("gamma"), r.v.Int("rounds"), uint64(r.v.Float("seed")))
	if s.Rounds > 0 {
		r.synthetic = s
	}
	r.tell(1, Text("lab.speculation.run.synthetic"))
	return err
}
