package lab

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// maxLanes is the maximum number of texts that the strategies lab generates in parallel.
const maxLanes = 6

// parseLanes parses the lanes input.
func (e Env) parseLanes(text string) ([]Lane, error) {
	var lanes []Lane
	for part := range strings.SplitSeq(text, ",") {
		lane, err := e.parseLane(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, lane)
	}
	if len(lanes) > maxLanes {
		return nil, e.refuseLanes(e.words().T("lab.refused.lanes.many", "n", fmt.Sprint(len(lanes))))
	}
	return lanes, nil
}

// refuseLanes returns the error for an invalid lanes input.
func (e Env) refuseLanes(got string) error {
	return terms.NewRangeError("lanes", got, e.words().T("lab.refused.lanes"))
}

func (e Env) parseLane(text string) (Lane, error) {
	if p, ok := sampling.PresetByKey(text); ok {
		return Lane{Name: p.Name(), Settings: p.Settings}, nil
	}
	s := sampling.Pure
	fields := strings.Fields(text)
	for _, field := range fields {
		key, value, _ := strings.Cut(field, "=")
		k, isKnob := terms.KnobNamed(key)
		x, isNumber := terms.ReadNumber(value)
		if !isKnob || !isNumber {
			return Lane{}, e.refuseLanes(terms.Quoted(text))
		}
		err := k.Check(x)
		if err == nil && !s.Set(k.Key, x) {
			err = errors.New(e.words().T("lab.refused.lane.setting", "key", k.Key))
		}
		if err != nil {
			return Lane{}, e.refuseLanes(e.words().T("lab.refused.lane", "lane", terms.Quoted(text), "why",
				err.Error()))
		}
	}
	if len(fields) == 0 {
		return Lane{}, e.refuseLanes(e.words().T("lab.refused.lane.empty"))
	}
	return Lane{Name: laneName(s), Settings: s}, nil
}

// laneName returns a name for settings: the name of their preset, or a list of all settings, so
// that the rows of two lanes can be distinguished.
func laneName(s sampling.Settings) Phrase {
	if p, ok := sampling.PresetOf(s); ok {
		return p.Name()
	}
	return s.Name()
}

// laneStep converts a step of the loop to a step of a lane. d is the step's distribution.
func laneStep(m *infer.Model, s *infer.Step, d *sampling.Distribution) LaneStep {
	row := LaneStep{
		Step: s.N, Token: tokenOf(m, s.Chosen), Rank: s.Rank, P: s.P, Q: s.Q,
		LogP: logP(s.Logits, s.Chosen), Entropy: s.Entropy, Kept: d.Keep,
	}
	if !s.Settings.Greedy() {
		row.From, row.To = d.Segment(s.Rank - 1)
	}
	return row
}

// logP returns ln p of a token in the softmax of the logits z [vocab] at T = 1: z[id] − ln Σ e^z.
func logP(z []float32, id int) float64 {
	largest := math.Inf(-1)
	for _, v := range z {
		largest = max(largest, float64(v))
	}
	sum := 0.0
	for _, v := range z {
		sum += math.Exp(float64(v) - largest)
	}
	return float64(z[id]) - largest - math.Log(sum)
}

// parting describes why two lanes diverge at a step. x and y are the two lanes' steps.
func parting(m *infer.Model, lanes []Lane, two [2]int, x, y *infer.Step) Parting {
	p := Parting{
		Lanes: two, Step: x.N, U: sampling.U(x.Settings.Seed, x.N),
		Tokens: [2]Token{tokenOf(m, x.Chosen), tokenOf(m, y.Chosen)},
	}
	dists := [2]*sampling.Distribution{x.Distribution(), y.Distribution()}
	for lane, d := range dists {
		for token, id := range []int{x.Chosen, y.Chosen} {
			if r := d.RankOf(int32(id)); r >= 0 && d.Stays(r) {
				from, to := d.Segment(r)
				p.Segments[lane][token] = Segment{from, to}
			}
		}
	}
	p.explain(lanes, dists, m)
	return p
}

// explain sets the reason why two lanes diverge: one lane is greedy, one lane's filters cut the
// other's token, or u falls on different segments.
func (p *Parting) explain(lanes []Lane, dists [2]*sampling.Distribution, m *infer.Model) {
	names := [2]Phrase{lanes[p.Lanes[0]].Name, lanes[p.Lanes[1]].Name}
	for lane, d := range dists {
		if d.Settings.Greedy() {
			p.Why = PartGreedy
			p.Say = Text("lab.parting.greedy", "lane", names[lane], "token", p.Tokens[lane].Text,
				"other", names[1-lane], "u", fmt.Sprintf("%.4f", p.U), "drawn", p.Tokens[1-lane].Text)
			return
		}
	}
	for lane, d := range dists {
		other := p.Tokens[1-lane]
		r := d.RankOf(int32(other.ID))
		if rule := d.CutBy(r); rule != sampling.RuleNone {
			cut := tokenOf(m, other.ID)
			p.Why, p.CutBy, p.Cut = PartFilter, string(rule), &cut
			p.Say = Text("lab.parting.filter", "lane", names[lane], "cut", other.Text, "rule", rule,
				"rank", fmt.Sprint(r+1), "p", fmt.Sprintf("%.4f", d.P[other.ID]), "u", fmt.Sprintf("%.4f", p.U),
				"token", p.Tokens[lane].Text)
			return
		}
	}
	p.Why = PartSegment
	four := func(x float64) string { return fmt.Sprintf("%.4f", x) }
	p.Say = Text("lab.parting.segment", "u", four(p.U),
		"from", four(p.Segments[0][0].From), "to", four(p.Segments[0][0].To), "lane", names[0], "token",
		p.Tokens[0].Text,
		"other_from", four(p.Segments[1][1].From), "other_to", four(p.Segments[1][1].To), "other", names[1],
		"other_token", p.Tokens[1].Text)
}
