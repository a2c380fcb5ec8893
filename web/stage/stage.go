package stage

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Panel is the stage shown. Which of the parts below the head are set depends
// on the stage: Forward at 1, Table at 2 to 5, Strip at 3 to 5, Appended at 6,
// Cache at 7. Empty is a panel before the first prompt.
type Stage struct {
	Empty   bool
	Loading string // what is going on, while there is nothing else to show
	Enter   string // the stage that has just been reached; "" when looking back
	Pace    string // "2" or "4" where play goes that fast, "still" where it goes faster
	N       int
	Name    string
	Of      string // "stage 4 of 7"
	Past    string // set while the learner looks back: where the run has come to
	Lead    Rich
	Facts   []Fact

	Work     *Work // the worked line, of one row of the table
	Forward  *Forward
	Table    *Table
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

func New(s *session.State) Stage {
	if !s.Started() {
		return Stage{Empty: true}
	}
	k := s.Cursor.Stage
	p := Stage{N: int(k), Name: terms.StageAt(int(k)).Name, Of: fmt.Sprintf("stage %d of 7", k)}
	if !s.AtFrontier() {
		f := s.Frontier()
		p.Past = fmt.Sprintf(
			"looking back: the run has come to token %s, stage %d", terms.Count(Position(s, f.Step)), f.Stage,
		)
	}
	p.enter(s)
	switch st := s.Stage(RowsShown).(type) {
	case infer.Forward:
		forwardPanel(s, st, &p)
	case infer.Logits:
		logitsPanel(s, st, &p)
	case infer.Softmax:
		softmaxPanel(s, st, &p)
	case infer.Filter:
		filterPanel(s, st, &p)
	case infer.Sample:
		samplePanel(s, st, &p)
	case infer.Append:
		appendPanel(s, st, &p)
	case infer.CacheGrowth:
		cachePanel(s, st, &p)
	}
	return p
}

// enter says what moves: a stage arrives only where the run has come to, and
// as fast as it plays.
func (p *Stage) enter(s *session.State) {
	if !s.AtFrontier() || s.Finishing {
		return
	}
	p.Enter = s.Cursor.Stage.String()
	if s.Playing {
		p.Pace = map[session.Speed]string{
			session.SpeedDouble: "2", session.SpeedFour: "4", session.SpeedMax: "still",
		}[s.Speed]
	}
}

func logitsPanel(s *session.State, st infer.Logits, p *Stage) {
	p.Lead = say("The newest position’s vector is compared with "+
		"all ", terms.Count(st.Vocab), " token vectors. Scores run from ",
		terms.Logit(float64(st.Min)), " to ", terms.Logit(float64(st.Max)), "; only their differences matter.")
	p.Facts = []Fact{
		{"largest", terms.Logit(float64(st.Max)), true},
		{"mult-adds", terms.MultAdds(st.MultAdds), false},
		{"took", terms.Took(st.Took), false},
	}
	p.Table = logitsTable(st)
	p.Notes = []Rich{
		say(
			"Add the same number to every score and nothing that follows changes: softmax sees ", bold("differences"),
			" only.",
		),
	}
	p.Work = p.Table.worked()
}

func softmaxPanel(s *session.State, st infer.Softmax, p *Stage) {
	top := st.Rows.Rows[0]
	if s.Step().Settings.Greedy() {
		p.Lead = say("The temperature is 0: greedy needs no probabilities. What you see is the "+
			"distribution ", bold("at T = 1"),
			", where ", TokenText(top.Token), " has ", terms.Prob(top.P), ".")
	} else {
		p.Lead = say("Divide each score by T = ", terms.Setting(st.Temperature), ", raise e to it, divide by the sum: ", terms.Count(st.Vocab),
			" probabilities that sum to 1. ", TokenText(top.Token), " has the most, ", terms.Prob(top.P), ".")
	}
	p.Facts = []Fact{
		{"temperature", temperature(st.Temperature), false},
		{"likeliest", terms.Prob(top.P), true},
		{"entropy, bits", terms.Decimals(st.Entropy, 2), false},
	}
	p.Table = softmaxTable(s, st)
	p.Segments = softmaxSegments(s, st)
	p.Work = p.Table.worked()
}

func filterPanel(s *session.State, st infer.Filter, p *Stage) {
	p.Lead = filterLead(st)
	p.Facts = []Fact{
		{"kept", terms.Count(st.Kept), true},
		{"cut", terms.Count(st.Cut), false},
		{"mass kept", terms.Prob(st.Mass), false},
	}
	p.Table = filterTable(s, st)
	p.Segments = filterSegments(s, st)
	if st.KeptRenormalising != st.Kept {
		p.Notes = append(p.Notes, say("Here every filter measures the probabilities before any cut. A library that "+
			"rescales in between would keep ",
			bold(terms.Count(st.KeptRenormalising)), ", not ", terms.Count(st.Kept), "."))
	}
	p.Work = p.Table.worked()
}

// filterLead says in one sentence what the filters do at these settings.
func filterLead(st infer.Filter) Rich {
	set := st.Settings
	if set.Greedy() {
		return say("Temperature 0 is greedy: keep the most probable token, cut the other ", terms.Count(st.Cut), ".")
	}
	var on []string
	for i, c := range st.Cuts {
		leaves := " "
		if i == 0 {
			leaves = " leaves "
		}
		on = append(on, c.Rule.Name()+leaves+terms.Count(c.Keeps))
	}
	switch {
	case st.Fallback:
		return say(
			"No token is kept by every filter: ", join(on), ", none in common. So the most probable one stays, and ",
			"its p′ is 1.",
		)
	case len(on) == 0:
		return say("No filter is on: all ", terms.Count(st.Kept), " tokens stay in the draw, and p′ is p.")
	case len(on) > 1:
		return say(
			"A token stays only if every filter keeps it: ", join(on), ". So ", stay(st.Kept),
			", rescaled to sum to 1.",
		)
	case set.TopK > 0:
		return say("Keep the ", terms.Counted(set.TopK, "most probable token"), ", cut the rest, rescale to 1.")
	case set.TopP < 1:
		return say(
			"Keep the fewest tokens that reach ", terms.Setting(set.TopP), " together, cut the rest, rescale to 1.",
		)
	case set.TypicalP > 0:
		return say(
			"Keep the tokens whose surprise is closest to the average here, until together they reach ",
			terms.Setting(set.TypicalP), ", cut the rest, rescale to 1.",
		)
	}
	return say(
		"Keep every token at least ", terms.Setting(set.MinP),
		" times as probable as the first, cut the rest, rescale to 1.",
	)
}

func stay(n int) string {
	if n == 1 {
		return "1 stays"
	}
	return terms.Count(n) + " stay"
}

// join makes "a, b and c" of a list.
func join(list []string) string {
	s := ""
	for i, x := range list {
		switch {
		case i == 0:
		case i == len(list)-1:
			s += " and "
		default:
			s += ", "
		}
		s += x
	}
	return s
}

func samplePanel(s *session.State, st infer.Sample, p *Stage) {
	chosen := TokenText(st.Chosen.Token)
	n := Position(s, st.Step)
	kept := keptCount(s)
	if st.Greedy {
		p.Lead = say(
			"Temperature 0 is greedy: one token is left and it is taken. No ", Span{S: "u", Style: Variable},
			" is drawn, so the seed does not matter.",
		)
		p.Facts = []Fact{{"kept", "1", false}, {"draw", "none", false}, {"p", terms.Prob(st.Chosen.P), true}}
		p.Verdict = say(
			pick(chosen), " is token ", terms.Count(n),
			", because no other had a higher score. Greedy gives the same text every time.",
		)
	} else {
		p.Lead = say("Lay ", theKept(kept), " end to end from 0 to 1, each as wide as its p′. Draw one "+
			"number ", Span{S: "u", Style: Variable},
			"; whichever token it lands on is next.")
		p.Facts = []Fact{
			{"seed", seed(st.Seed), false}, {"draw", terms.Ordinal(st.Step), false}, {"u", terms.Prob(st.U), true},
		}
		p.Verdict = say(
			pick(chosen), " is token ", terms.Count(n), ": the ", terms.Ordinal(
				place(s, st.Chosen.Rank),
			), " choice of ",
			terms.Count(kept), " (", terms.Is("p′", st.Chosen.Q),
			"). Same seed and settings, same draw: reset and step again to check.",
		)
	}
	if st.Forced {
		p.Verdict = forcedSay(st, n)
	}
	f := s.StageOf(infer.KindFilter, RowsShown).(infer.Filter) // has run: the draw comes after it
	p.Table = sampleTable(s, st, f)
	p.Segments = sampleSegments(st, f.Rows.Rows)
	p.Segments.what(s)
	p.Work = p.Table.worked()
}

// whyNot answers why the most probable token was not taken, or that it was.
func whyNot(s *session.State) Rich {
	step, d := s.Step(), s.Dist
	likely, q := int(d.Order[0]), d.Q(0)
	text := TokenText(s.Model.Token(likely))
	if step.Chosen == likely {
		return say(bold(
			"Is it always the most likely? ",
		), text, " is, at ", terms.Prob(q), ", and ", terms.Is("u", step.U), " falls on it. In 100 draws ",
			others100(1-q), ".")
	}
	why := bold("Why not the most likely? ")
	if !d.Stays(0) {
		return say(
			why, text, " is the likeliest, at ", terms.Prob(d.P[likely]), ", but ", d.CutBy(0).Name(),
			" cuts it: no draw can fall on it.",
		)
	}
	return say(
		why, text, " is the likeliest, at ", terms.Prob(q), "; ", terms.Is("u", step.U),
		" falls past it. In 100 draws it would win ", terms.OfHundred(q), ".",
	)
}

// place is where a token of a rank, counted from 1, stands among the kept ones,
// counted from 1 as well.
func place(s *session.State, rank int) int {
	before, _ := s.Dist.KeptIn(0, rank-1)
	return before + 1
}

// others100 says how many of 100 draws other tokens would win.
func others100(p float64) string {
	if p <= 0 {
		return "no other would win any"
	}
	return "others would win " + terms.OfHundred(p)
}

// forcedSay says that a person chose the token, and what the draw had made of
// it.
func forcedSay(st infer.Sample, n int) Rich {
	r := say(pick(
		TokenText(st.Chosen.Token),
	), " is token ", terms.Count(n), " because ", bold("a person chose it"), ": the ", terms.Ordinal(st.Chosen.Rank), " choice, ",
		terms.Is("p", st.Chosen.P))
	if !st.Chosen.Kept {
		r = append(r, say(", though the filters had cut it")...)
	}
	if st.Greedy {
		return append(r, say(". Greedy would have taken ", TokenText(st.Drawn.Token), ".")...)
	}
	return append(r, say(". The draw, ", terms.Is("u", st.U), ", had fallen on ", TokenText(st.Drawn.Token), ".")...)
}

func theKept(n int) string {
	if n == 1 {
		return "the one kept token"
	}
	return "the " + terms.Count(n) + " kept tokens"
}

func keptCount(s *session.State) int {
	if s.Dist == nil {
		return 0
	}
	return s.Dist.Keep
}

// seed is written without commas, as it is typed.
func seed(n uint64) string { return fmt.Sprint(n) }

func temperature(t float64) string {
	if t == 0 {
		return "0"
	}
	return terms.Setting(t)
}
