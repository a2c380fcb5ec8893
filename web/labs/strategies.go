package labs

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/guess"
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
	Parts bool // whether this is the first token that differs from the first lane's text
	Same  bool // whether the first lane has the same text so far
	Round bool // whether the token is part of the repetition at the text's end
}

var _ = drawGuess(show("strategies", strategiesSections, firstParting, guess.Question{
	Ask: "labs.strategies.ask",
	Choices: []guess.Choice{
		{Key: "1", Text: "labs.strategies.choice.first"},
		{Key: "5", Text: "labs.strategies.choice.soon"},
		{Key: "20", Text: "labs.strategies.choice.some"},
		{Key: "more", Text: "labs.strategies.choice.later"},
		{Key: "never", Text: "labs.strategies.choice.never"},
	},
}), "strategies", guessBars{
	title: "labs.strategies.guess", whole: "labs.strategies.guess.whole", words: inPlace,
	caption: "labs.strategies.guess.caption",
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

func strategiesSections(w stage.Words, s *lab.Strategies) []section {
	var lanes []laneView
	var entropy []plots.EntropyLane
	for i, l := range s.Lanes {
		lanes = append(lanes, newLane(w, s, i))
		entropy = append(entropy, plots.EntropyLane{Name: l.Name.In(w.Language), Bits: entropyOf(s, i)})
	}
	list := []section{{
		ID: "lanes", Title: w.T("labs.strategies.lanes"), Small: w.T("labs.strategies.lanes.small"),
		Say:  w.Rich("labs.strategies.lanes.say"),
		Body: lanesView(lanes, len(s.U)),
	}}
	if len(s.Partings) > 0 {
		list = append(
			list,
			section{
				ID: "partings", Title: w.T("labs.strategies.partings"), Say: w.Rich("labs.strategies.partings.say"),
				Body: partingsView(partingsOf(w, s)),
			},
		)
	}
	list = append(list, section{
		ID: "entropy", Title: w.T("labs.strategies.entropy"), Half: true, Caption: entropyText(w, s),
	}.charted(plots.Entropies(w.Language, entropy)),
		section{
			ID: "runs", Title: w.T("labs.strategies.runs"), Half: true, Say: runsText(w, s),
			Numbers: table(runsGrid(w, s)),
		})
	if s.Circle != nil {
		list = append(list, circleSection(w, s.Circle))
	}
	if s.Best != nil {
		list = append(list, bestSection(w, s.Best))
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

func newLane(w stage.Words, of *lab.Strategies, i int) laneView {
	l, parts := of.Lanes[i], partingFrom(of, i)
	v := laneView{N: i + 1, Name: l.Name.In(w.Language), Say: settingsText(w, l)}
	for _, s := range l.Steps {
		v.Tokens = append(v.Tokens, laneToken{
			Step: s.Step, Text: marked(s.Token), Ramp: stage.Ramp(s.P), P: terms.ProbShort(s.P),
			Title: stepText(w, s, of.U),
			Parts: s.Step == parts, Same: i > 0 && (parts == 0 || s.Step < parts),
			Round: l.Circle != nil && s.Step >= l.Circle.Start,
		})
	}
	return v
}

// stepText describes how a lane chose a token.
func stepText(w stage.Words, s lab.LaneStep, u []float64) string {
	// The rank can be higher than the number of kept tokens.
	kept := w.T("labs.strategies.step.kept", "n", terms.Count(s.Kept))
	if s.Kept == 1 {
		kept = w.T("labs.strategies.step.only")
	}
	with := []any{
		"n", fmt.Sprint(s.Step), "token", tokenName(s.Token), "p", terms.Prob(s.P), "rank", terms.Count(s.Rank),
		"kept", kept,
	}
	if s.To > 0 && s.Step <= len(u) {
		return w.T("labs.strategies.step.u", append(with, "u", terms.Decimals(u[s.Step-1], 4),
			"from", terms.Decimals(s.From, 4), "to", terms.Decimals(s.To, 4))...)
	}
	return w.T("labs.strategies.step", with...)
}

// entropyOf returns a lane's entropy at each step. If there are runs with several seeds, it returns
// the mean over the lane's texts.
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

func entropyText(w stage.Words, s *lab.Strategies) string {
	if len(s.Runs) == 0 || s.Runs[0].Runs < 2 {
		return w.T("labs.strategies.entropy.caption")
	}
	return w.T("labs.strategies.entropy.caption.runs")
}

func settingsText(w stage.Words, l lab.Lane) string {
	say := laneSettings(w, l.Settings)
	if l.Circle != nil {
		say = w.T("labs.strategies.lane.circle", "say", say, "n", fmt.Sprint(l.Circle.Start),
			"period", fmt.Sprint(l.Circle.Period))
	}
	if l.Stop != "" {
		say = w.T("labs.strategies.lane.end", "say", say, "stop", w.Stop(string(l.Stop)).A)
	}
	return say
}

// laneSettings lists the settings of a lane that are not off: "T 0.7, top-p 0.9".
func laneSettings(w stage.Words, s sampling.Settings) string {
	if s.Greedy() {
		return w.T("rule.greedy")
	}
	say := w.T("setting", "name", "T", "x", terms.Plain(s.Temperature))
	for _, rule := range s.Rules() {
		if k, ok := w.Knob(rule.Knob()); ok {
			x, _ := s.Value(k.Key)
			number := terms.Plain(x)
			if k.Whole() {
				number = terms.Count(int64(x))
			}
			say = w.T("list.next", "list", say, "next", w.T("setting", "name", k.Name, "x", number))
		}
	}
	return say
}

// A partingView shows a step at which two lanes diverge.
type partingView struct {
	Lanes, Step, U, Why string
	Strips              [2]stripView
}

// A stripView shows one lane's strip at the step of a [partingView]. The segments of the lane's own
// token and of the other lane's token, and the position of u, are SVG lengths, which are empty if
// there is no such segment or position.
type stripView struct {
	Lane                            string
	Takes                           stage.Text
	OwnX, OwnW, OtherX, OtherW, UAt string
}

func partingsOf(w stage.Words, s *lab.Strategies) []partingView {
	list := make([]partingView, len(s.Partings))
	for i, p := range s.Partings {
		v := partingView{Step: terms.Count(p.Step), U: terms.Decimals(p.U, 4), Why: p.Say.In(w.Language)}
		var names [2]string
		for k, lane := range p.Lanes {
			names[k] = fmt.Sprintf("%d %s", lane+1, s.Lanes[lane].Name.In(w.Language))
			strip := stripView{Lane: names[k], Takes: marked(p.Tokens[k])}
			strip.OwnX, strip.OwnW = lengths(p.Segments[k][k])
			strip.OtherX, strip.OtherW = lengths(p.Segments[k][1-k])
			if s.Lanes[lane].Settings.Temperature > 0 {
				strip.UAt = stage.Share(p.U)
			}
			v.Strips[k] = strip
		}
		v.Lanes = w.T("list.last", "list", names[0], "last", names[1])
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

func runsText(w stage.Words, s *lab.Strategies) stage.Rich {
	if len(s.Runs) == 0 {
		return w.Rich("labs.strategies.runs.writing")
	}
	return w.Rich("labs.strategies.runs.say", "seed", terms.Count(int64(s.Seed)))
}

func runsGrid(w stage.Words, s *lab.Strategies) grid {
	g := newGrid(
		w, "labs.strategies.grid.", "lane", "runs", "texts", "distinct_2", "repetition", "ln_p", "entropy",
	)
	for _, r := range s.Runs {
		g.Rows = append(g.Rows, []string{
			fmt.Sprintf("%d %s", r.Lane+1, s.Lanes[r.Lane].Name.In(w.Language)),
			terms.Count(r.Runs), terms.Count(r.DistinctTexts),
			w.T("labs.strategies.grid.pairs", "share", terms.Decimals(r.Distinct2, 2),
				"n", terms.Count(r.DistinctPairs), "all", terms.Count(r.Pairs)),
			terms.Decimals(r.Repetition, 2), terms.Decimals(r.MeanLogP, 2), terms.Decimals(r.MeanEntropy, 2),
		})
	}
	return g
}

func circleSection(w stage.Words, c *lab.CircleSearch) section {
	s := section{ID: "circle", Title: w.T("labs.strategies.circle"), Half: true, Body: chips(c.Text, c.Circle)}
	if c.Circle == nil {
		s.Say = w.Rich("labs.strategies.circle.none", "n", c.Tried)
		return s
	}
	s.Say = w.Rich("labs.strategies.circle.say", "prompt", c.Prompt, "from", terms.Count(c.Circle.Start),
		"period", fmt.Sprint(c.Circle.Period), "times", terms.Decimals(c.Circle.Rounds, 1), "x", accent)
	return s
}

func bestSection(w stage.Words, s *lab.SequenceSearch) section {
	key := "labs.strategies.best"
	if !s.Differs {
		key = "labs.strategies.best.same"
	}
	out := section{ID: "best", Title: w.T(key), Half: true, Body: pathsView(s)}
	key = "labs.strategies.best.say"
	if !s.Exact {
		key = "labs.strategies.best.cut"
	}
	out.Say = w.Rich(key, "prompt", s.Prompt, "n", terms.Count(s.Horizon), "greedy", terms.Prob(s.Greedy.P),
		"best", terms.Prob(s.Best.P), "passes", terms.Count(s.Expanded), "b", bold, "x", accent)
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

func firstParting(w stage.Words, s *lab.Strategies) (string, string, bool) {
	step, ok := partAt(s)
	if !ok {
		return "", "", false
	}
	a, b := s.Lanes[0].Name, s.Lanes[1].Name
	if step == 0 {
		return "never", w.T("labs.strategies.found.never", "a", a, "b", b, "n", fmt.Sprint(len(s.Lanes[0].Steps))), true
	}
	return guess.Among(float64(step), []float64{1, 5, 20}, "1", "5", "20", "more"),
		w.T("labs.strategies.found", "a", a, "b", b, "n", fmt.Sprint(step)), true
}
