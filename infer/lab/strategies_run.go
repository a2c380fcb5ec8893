package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// housePrompts holds prompts to try if the lab's own prompt does not show the effect. Whether a
// prompt shows it depends on the model.
var housePrompts = []string{
	story, "There was a little old woman who", "A ship", "The old man looked at the", "User: Tell me a " +
		"story.\nAssistant:", "One day",
	"The capital of France is", "She said that", "I like to", "The", "It was a dark night and", "Yes, yes, yes,",
	"There are many",
}

// circleMost is the maximum length of greedy's text in the search for a circle.
const circleMost = 240

// strategiesRun is a run of the strategies lab.
type strategiesRun struct {
	*running
	m      *infer.Model
	v      terms.Values
	prompt string
	tokens int
	result Strategies
	loops  []*infer.Loop
	ids    [][]int       // by lane
	steps  []*infer.Step // by lane: the newest step
}

// Estimate implements [Lab].
func (strategiesLab) Estimate(env Env, v terms.Values) (Estimate, error) {
	lanes, err := env.parseLanes(v["lanes"])
	if err != nil {
		return Estimate{}, err
	}
	m, tokens, err := env.room(v, "tokens")
	if err != nil {
		return Estimate{}, err
	}
	s := env.Target.Shape()
	circle := written(s, m, min(circleMost, env.Target.Config().Context-m+1))
	all := written(s, m, tokens).times(len(lanes) * v.Int("runs")).plus(circle)
	if v.Int("horizon") > 0 {
		all.steps += int64(v.Int("passes")) * s.Step(m).Total() // an upper bound
	}
	kept := int64(len(lanes)*tokens) * int64(s.Vocab+s.Width) * 4
	return guess(
		env, all, len(lanes)*v.Int("runs")*tokens+circleMost, kept+int64(len(lanes))*s.KVBytes(m+tokens, 4),
	), nil
}

// Run implements [Lab].
func (strategiesLab) Run(ctx context.Context, env Env, v terms.Values, progress func(Progress)) (*Report, error) {
	lanes, err := env.parseLanes(v["lanes"])
	if err != nil {
		return nil, err
	}
	_, tokens, err := env.room(v, "tokens")
	if err != nil {
		return nil, err
	}
	r := &strategiesRun{
		running: start(ctx, "strategies", env, v, progress), m: env.Target, v: v, prompt: v["prompt"], tokens: tokens,
	}
	r.fill = r.fillReport
	r.of = len(lanes)*tokens*v.Int("runs") + 2*len(housePrompts)
	r.result = Strategies{Seed: uint64(v.Float("seed")), Lanes: lanes, Prompt: tokensOf(r.m, r.m.Encode(r.prompt))}
	for _, step := range []func() error{r.together, r.further, r.circle, r.best} {
		if err := step(); err != nil {
			return r.end(err)
		}
	}
	return r.end(nil)
}

// settings returns a lane's settings for one run.
func (r *strategiesRun) settings(lane int, seed uint64) infer.Settings {
	return infer.Settings{Settings: r.result.Lanes[lane].Settings, Seed: seed, Stop: infer.Stop{MaxTokens: r.tokens}}
}

// together generates all lanes' texts in lockstep.
func (r *strategiesRun) together() error {
	r.steps, r.ids = make([]*infer.Step, len(r.result.Lanes)), make([][]int, len(r.result.Lanes))
	for i := range r.result.Lanes {
		loop, err := infer.NewLoop(r.m, r.prompt, r.settings(i, r.result.Seed))
		if err != nil {
			return err
		}
		r.loops = append(r.loops, loop)
	}
	for n := 1; n <= r.tokens; n++ {
		running := false
		r.result.U = append(r.result.U, sampling.U(r.result.Seed, n))
		for i := range r.loops {
			lane := &r.result.Lanes[i]
			if lane.Stop != infer.StopNone {
				r.done++
				continue
			}
			s, err := turn(r.ctx, r.loops[i])
			if err != nil {
				return err
			}
			running = true
			d := r.loops[i].Distribution()
			if d == nil {
				d = s.Distribution()
			}
			r.steps[i] = s
			r.ids[i] = append(r.ids[i], s.Chosen)
			lane.Steps = append(lane.Steps, laneStep(r.m, s, d))
			lane.Text += s.Text
			lane.Stop = s.Stop
			r.done++
		}
		if !running {
			r.result.U = r.result.U[:n-1]
			break
		}
		r.part()
		r.tell(0, Text("lab.strategies.run.lanes", "n", fmt.Sprint(n), "all", fmt.Sprint(r.tokens),
			"lanes", fmt.Sprint(len(r.loops))))
	}
	describe(r.m, r.result.Lanes, r.ids)
	return nil
}

// part looks for pairs of lanes that first diverge at the newest step.
func (r *strategiesRun) part() {
	for a := range r.steps {
		for b := a + 1; b < len(r.steps); b++ {
			n := len(r.ids[a])
			if n != len(r.result.U) || n != len(r.ids[b]) || !slices.Equal(r.ids[a][:n-1], r.ids[b][:n-1]) ||
				r.steps[a].Chosen == r.steps[b].Chosen {
				continue
			}
			r.result.Partings = append(
				slices.Clip(r.result.Partings), parting(r.m, r.result.Lanes, [2]int{a, b}, r.steps[a], r.steps[b]),
			)
		}
	}
}

