package learn

import (
	"context"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// nucleusRows is the number of tokens that each side lists.
const nucleusRows = 10

// nucleus compares two rules on two prompts. Each prompt's scores are computed once.
type nucleus struct {
	model *infer.Model
	sides [2]struct {
		prompt string
		run    *session.Session
	}
}

func newNucleus(d environment) experiment { return &nucleus{model: d.target} }

func (e *nucleus) show(ctx context.Context, in terms.Values) (templ.Component, error) {
	var v nucleusView
	for i, name := range []string{"peaked", "flat"} {
		side := &e.sides[i]
		if side.run == nil || side.prompt != in[name] {
			run, err := newRun(ctx, e.model, in[name], settingsOf(in))
			if err != nil {
				return nil, err
			}
			if _, err := stageTo(ctx, run, infer.KindFilter); err != nil {
				return nil, err
			}
			side.run, side.prompt = run, in[name]
		}
		st, err := side.run.Apply(ctx, session.SetAll(settingsOf(in)))
		if err != nil {
			return nil, err
		}
		v.Sides[i] = newNucleusSide(stage.In(ctx), st, in[name])
	}
	v.K, v.P = in.Int("k"), terms.Decimals(in.Float("p"), 2)
	return nucleusHTML(v), nil
}

// A nucleusView shows both sides.
type nucleusView struct {
	K     int
	P     string
	Sides [2]nucleusSide
}

// A nucleusSide is one prompt's distribution with the tokens that each rule alone keeps.
type nucleusSide struct {
	Prompt   string
	Rows     []nucleusRow
	Rest     string
	ByK, ByP ruleKeeps
	Loop     string
}

type nucleusRow struct {
	Text     stage.Text
	P, Bar   string
	ByK, ByP bool
}

// ruleKeeps is the set of tokens that a rule keeps if no other rule is applied.
type ruleKeeps struct {
	N    int
	Mass string
	Rest int // kept tokens without a row
}

func newNucleusSide(w stage.Words, st *session.State, prompt string) nucleusSide {
	d := st.Dist
	f := st.StageOf(infer.KindFilter, nucleusRows).(infer.Filter)
	keeps := func(n int) ruleKeeps {
		return ruleKeeps{n, terms.Prob(d.Cum[n-1]), max(0, n-len(f.Rows.Rows))}
	}
	v := nucleusSide{
		Prompt: prompt, ByK: keeps(d.Reach(sampling.RuleTopK)), ByP: keeps(
			d.Reach(sampling.RuleTopP),
		), Loop: loopAt(st),
		Rest: w.T("learn.nucleus.rest", "n", f.Rest.N, "p", terms.Prob(f.Rest.P)),
	}
	for _, r := range f.Rows.Rows {
		v.Rows = append(v.Rows, nucleusRow{
			stage.TokenText(r.Token), terms.Prob(r.P), stage.Share(r.P), r.Rank <= d.Reach(sampling.RuleTopK),
			r.Rank <= d.Reach(sampling.RuleTopP),
		})
	}
	return v
}

// sentence compares the two rules in a sentence.
func (v nucleusView) sentence(w stage.Words) stage.Rich {
	count := func(r ruleKeeps) string { return w.Counted(r.N, "token") }
	a, b := v.Sides[0], v.Sides[1]
	return w.Rich(
		"learn.nucleus.say", "k", v.K, "k1", count(a.ByK), "k2", count(b.ByK), "p", v.P, "p1", count(a.ByP),
		"p2", count(b.ByP),
	)
}

// restKept states how many of the tokens without a row a rule keeps.
func restKept(w stage.Words, n int) string {
	if n == 0 {
		return w.T("none")
	}
	return "+" + terms.Count(n)
}

// answer implements [judge].
func (e *nucleus) answer(w stage.Words, _ string) (key, say string, ok bool) {
	d := e.sides[1].run.State().Dist
	n := d.Reach(sampling.RuleTopP)
	key = guess.Among(float64(n), []float64{10, 100, 1000}, "3", "30", "300", "3000")
	return key, w.T("learn.ask.keeps.say", "n", n, "all", len(d.P)), true
}
