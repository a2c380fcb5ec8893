package learn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/speculation"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// speculate steps through speculative decoding round by round.
type speculate struct {
	environment
	key    string
	small  *infer.Model // the draft model; nil until pair is called
	spec   *speculation.Speculator
	rounds [][]speculation.Stage
	ended  bool
	run    *session.Session // the Loop's run with the same text
}

func newSpeculate(d environment) experiment { return &speculate{environment: d} }

func (e *speculate) show(ctx context.Context, in terms.Values) (templ.Component, error) {
	if err := e.pair(ctx); err != nil {
		return nil, err
	}
	s := settingsOf(in)
	if key := fmt.Sprint(s, in["gamma"], in["prompt"]); e.spec == nil || e.key != key {
		spec, err := speculation.New(e.target, e.small, in["prompt"], s, in.Int("gamma"))
		if err != nil {
			return nil, err
		}
		run, err := newRun(ctx, e.target, in["prompt"], s)
		if err != nil {
			return nil, err
		}
		e.spec, e.run, e.key, e.rounds, e.ended = spec, run, key, nil, false
	}
	if err := e.runTo(ctx, in.Int("at")+1); err != nil { // one more round, to find out whether there is one
		return nil, err
	}
	at := min(in.Int("at"), len(e.rounds))
	in.SetInt("at", at)
	v := e.view(stage.In(ctx), at)
	st, err := writtenAs(ctx, e.run, e.idsTo(at))
	if err != nil {
		return nil, err
	}
	if st, err = seekTo(ctx, e.run, min(len(e.idsTo(at)), len(st.Steps)), infer.KindCache); err != nil {
		return nil, err
	}
	v.Loop = loopAt(st)
	return speculateHTML(v), nil
}

// pair finds the draft model or returns an error that explains why there is none.
func (e *speculate) pair(ctx context.Context) error {
	if e.draft == nil {
		return terms.Refuse(terms.CodeModel, "learn.speculate.none")
	}
	if e.small == nil {
		slot, err := e.draft()
		if err != nil {
			return &terms.Refusal{Code: terms.CodeBusy, Message: shell.Sentence(terms.In(ctx), err)}
		}
		e.small = slot.Model()
	}
	if err := infer.CheckPair(e.target, e.small); err != nil {
		return &terms.Refusal{Code: terms.CodeModel, Message: shell.Sentence(terms.In(ctx), err)}
	}
	return nil
}

// runTo runs rounds until there are n of them or the text ends.
func (e *speculate) runTo(ctx context.Context, n int) error {
	for len(e.rounds) < n && !e.ended {
		stages, err := e.spec.Round(ctx)
		if errors.Is(err, io.EOF) {
			e.ended = true
			return nil
		}
		if err != nil {
			e.spec = nil // the round is incomplete: start again the next time
			return err
		}
		e.rounds = append(e.rounds, stages)
	}
	return nil
}