// describe fills in the results that are derived from the lanes' steps.
func describe(m *infer.Model, lanes []Lane, ids [][]int) {
	for i := range lanes {
		lane := &lanes[i]
		lane.Measures = measure(ids[i])
		var logs, entropies []float64
		for _, s := range lane.Steps {
			logs, entropies = append(logs, s.LogP), append(entropies, s.Entropy)
		}
		lane.Measures.MeanLogP, lane.Measures.Entropy = mean(logs), mean(entropies)
		lane.Circle = circle(m, ids[i])
	}
}

func ids(steps []*infer.Step) []int {
	list := make([]int, len(steps))
	for i, s := range steps {
		list[i] = s.Chosen
	}
	return list
}

// further generates more texts for each lane, with the next seeds, and summarizes them.
func (r *strategiesRun) further() error {
	runs := r.v.Int("runs")
	sums := make([]runSums, len(r.result.Lanes))
	for i := range r.result.Lanes {
		sums[i].add(r.result.Seed, r.result.Lanes[i].Text, r.loops[i].Steps())
		r.result.Runs = append(r.result.Runs, sums[i].row(i))
	}
	for n := 1; n < runs; n++ {
		seed := (r.result.Seed + uint64(n)) % (infer.MaxSeed + 1)
		for i := range r.result.Lanes {
			loop, err := infer.NewLoop(r.m, r.prompt, r.settings(i, seed))
			if err != nil {
				return err
			}
			text, err := write(r.ctx, loop)
			if err != nil {
				return err
			}
			sums[i].add(seed, text, loop.Steps())
			r.result.Runs = slices.Clone(r.result.Runs)
			r.result.Runs[i] = sums[i].row(i)
			r.tell(r.tokens, Text("lab.strategies.run.further", "n", fmt.Sprint(n+1), "all", fmt.Sprint(runs),
				"lane", r.result.Lanes[i].Name))
		}
	}
	return nil
}

// circle looks for a text in which greedy loops.
func (r *strategiesRun) circle() error {
	for i, prompt := range r.prompts() {
		r.tell(1, Text("lab.strategies.run.circle"))
		most := min(circleMost, r.m.Config().Context-len(r.m.Encode(prompt))+1)
		loop, err := infer.NewLoop(r.m, prompt, infer.Settings{Settings: greedy(), Stop: infer.Stop{MaxTokens: most}})
		if err != nil {
			return err
		}
		for {
			_, err := turn(r.ctx, loop)
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
			if c := circle(r.m, chosen(loop)); c != nil && c.Rounds >= 3 {
				break
			}
		}
		text := chosen(loop)
		r.result.Circle = &CircleSearch{
			Prompt: prompt, Tried: i + 1, Text: tokensOf(r.m, text), Circle: circle(r.m, text),
		}
		if r.result.Circle.Circle != nil {
			return nil
		}
	}
	return nil
}

// best looks for a prompt after which greedy's path is not the most probable path.
func (r *strategiesRun) best() error {
	horizon := r.v.Int("horizon")
	if horizon == 0 {
		return nil
	}
	passes := r.v.Int("passes") // for all prompts together
	for i, prompt := range r.prompts() {
		if passes <= 0 {
			return nil
		}
		r.tell(1, Text("lab.strategies.run.best"))
		ids := r.m.Encode(prompt)
		if len(ids)+horizon-1 > r.m.Config().Context {
			continue
		}
		f, err := searchBest(r.ctx, scores(r.m, ids), r.m.EOS, horizon, passes)
		if err != nil {
			return err
		}
		passes -= f.expanded
		s := &SequenceSearch{
			Prompt: prompt, Tried: i + 1, Horizon: horizon, Greedy: f.greedy.sequence(r.m), Best: f.best.sequence(r.m),
			Exact: f.exact, Expanded: f.expanded, Possible: possible(r.m.Config().Vocab, horizon),
		}
		s.Differs = f.best.log > f.greedy.log
		if r.result.Best == nil || s.Differs {
			r.result.Best = s
		} else {
			r.result.Best.Tried = i + 1
		}
		if s.Differs {
			return nil
		}
	}
	return nil
}

// prompts returns the lab's own prompt, followed by the housePrompts.
func (r *strategiesRun) prompts() []string {
	list := []string{r.prompt}
	for _, p := range housePrompts {
		if p != r.prompt && len(r.m.Encode(p)) < r.m.Config().Context {
			list = append(list, p)
		}
	}
	return list
}

// fillReport fills in a report.
func (r *strategiesRun) fillReport(to *Report) {
	if len(r.ids) == 0 || len(r.ids[0]) == 0 {
		return
	}
	result := r.result
	result.Lanes = slices.Clone(r.result.Lanes)
	describe(r.m, result.Lanes, r.ids)
	result.U = slices.Clip(result.U)
	to.Result = &result
}
