package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// runSums collects the texts of one lane.
type runSums struct {
	texts   []RunText
	pairs   [][2]int
	logs    []float64
	entropy [][]float64 // by step
}

// add adds one text. steps are the steps of its loop.
func (s *runSums) add(seed uint64, text string, steps []*infer.Step) {
	var logs, entropies []float64
	for i, step := range steps {
		logs, entropies = append(logs, logP(step.Logits, step.Chosen)), append(entropies, step.Entropy)
		if i == len(s.entropy) {
			s.entropy = append(s.entropy, nil)
		}
		s.entropy[i] = append(s.entropy[i], step.Entropy)
	}
	row := RunText{Seed: seed, Text: text, Stop: steps[len(steps)-1].Stop, Measures: measure(ids(steps))}
	row.Measures.MeanLogP, row.Measures.Entropy = mean(logs), mean(entropies)
	s.texts, s.logs = append(s.texts, row), append(s.logs, logs...)
	s.pairs = append(s.pairs, pairs(ids(steps))...)
}

func (s *runSums) row(lane int) LaneRuns {
	row := LaneRuns{
		Lane: lane, Runs: len(s.texts), DistinctPairs: distinct(s.pairs), Pairs: len(s.pairs),
		MeanLogP: mean(s.logs), Texts: s.texts[:len(s.texts):len(s.texts)],
	}
	var texts []string
	var repeated []float64
	for _, t := range s.texts {
		texts, repeated = append(texts, t.Text), append(repeated, t.Measures.Repetition)
	}
	row.DistinctTexts, row.Repetition = distinct(texts), mean(repeated)
	row.Distinct2 = ratio(row.DistinctPairs, row.Pairs)
	var all []float64
	for _, e := range s.entropy {
		row.Entropy, all = append(row.Entropy, mean(e)), append(all, e...)
	}
	row.MeanEntropy = mean(all)
	return row
}

// tables returns the raw rows.
func (s *Strategies) tables() []Table {
	steps := Table{
		Name: "steps", Title: Text("lab.strategies.steps"),
		Columns: columns(
			"lane", "", "step", "", "u", "", "token", "", "id", "", "rank", "", "p", "", "q", "", "ln_p_at_1",
			"nats", "entropy", "bits", "kept", "tokens", "from", "", "to", "",
		),
	}
	for _, lane := range s.Lanes {
		for _, x := range lane.Steps {
			steps.add(
				lane.Name, x.Step, s.U[x.Step-1], x.Token.Text, x.Token.ID, x.Rank, x.P, x.Q, x.LogP, x.Entropy, x.Kept,
				x.From, x.To,
			)
		}
	}
	parts := Table{
		Name: "partings", Title: Text("lab.strategies.partings"),
		Columns: columns(
			"lane", "", "other_lane", "", "step", "", "u", "", "token", "", "other_token", "", "why", "", "cut_by", "",
		),
	}
	for _, p := range s.Partings {
		parts.add(
			s.Lanes[p.Lanes[0]].Name, s.Lanes[p.Lanes[1]].Name, p.Step, p.U, p.Tokens[0].Text, p.Tokens[1].Text, p.Why,
			p.CutBy,
		)
	}
	runs := Table{
		Name: "runs", Title: Text("lab.strategies.runs"),
		Columns: columns(
			"lane", "", "runs", "", "distinct_texts", "", "distinct_pairs", "", "pairs", "", "distinct_2", "",
			"repetition", "", "mean_ln_p", "nats", "mean_entropy", "bits",
		),
	}
	texts := Table{
		Name: "texts", Title: Text("lab.strategies.texts"),
		Columns: columns(
			"lane", "", "seed", "", "tokens", "", "distinct_2", "", "repetition", "", "mean_ln_p", "nats", "entropy",
			"bits", "stop", "", "text", "",
		),
	}
	entropy := Table{
		Name: "entropy", Title: Text("lab.strategies.entropy"),
		Columns: columns("lane", "", "step", "", "entropy", "bits"),
	}
	for _, r := range s.Runs {
		name := s.Lanes[r.Lane].Name
		runs.add(
			name, r.Runs, r.DistinctTexts, r.DistinctPairs, r.Pairs, r.Distinct2, r.Repetition, r.MeanLogP,
			r.MeanEntropy,
		)
		for _, t := range r.Texts {
			texts.add(
				name, int64(t.Seed), t.Measures.Tokens, t.Measures.Distinct2, t.Measures.Repetition,
				t.Measures.MeanLogP, t.Measures.Entropy, string(t.Stop), t.Text,
			)
		}
		for i, e := range r.Entropy {
			entropy.add(name, i+1, e)
		}
	}
	tables := []Table{steps, parts, runs, texts, entropy}
	if s.Circle != nil {
		tables = append(tables, s.Circle.table())
	}
	if s.Best != nil {
		tables = append(tables, s.Best.table())
	}
	return tables
}