// idsTo returns the ids of the tokens that the first rounds generated.
func (e *speculate) idsTo(rounds int) []int {
	var ids []int
	for _, r := range e.rounds[:rounds] {
		for _, t := range r[len(r)-1].(speculation.Extend).Tokens {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// A speculateView shows the text so far and its newest round.
type speculateView struct {
	At      int
	Given   []stage.Text
	Made    []specToken
	Rows    []specRow
	Say     stage.Rich
	Facts   []stage.Fact
	Back    target
	Forward target
	Loop    string
}

// A specToken is a token of the text, with the model that generated it.
type specToken struct {
	Text  stage.Text
	Draft bool // drafted and accepted; if false, the target generated it
	New   bool // in the newest round
}

// A specRow is one guess and its verdict, or the target's own token.
type specRow struct {
	Text       stage.Text
	Q, P, A, U string
	Verdict    string // key: "accepted", "refused", "unjudged", "instead" or "more"
	BarQ, BarP string // SVG lengths
	Own        bool   // the target's own token
	Yes, No    bool
}

func (e *speculate) view(w stage.Words, at int) speculateView {
	v := speculateView{At: at}
	for i, id := range e.target.Encode(e.run.State().Prompt) {
		if t := e.target.Token(id); i > 0 || !t.Special {
			v.Given = append(v.Given, stage.TokenText(t))
		}
	}
	for i, round := range e.rounds[:at] {
		end := round[len(round)-1].(speculation.Extend)
		for j, t := range end.Tokens {
			v.Made = append(v.Made, specToken{stage.TokenText(t), j < end.Accepted, i == at-1})
		}
	}
	round := e.rounds[at-1]
	v.Rows = specRows(round)
	end := round[len(round)-1].(speculation.Extend)
	v.Say = specText(w, at, end, v.Rows)
	v.Facts = []stage.Fact{
		{Name: w.T("learn.speculate.fact.passes"), Value: terms.Count(end.Totals.Rounds)},
		{Name: w.T("learn.speculate.fact.tokens"), Value: terms.Count(end.Totals.Generated)},
		{Name: w.T("learn.speculate.fact.each"), Value: terms.Decimals(end.Totals.TokensPerPass(), 2)},
		{
			Name:  w.T("learn.speculate.fact.accepted"),
			Value: w.T("learn.speculate.fact.judged", "n", end.Totals.Accepted, "all", end.Totals.Judged),
		},
	}
	v.Back = target{Words: w.T("learn.widget.previous"), At: at - 1}
	v.Forward = target{Words: w.T("learn.speculate.round"), At: at + 1, Main: true}
	if at == len(e.rounds) {
		v.Forward.At = 0
	}
	return v
}

// specRows lists the guesses of a round with their verdicts, and the tokens that the target
// generated itself.
func specRows(round []speculation.Stage) []specRow {
	var rows []specRow
	judged := 0
	for _, did := range round {
		switch s := did.(type) {
		case speculation.Propose:
			for _, d := range s.Drafted {
				rows = append(
					rows,
					specRow{
						Text: stage.TokenText(d.Chosen.Token), Q: terms.Prob(d.Chosen.Q), BarQ: stage.Share(d.Chosen.Q),
						Verdict: "unjudged",
					},
				)
			}
		case speculation.Verify:
			for i, scored := range s.Scored {
				if scored.Drafted != nil && i < len(rows) {
					rows[i].P, rows[i].BarP = terms.Prob(scored.Drafted.P), stage.Share(scored.Drafted.P)
				}
			}
		case speculation.Accept:
			r := &rows[judged]
			judged++
			r.A, r.Yes, r.No, r.Verdict = terms.Prob(s.Probability), s.Accepted, !s.Accepted, "refused"
			if s.Accepted {
				r.Verdict = "accepted"
			}
			if !s.Greedy {
				r.U = terms.Prob(s.U)
			}
		case speculation.Correct:
			rows = append(rows, ownRow(s.Drawn, "instead"))
		case speculation.Bonus:
			rows = append(rows, ownRow(s.Drawn, "more"))
		}
	}
	return rows
}

func ownRow(d speculation.Drawn, verdict string) specRow {
	return specRow{
		Text: stage.TokenText(d.Chosen.Token), P: terms.Prob(d.Chosen.P), BarP: stage.Share(d.Chosen.P), Own: true,
		Verdict: verdict,
	}
}

// specText describes the result of a round.
func specText(w stage.Words, n int, end speculation.Extend, rows []specRow) stage.Rich {
	guesses := w.T("learn.speculate.guesses", "n", end.Drafted, "accepted", end.Accepted)
	if end.Drafted == 0 {
		guesses = w.T("learn.speculate.room")
	}
	last, key := rows[len(rows)-1], "learn.speculate.end"
	if last.Own {
		key = "learn.speculate.end." + last.Verdict
	}
	return w.Rich(
		"learn.speculate.say", "n", n, "guesses", guesses, "end", w.T(key),
		"tokens", w.Counted(len(end.Tokens), "token"),
	)
}

// answer implements [judge]. It is about the first round.
func (e *speculate) answer(w stage.Words, _ string) (key, say string, ok bool) {
	if len(e.rounds) == 0 {
		return "", "", false
	}
	first := e.rounds[0][len(e.rounds[0])-1].(speculation.Extend)
	key = strconv.Itoa(min(first.Accepted, 4))
	return key, w.T("learn.ask.kept.say", "n", first.Accepted, "all", first.Drafted), true
}
