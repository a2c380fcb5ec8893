package labs

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/stage"
)

// A laneView is a lane prepared for display, with its tokens marked.
type laneView struct {
	N      int
	Name   string
	Say    string
	Tokens []laneToken
}

// A laneToken is one token of a lane.
type laneToken struct {
	Step  int
	Text  stage.Text
	Ramp  string
	P     string
	Title string
	Parts bool // whether this is the first token that differs from the first lane's
	Same  bool // whether the first lane has the same text so far
	Round bool // whether the token is within the circle at the text's end
}

var _ = drawGuess(show("strategies", strategiesSections, firstParting, prediction{
	Ask: "At which token do the first two lanes part?",
	Choices: []choice{
		{"1", "at the very first"},
		{"5", "at the 2nd to 5th"},
		{"20", "at the 6th to 20th"},
		{"more", "later"},
		{"never", "not at all"},
	},
}), "strategies", guessBars{
	title: "The token at which the first two lanes part", whole: "the whole text", words: inPlace,
	caption: "generated tokens",
	scale:   allTokens,
	ranges: map[string][2]float64{
		"1": {1, 1}, "5": {2, 5}, "20": {6, 20}, "more": {21, math.Inf(1)},
		"never": {math.Inf(1), math.Inf(1)}, // drawn at the end of the text
	},
	found: func(result any) (float64, bool) {
		s := result.(*lab.Strategies)
		step, ok := partAt(s)
		if step == 0 {
			return math.Inf(1), ok
		}
		return float64(step), ok
	},
})

func strategiesSections(s *lab.Strategies) []section {
	var lanes []laneView
	var entropy []plots.EntropyLane
	for i, l := range s.Lanes {
		lanes = append(lanes, newLane(s, i))
		entropy = append(entropy, plots.EntropyLane{Name: l.Name, Bits: entropyOf(s, i)})
	}
	list := []section{{
		ID: "lanes", Title: "Lanes", Small: "one prompt, one seed, the same u at every step",
		Say: spans(
			"The stronger a token’s color, the more probable it was when it was taken. A thick edge is where " +
				"a lane first leaves lane 1; a dashed rule runs under tokens that go round in a circle.",
		),
		Body: lanesView(lanes, len(s.U)),
	}}
	if len(s.Partings) > 0 {
		list = append(
			list,
			section{
				ID: "partings", Title: "Where two lanes part, and why", Say: partingsText(),
				Body: partingsView(partingsOf(s)),
			},
		)
	}
	list = append(list, section{
		ID: "entropy", Title: "How unsure the model was", Half: true, Caption: entropyText(s),
	}.charted(plots.Entropies(entropy)),
		section{ID: "runs", Title: "Over more runs", Half: true, Say: runsText(s), Numbers: table(runsGrid(s))})
	if s.Circle != nil {
		list = append(list, circleSection(s.Circle))
	}
	if s.Best != nil {
		list = append(list, bestSection(s.Best))
	}
	return list
}

// partingFrom returns the step at which a lane first differs from the first lane.
func partingFrom(s *lab.Strategies, lane int) int {
	for _, p := range s.Partings {
		if p.Lanes == [2]int{0, lane} {
			return p.Step
		}
	}
	return 0
}

func newLane(of *lab.Strategies, i int) laneView {
	l, parts := of.Lanes[i], partingFrom(of, i)
	v := laneView{N: i + 1, Name: l.Name, Say: settingsText(l)}
	for _, s := range l.Steps {
		v.Tokens = append(v.Tokens, laneToken{
			Step: s.Step, Text: marked(s.Token), Ramp: stage.Ramp(s.P), P: terms.ProbShort(s.P),
			Title: stepText(s, of.U),
			Parts: s.Step == parts, Same: i > 0 && (parts == 0 || s.Step < parts),
			Round: l.Circle != nil && s.Step >= l.Circle.Start,
		})
	}
	return v
}

// stepText describes how a lane chose a token.
func stepText(s lab.LaneStep, u []float64) string {
	kept := "one of " + terms.Count(s.Kept) + " kept" // the token's rank may be higher than this number
	if s.Kept == 1 {
		kept = "the only one kept"
	}
	text := fmt.Sprintf(
		"token %d, “%s”: p %s, rank %s, %s", s.Step, tokenName(s.Token), terms.Prob(s.P), terms.Count(s.Rank), kept,
	)
	if s.To > 0 && s.Step <= len(u) {
		text += fmt.Sprintf(
			"; u = %s falls between %s and %s", terms.Decimals(u[s.Step-1], 4), terms.Decimals(s.From, 4),
			terms.Decimals(s.To, 4),
		)
	}
	return text
}

// entropyOf returns a lane's entropy by step. If there are runs with other seeds, it is the mean
// over the lane's texts.
func entropyOf(s *lab.Strategies, lane int) []float64 {
	for _, r := range s.Runs {
		if r.Lane == lane {
			return r.Entropy
		}
	}
	bits := make([]float64, len(s.Lanes[lane].Steps))
	for i, step := range s.Lanes[lane].Steps {
		bits[i] = step.Entropy
	}
	return bits
}

func entropyText(s *lab.Strategies) string {
	if len(s.Runs) == 0 || s.Runs[0].Runs < 2 {
		return "step; entropy in bits, before the filters"
	}
	return "step; entropy in bits, before the filters, mean over the runs"
}

func settingsText(l lab.Lane) string {
	say := l.Settings.Say("T")
	if l.Circle != nil {
		say += fmt.Sprintf("; from token %d it goes round in %d", l.Circle.Start, l.Circle.Period)
	}
	if l.Stop != "" {
		say += "; ended by " + terms.StopOf(l.Stop).A
	}
	return say
}