// table returns greedy's text, with each token's position in the circle.
func (c *CircleSearch) table() Table {
	t := Table{
		Name: "circle", Title: Text("lab.strategies.circle", "prompt", terms.Quoted(c.Prompt)),
		Columns: columns("token", "", "text", "", "round", "", "place_in_it", ""),
	}
	for i, token := range c.Text {
		var round, place any
		if x := c.Circle; x != nil && i+1 >= x.Start {
			round, place = (i+1-x.Start)/x.Period+1, (i+1-x.Start)%x.Period+1
		}
		t.add(i+1, token.Text, round, place)
	}
	return t
}

func (s *SequenceSearch) table() Table {
	t := Table{
		Name: "sequences", Title: Text("lab.strategies.sequences"),
		Columns: columns("path", "", "place", "", "token", "", "p", "", "product", ""),
	}
	for _, path := range []struct {
		name Phrase
		Sequence
	}{{Text("lab.strategies.sequences.greedy"), s.Greedy}, {Text("lab.strategies.sequences.best"), s.Best}} {
		product := 1.0
		for i, token := range path.Tokens {
			product *= path.Each[i]
			t.add(path.name, i+1, token.Text, path.Each[i], product)
		}
	}
	return t
}

func (s *Strategies) findings() []Phrase {
	var list []Phrase
	if len(s.Partings) > 0 {
		p := s.Partings[0]
		list = append(list, Text("lab.strategies.found.part", "n", fmt.Sprint(p.Step), "why", p.Say))
	} else if len(s.Lanes) > 1 {
		list = append(list, Text("lab.strategies.found.together", "n", fmt.Sprint(len(s.U))))
	}
	var runs Phrase
	for i, r := range s.Runs {
		next := Text("setting", "name", s.Lanes[r.Lane].Name, "x", fmt.Sprint(r.DistinctTexts))
		if runs = Text("list.next", "list", runs, "next", next); i == 0 {
			runs = next
		}
	}
	if len(s.Runs) > 0 && s.Runs[0].Runs > 1 {
		list = append(list, Text("lab.strategies.found.texts", "runs", fmt.Sprint(s.Runs[0].Runs),
			"lanes", runs))
	}
	if c := s.Circle; c != nil && c.Circle != nil {
		round := ""
		for _, t := range c.Circle.Tokens {
			round += t.Text
		}
		list = append(list, Text("lab.strategies.found.circle", "prompt", shown(c.Prompt),
			"from", fmt.Sprint(c.Circle.Start), "period", fmt.Sprint(c.Circle.Period),
			"times", fmt.Sprintf("%.1f", c.Circle.Rounds), "round", shown(round)))
	} else if c != nil {
		list = append(list, Text("lab.strategies.found.no_circle", "n", fmt.Sprint(c.Tried)))
	}
	return append(list, s.Best.findings()...)
}
