package labs

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/view"
)

// laneView is a lane with its tokens marked.
type laneView struct {
	N      int
	Name   string
	Say    string
	Tokens []laneToken
}

// laneToken is one token of a lane.
type laneToken struct {
	Text  view.Text
	Ramp  string
	P     string
	Title string
	Parts bool // the first token that differs from the first lane's
	Same  bool // the first lane has written the same so far
	Round bool // within the circle that the text goes round in
}

func strategiesSections(s *lab.Strategies) []section {
	var lanes []laneView
	var entropy []plots.EntropyLane
	for i, l := range s.Lanes {
		lanes = append(lanes, newLane(i, l, partingFrom(s, i)))
		bits := make([]float64, len(l.Steps))
		for k, step := range l.Steps {
			bits[k] = step.Entropy
		}
		entropy = append(entropy, plots.EntropyLane{Name: l.Name, Bits: bits})
	}
	list := []section{{
		ID: "lanes", Title: "Lanes", Small: "one prompt, one seed, the same u at every step",
		Say:  say("The darker a token, the more probable it was when it was taken. A thick edge is where a lane first leaves lane 1; a dashed rule runs under tokens that go round in a circle."),
		Body: lanesView(lanes),
	}}
	if len(s.Partings) > 0 {
		list = append(list, section{ID: "partings", Title: "Where two lanes part, and why", Body: table(partingsGrid(s))})
	}
	list = append(list, section{ID: "entropy", Title: "How unsure the model was", Half: true, Caption: "step; entropy in bits, before the filters"}.charted(plots.Entropies(entropy)),
		section{ID: "runs", Title: "Over more runs", Half: true, Say: runsSay(s), Body: table(runsGrid(s))})
	if s.Circle != nil {
		list = append(list, circleSection(s.Circle))
	}
	if s.Best != nil {
		list = append(list, bestSection(s.Best))
	}
	return list
}

// partingFrom is the step at which a lane first differs from the first one.
func partingFrom(s *lab.Strategies, lane int) int {
	for _, p := range s.Partings {
		if p.Lanes == [2]int{0, lane} {
			return p.Step
		}
	}
	return 0
}

func newLane(i int, l lab.Lane, parts int) laneView {
	v := laneView{N: i + 1, Name: l.Name, Say: settingsSay(l)}
	for _, s := range l.Steps {
		v.Tokens = append(v.Tokens, laneToken{
			Text: marked(s.Token), Ramp: view.Ramp(s.P), P: view.ProbShort(s.P),
			Title: fmt.Sprintf("token %d, p %s, rank %d of %d kept", s.Step, view.Prob(s.P), s.Rank, s.Kept),
			Parts: s.Step == parts, Same: i > 0 && (parts == 0 || s.Step < parts),
			Round: l.Circle != nil && s.Step >= l.Circle.Start,
		})
	}
	return v
}

func settingsSay(l lab.Lane) string {
	s := l.Settings
	say := "greedy"
	if s.Temperature > 0 {
		say = "T " + trimmed(s.Temperature)
		if s.TopK > 0 {
			say += ", top-k " + view.Count(s.TopK)
		}
		if s.TopP < 1 {
			say += ", top-p " + trimmed(s.TopP)
		}
		if s.MinP > 0 {
			say += ", min-p " + trimmed(s.MinP)
		}
	}
	if l.Circle != nil {
		say += fmt.Sprintf("; from token %d it goes round in %d", l.Circle.Start, l.Circle.Period)
	}
	if l.Stop != "" {
		say += "; ended by " + stopName(string(l.Stop))
	}
	return say
}

func partingsGrid(s *lab.Strategies) grid {
	g := grid{Caption: "First tokens that differ", Head: []string{"lanes", "token", "u", "one takes", "the other", "why"}}
	for _, p := range s.Partings {
		g.Rows = append(g.Rows, []string{
			fmt.Sprintf("%d %s, %d %s", p.Lanes[0]+1, s.Lanes[p.Lanes[0]].Name, p.Lanes[1]+1, s.Lanes[p.Lanes[1]].Name),
			view.Count(p.Step), view.Decimals(p.U, 4), tokenName(p.Tokens[0]), tokenName(p.Tokens[1]), p.Say,
		})
	}
	return g
}

func runsSay(s *lab.Strategies) []span {
	if len(s.Runs) == 0 {
		return say("Being written.")
	}
	return say("Texts of each lane with the seeds ", b(view.Count(int64(s.Seed))), " and following. Distinct-2 is the share of pairs of neighbouring tokens that differ; repetition the share of runs of four that came before. ln p is the model’s own, at T = 1 with nothing cut.")
}

func runsGrid(s *lab.Strategies) grid {
	g := grid{Caption: "Each lane over its runs", Head: []string{"lane", "runs", "distinct texts", "distinct-2", "repetition", "mean ln p"}}
	for _, r := range s.Runs {
		g.Rows = append(g.Rows, []string{
			fmt.Sprintf("%d %s", r.Lane+1, s.Lanes[r.Lane].Name), view.Count(r.Runs), view.Count(r.DistinctTexts),
			view.Decimals(r.Distinct2, 2), view.Decimals(r.Repetition, 2), view.Decimals(r.MeanLogP, 2),
		})
	}
	return g
}

func circleSection(c *lab.CircleSearch) section {
	s := section{ID: "circle", Title: "Greedy’s circle", Half: true, Body: chips(c.Text, c.Circle)}
	if c.Circle == nil {
		s.Say = say("Greedy was tried on ", b(view.Count(c.Tried)), " prompts; none of its texts goes round in this many tokens. The last one:")
		return s
	}
	s.Say = say("After “"+c.Prompt+"” greedy goes round from token ", b(view.Count(c.Circle.Start)), " on: ",
		x(fmt.Sprintf("%d tokens, %s times over.", c.Circle.Period, view.Decimals(c.Circle.Rounds, 1))), " Once a text is back where it was, greedy has no way out.")
	return s
}

func bestSection(s *lab.SequenceSearch) section {
	out := section{ID: "best", Title: "Greedy is not the most probable text", Half: true, Body: pathsView(s)}
	if !s.Differs {
		out.Title = "Greedy beside the most probable text"
	}
	found := "the search left nothing out"
	if !s.Exact {
		found = "the search was cut short, so a better one may exist"
	}
	out.Say = say("After “"+s.Prompt+"”, ", b(view.Count(s.Horizon)+" tokens"), ": greedy’s path has probability ", b(view.Prob(s.Greedy.P)),
		", the best ", x(view.Prob(s.Best.P)), ". "+view.Count(s.Expanded)+" forward passes; "+found+".")
	return out
}

// stopName is a stop's reason in words.
func stopName(reason string) string {
	if name, ok := map[string]string{
		"eos": "an end of text", "stop_string": "a stop string", "max_tokens": "max_tokens", "context": "a full context",
	}[reason]; ok {
		return name
	}
	return reason
}
