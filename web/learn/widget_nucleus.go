package learn

import (
	"context"
	"fmt"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
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
		v.Sides[i] = newNucleusSide(st, in[name])
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

// ruleKeeps is the set of tokens that a rule keeps on its own.
type ruleKeeps struct {
	N    int
	Mass string
	Rest int // kept tokens without a row
}

func newNucleusSide(st *session.State, prompt string) nucleusSide {
	d := st.Dist
	f := st.StageOf(infer.KindFilter, nucleusRows).(infer.Filter)
	keeps := func(n int) ruleKeeps {
		return ruleKeeps{n, terms.Prob(d.Cum[n-1]), max(0, n-len(f.Rows.Rows))}
	}
	v := nucleusSide{
		Prompt: prompt, ByK: keeps(d.Reach(sampling.RuleTopK)), ByP: keeps(
			d.Reach(sampling.RuleTopP),
		), Loop: loopAt(st),
		Rest: fmt.Sprintf("%s more, %s together", terms.Count(f.Rest.N), terms.Prob(f.Rest.P)),
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
func (v nucleusView) sentence() stage.Rich {
	count := func(n int) string { return terms.Counted(n, "token") }
	a, b := v.Sides[0], v.Sides[1]
	return stage.Rich{
		{S: fmt.Sprintf("Top-k %d", v.K), Style: stage.Bold},
		{S: fmt.Sprintf(" keeps %s on the first prompt and %s on the second. ", count(a.ByK.N), count(b.ByK.N))},
		{S: "Top-p " + v.P, Style: stage.Bold},
		{S: fmt.Sprintf(" keeps %s on the first and %s on the second.", count(a.ByP.N), count(b.ByP.N))},
	}
}

// restKept describes how many tokens a rule keeps among those without a row.
func restKept(n int) string {
	if n == 0 {
		return "none"
	}
	return "+" + terms.Count(n)
}