func partingsText() []span {
	return spans(
		"Each strip is 0 to 1, shared out among the tokens that a lane keeps. Solid is what the lane chooses, dashed " +
			"what the other chooses; the vertical line is u, the same in both.",
	)
}

// A partingView is a step at which two lanes diverge.
type partingView struct {
	Lanes, Step, U, Why string
	Strips              [2]stripView
}

// A stripView is one lane's strip at the step of a [partingView]. The segments of the lane's own
// token and of the other lane's token, and the position of u, are SVG lengths; a missing one is
// empty.
type stripView struct {
	Lane                            string
	Takes                           stage.Text
	OwnX, OwnW, OtherX, OtherW, UAt string
}

func partingsOf(s *lab.Strategies) []partingView {
	list := make([]partingView, len(s.Partings))
	for i, p := range s.Partings {
		v := partingView{Step: terms.Count(p.Step), U: terms.Decimals(p.U, 4), Why: p.Say}
		for k, lane := range p.Lanes {
			name := fmt.Sprintf("%d %s", lane+1, s.Lanes[lane].Name)
			v.Lanes += []string{"", " and "}[k] + name
			strip := stripView{Lane: name, Takes: marked(p.Tokens[k])}
			strip.OwnX, strip.OwnW = lengths(p.Segments[k][k])
			strip.OtherX, strip.OtherW = lengths(p.Segments[k][1-k])
			if s.Lanes[lane].Settings.Temperature > 0 {
				strip.UAt = stage.Share(p.U)
			}
			v.Strips[k] = strip
		}
		list[i] = v
	}
	return list
}

func lengths(s lab.Segment) (x, width string) {
	if s.To <= s.From {
		return "", ""
	}
	return stage.Share(s.From), stage.Share(s.To - s.From)
}

func runsText(s *lab.Strategies) []span {
	if len(s.Runs) == 0 {
		return spans("Being written.")
	}
	return spans(
		"Texts of each lane with the seeds ", b(terms.Count(int64(s.Seed))),
		" and those that follow. Distinct-2 is the share of pairs of neighboring tokens that differ; repetition the "+
			"share of runs of four that came before. ln p is the model’s own, at T = 1 with nothing cut.",
	)
}

func runsGrid(s *lab.Strategies) grid {
	g := grid{
		Caption: "Each lane over its runs",
		Head:    []string{"lane", "runs", "distinct texts", "distinct-2", "repetition", "mean ln p", "entropy, bits"},
	}
	for _, r := range s.Runs {
		g.Rows = append(g.Rows, []string{
			fmt.Sprintf("%d %s", r.Lane+1, s.Lanes[r.Lane].Name), terms.Count(r.Runs), terms.Count(r.DistinctTexts),
			fmt.Sprintf(
				"%s (%s of %s)", terms.Decimals(r.Distinct2, 2), terms.Count(r.DistinctPairs), terms.Count(r.Pairs),
			),
			terms.Decimals(r.Repetition, 2), terms.Decimals(r.MeanLogP, 2), terms.Decimals(r.MeanEntropy, 2),
		})
	}
	return g
}

func circleSection(c *lab.CircleSearch) section {
	s := section{ID: "circle", Title: "Greedy’s circle", Half: true, Body: chips(c.Text, c.Circle)}
	if c.Circle == nil {
		s.Say = spans(
			"Greedy was tried on ", b(terms.Count(c.Tried)),
			" prompts; none of its texts goes round in this many tokens. The last one:",
		)
		return s
	}
	s.Say = spans("After “"+c.Prompt+"” greedy goes round from token ", b(terms.Count(c.Circle.Start)), " on: ",
		x(
			fmt.Sprintf("%d tokens, %s times over.", c.Circle.Period, terms.Decimals(c.Circle.Rounds, 1)),
		), " Once a text is back where it was, greedy cannot get out.")
	return s
}

func bestSection(s *lab.SequenceSearch) section {
	out := section{ID: "best", Title: "Greedy is not the most probable text", Half: true, Body: pathsView(s)}
	if !s.Differs {
		out.Title = "Greedy and the most probable text"
	}
	found := "the search left nothing out"
	if !s.Exact {
		found = "the search was cut short, so a better one may exist"
	}
	out.Say = spans("After “"+s.Prompt+"”, ", b(
		terms.Count(s.Horizon)+" tokens",
	), ": greedy’s path has probability ", b(terms.Prob(s.Greedy.P)),
		", the best ", x(terms.Prob(s.Best.P)), ". "+terms.Count(s.Expanded)+" forward passes; "+found+".")
	return out
}

// partAt returns the step at which the first two lanes diverge, or 0 if they do not. ok is false if
// there are fewer than two lanes.
func partAt(s *lab.Strategies) (step int, ok bool) {
	if len(s.Lanes) < 2 || len(s.Lanes[0].Steps) == 0 {
		return 0, false
	}
	for _, p := range s.Partings {
		if p.Lanes == [2]int{0, 1} {
			return p.Step, true
		}
	}
	return 0, true
}

func firstParting(s *lab.Strategies) (string, string, bool) {
	step, ok := partAt(s)
	if !ok {
		return "", "", false
	}
	a, b := s.Lanes[0].Name, s.Lanes[1].Name
	if step == 0 {
		return "never", fmt.Sprintf("%s and %s never part in these %d tokens.", a, b, len(s.Lanes[0].Steps)), true
	}
	return among(float64(step), []float64{1, 5, 20}, "1", "5", "20", "more"),
		fmt.Sprintf("%s and %s part at token %d.", a, b, step), true
}
