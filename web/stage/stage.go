package stage

import (
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Stage is the content of a stage's panel. The stage determines which parts below the head are
// set: Forward at 1, Table at 2 to 5, Segments at 3 to 5, Appended at 6 and Cache at 7. Empty
// is true before the first prompt.
type Stage struct {
	Empty bool
	Enter string // the stage that has just been reached; "" when looking back
	Pace  string // "2" or "4" if the run plays at that speed, "still" if it plays faster
	N     int
	Name  string
	Of    string // "stage 4 of 7"
	// Undrawn is set at stage 5 while the draw is withheld. No part reveals u, or the token on
	// which u will fall.
	Undrawn bool
	Past    string // set while the learner looks back: how far the run has come
	Lead    Rich
	Facts   []Fact

	Work    *Work // the worked line for one row of the table
	Forward *Forward
	// Histogram is the distribution of all scores, at stage 2.
	Histogram *Histogram
	Table     *Table
	// Chain is the table rule by rule, at stage 4, on a page that can switch to it.
	Chain    *Chain
	Segments *Segments
	Verdict  Rich
	Notes    []Rich
	Appended *Appended
	Cache    *CachePanel
}

// Fact is one figure of the panel's head.
type Fact struct {
	Name, Value string
	Accent      bool
}

func (w Words) New(s *session.State) Stage {
	if !s.Started() {
		return Stage{Empty: true}
	}
	k := s.Shown()
	p := Stage{N: int(k), Name: w.Stage(int(k)).Name, Of: w.T("stage.of", "n", terms.Count(int(k)))}
	if !s.AtFrontier() {
		f := s.Frontier()
		p.Past = w.T(
			"stage.past", "token", terms.Count(Position(s, f.Step)), "stage", terms.Count(int(f.Stage)),
		)
	}
	p.enter(s)
	if s.Undrawn {
		w.undrawnPanel(s, &p)
		return p
	}
	whole := s.Stage(RowsShown)
	p.Lead, p.Facts = w.Sentence(Numbers, whole, aboutOf(s)), w.Facts(Numbers, whole)
	switch st := whole.(type) {
	case infer.Forward:
		w.forwardPanel(s, st, &p)
	case infer.Logits:
		w.logitsPanel(s, st, &p)
	case infer.Softmax:
		w.softmaxPanel(s, st, &p)
	case infer.Filter:
		w.filterPanel(s, st, &p)
	case infer.Sample:
		w.samplePanel(s, st, &p)
	case infer.Append:
		w.appendPanel(s, st, &p)
	case infer.CacheGrowth:
		w.cachePanel(s, st, &p)
	}
	return p
}

// enter sets the animation. Only the newest stage is animated, at the speed of the run.
func (p *Stage) enter(s *session.State) {
	if !s.AtFrontier() || s.Finishing {
		return
	}
	p.Enter = s.Shown().String()
	if s.Playing {
		p.Pace = map[session.Speed]string{
			session.SpeedDouble: "2", session.SpeedFour: "4", session.SpeedMax: "still",
		}[s.Speed]
	}
}

func (w Words) logitsPanel(s *session.State, st infer.Logits, p *Stage) {
	p.Table, p.Histogram = w.logitsTable(st), w.newHistogram(s, st)
	p.Notes = []Rich{w.Rich("note.logits")}
	if st.Penalty != nil { // only one note, because a short screen has no space for two notes and the rows
		p.Notes = []Rich{w.penaltyNote(*st.Penalty)}
	}
	p.Work = p.Table.worked()
}

// penaltyNote lists the highest scores that the penalties and the logit bias have changed, because
// the highest scores matter most.
func (w Words) penaltyNote(p infer.Penalty) Rich {
	const shown, space = 3, "\u00a0"
	var list []any
	for i, t := range p.Tokens[:min(len(p.Tokens), shown)] {
		if i > 0 {
			list = append(list, ", ")
		}
		was, is := terms.Logit(float64(t.Raw)), terms.Logit(float64(t.Z))
		list = append(list, TokenText(t.Token), " "+was+space+"→"+space, bold(is))
	}
	key := "note.scored"
	switch {
	case p.N == 0:
		return w.Rich("note.scored.none", "rules", w.scorers(p.By))
	case onlyRepetition(p):
		key = "note.penalty"
	}
	return w.Rich(
		key, "theta", terms.Setting(p.By.RepetitionPenalty), "rules", w.scorers(p.By),
		"tokens", w.Counted(p.N, "token"), "list", rich(list...),
	)
}

// onlyRepetition reports whether the repetition penalty is the only rule that changes
// scores.
func onlyRepetition(p infer.Penalty) bool {
	by := p.By
	by.RepetitionPenalty = 0
	return by == sampling.Pure
}

// scorers lists the rules that change scores, with their settings: "frequency penalty 0.5,
// logit bias of 2 tokens".
func (w Words) scorers(by sampling.Settings) string {
	var list []string
	for _, rule := range by.Rules() {
		switch {
		case rule == sampling.RuleLogitBias:
			list = append(list, w.T("bias.of", "tokens", w.Counted(by.LogitBias.Len(), "token")))
		case !rule.Cuts():
			x, _ := by.Value(rule.Knob())
			list = append(list, w.T("setting", "name", w.Rule(rule), "x", terms.Plain(x)))
		}
	}
	return strings.Join(list, ", ")
}

func (w Words) softmaxPanel(s *session.State, st infer.Softmax, p *Stage) {
	p.Table = w.softmaxTable(s, st)
	p.Segments = w.softmaxSegments(s, st)
	p.Work = p.Table.worked()
}

func (w Words) filterPanel(s *session.State, st infer.Filter, p *Stage) {
	p.Table = w.filterTable(s, st)
	p.Segments = w.filterSegments(s, st)
	switch {
	case st.Settings.OrderInForce() != sampling.OrderOwn:
		p.Notes = append(p.Notes, w.Rich("note.chain", "llama", bold(terms.Count(st.KeptLlama)),
			"hugging", bold(terms.Count(st.KeptHugging)), "own", bold(terms.Count(s.Dist.KeepIn(sampling.OrderOwn)))))
	case st.KeptRenormalizing != st.Kept:
		p.Notes = append(p.Notes, w.Rich(
			"note.filter", "other", bold(terms.Count(st.KeptRenormalizing)), "kept", terms.Count(st.Kept),
		))
	}
	p.Work = p.Table.worked()
}

func (w Words) samplePanel(s *session.State, st infer.Sample, p *Stage) {
	p.Verdict = w.verdict(s, st)
	f := s.StageOf(infer.KindFilter, RowsShown).(infer.Filter) // stage 4 has run, because the draw comes after it
	p.Table = w.sampleTable(s, st, f)
	p.Segments = w.sampleSegments(st, f)
	p.Segments.what(w, s)
	p.Work = p.Table.worked()
}

// undrawnPanel fills in stage 5 before its draw. It lays the kept tokens end to end, but does not
// show the position of u, which has not been computed yet.
func (w Words) undrawnPanel(s *session.State, p *Stage) {
	p.Undrawn = true
	f := s.StageOf(infer.KindFilter, RowsShown).(infer.Filter)
	key := "numbers.sample"
	if f.Settings.Greedy() { // the temperature was set to 0 while the draw was withheld
		key = "numbers.sample.greedy"
	}
	p.Lead = w.Rich(key, "kept", w.theKept(f.Kept))
	p.Facts = []Fact{
		{Name: w.T("numbers.fact.seed"), Value: seed(s.Settings.Seed)},
		{Name: w.T("numbers.fact.u"), Value: w.T("undrawn"), Accent: true},
	}
	p.Table = w.laidTable(s, f)
	p.Segments = w.laidSegments(f)
	p.Notes = []Rich{w.Rich("note.undrawn")}
	p.Work = p.Table.worked()
}

// verdict explains which token is next, and why.
func (w Words) verdict(s *session.State, st infer.Sample) Rich {
	key := "verdict"
	switch {
	case st.Forced:
		key = "verdict.forced"
		if !st.Chosen.Kept {
			key = "verdict.forced.cut"
		}
	case st.Greedy:
		key = "verdict.greedy"
	}
	r := w.Rich(
		key, "token", pick(TokenText(st.Chosen.Token)), "n", terms.Count(Position(s, st.Step)),
		"place", w.Ordinal(place(s, st.Chosen.Rank)), "kept", terms.Count(aboutOf(s).kept()),
		"q", terms.Is("p′", st.Chosen.Q), "rank", w.Ordinal(st.Chosen.Rank), "p", terms.Is("p", st.Chosen.P),
	)
	if !st.Forced {
		return r
	}
	key = "verdict.instead"
	if st.Greedy {
		key = "verdict.instead.greedy"
	}
	return append(r, w.Rich(key, "u", terms.Is("u", st.U), "token", TokenText(st.Drawn.Token))...)
}

// whyNot explains why the most probable token was not chosen. If it was chosen, whyNot says so.
func (w Words) whyNot(s *session.State) Rich {
	step, d := s.Step(), s.Dist
	likely, q := int(d.Order[0]), d.Q(0)
	key, by, p := "whynot", "", q
	switch {
	case step.Chosen == likely:
		key = "whynot.is"
	case !d.Stays(0):
		key, by, p = "whynot.cut", w.Rule(d.CutBy(0)), d.P[likely]
	}
	return w.Rich(
		key, "token", TokenText(s.Model.Token(likely)), "p", terms.Prob(p), "u", terms.Is("u", step.U), "rule", by,
		"n", w.OfHundred(q), "others", w.others100(1-q),
	)
}

// place returns the position, among the kept tokens, of the token with the given rank. Both are
// numbered from 1.
func place(s *session.State, rank int) int {
	before, _, _ := s.Dist.KeptIn(0, rank-1)
	return before + 1
}

// others100 describes how many of 100 draws would choose other tokens.
func (w Words) others100(p float64) string {
	if p <= 0 {
		return w.T("whynot.others.none")
	}
	return w.T("whynot.others", "n", w.OfHundred(p))
}

// seed formats a seed without commas, which is how seeds are typed.
func seed(n uint64) string { return fmt.Sprint(n) }

func temperature(t float64) string {
	if t == 0 {
		return "0"
	}
	return terms.Setting(t)
}
