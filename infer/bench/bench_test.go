package bench

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/kernel"
)

func smallPlan() Plan {
	return Plan{
		Quants: []infer.Quant{infer.QuantNone, infer.QuantInt8}, Threads: []int{1, 2}, Texts: []int{1, 3},
		Prompt: 20, Written: 5, Time: time.Nanosecond,
	}
}

// TestRunHasARowForEachCase: a run returns one row for each case, in the plan's order, with
// consistent rates: the ratio of a round's operations to its tokens matches the formulas of
// infer/cost.
func TestRunHasARowForEachCase(t *testing.T) {
	models := map[infer.Quant]*infer.Model{}
	plan := smallPlan()
	var told []int
	rows, err := Run(context.Background(), plan, func(q infer.Quant) (*infer.Model, error) {
		models[q] = load(t, q)
		return models[q], nil
	}, func(done, of int, c Case) {
		if of != 2*10*turns {
			t.Errorf("progress counts %d turns, want 2 quantizations × 10 cases × %d", of, turns)
		}
		told = append(told, done)
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, done := range told {
		if i != done {
			t.Fatalf("progress call %d reported %d finished turns, want the call's index", i, done)
		}
	}
	cases := slices.Concat(plan.Cases(infer.QuantNone), plan.Cases(infer.QuantInt8))
	if len(rows) != len(cases) {
		t.Fatalf("got %d rows for %d cases, want one for each", len(rows), len(cases))
	}
	shape := models[infer.QuantNone].Shape()
	for i, r := range rows {
		if r.Case != cases[i] {
			t.Errorf("row %d has the case %+v, want %+v", i, r.Case, cases[i])
		}
		if r.Rounds < turns || r.Rate <= 0 || r.Best < r.Rate || r.Path != kernel.Current().String() {
			t.Errorf(
				"got row %+v; want at least %d rounds, a positive rate of at most the best, and the current path", r,
				turns,
			)
		}
		// Multiply-adds per token in this round.
		perToken := map[Phase]float64{
			Kernel:  6 * 688_128 * float64(r.Threads),
			Prefill: float64(shape.Pass(20).Total()) / 20,
			Decode:  steps(shape, 5),
		}[r.Phase]
		if got := r.GFLOPS * 1e9 / 2 / r.Rate; got < perToken*0.999 || got > perToken*1.001 {
			t.Errorf("%+v: %.0f multiply-adds a token, want %.0f", r.Case, got, perToken)
		}
	}
}

// steps returns the mean number of multiply-adds in the first n steps.
func steps(s cost.Shape, n int) float64 {
	sum := 0.
	for i := 1; i <= n; i++ {
		sum += float64(s.Step(i).Total())
	}
	return sum / float64(n)
}

func TestRunEndsWhenCanceled(t *testing.T) {
	m := load(t, infer.QuantNone)
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	_, err := Run(ctx, smallPlan(), func(infer.Quant) (*infer.Model, error) { return m, nil }, func(int, int, Case) {
		if calls++; calls == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || calls != 3 {
		t.Errorf("got %v after %d turns, want context.Canceled after 3", err, calls)
	}
	broken := errors.New("broken")
	if _, err := Run(
		context.Background(), smallPlan(), func(infer.Quant) (*infer.Model, error) { return nil, broken }, nil,
	); !errors.Is(err, broken) {
		t.Errorf("got error %v, want load's error", err)
	}
}

func TestPlanCheckRefusesBadPlans(t *testing.T) {
	for name, change := range map[string]func(*Plan){
		"no threads":       func(p *Plan) { p.Threads = []int{0} },
		"many texts":       func(p *Plan) { p.Texts = []int{257} },
		"no prompt":        func(p *Plan) { p.Prompt = 0 },
		"long prompt":      func(p *Plan) { p.Prompt = 101 },
		"too much written": func(p *Plan) { p.Written = 101 },
		"no time":          func(p *Plan) { p.Time = 0 },
	} {
		p := smallPlan()
		if err := p.Check(100); err != nil {
			t.Fatal(err)
		}
		if change(&p); p.Check(100) == nil {
			t.Errorf("a plan with %s was accepted", name)
		}
	}
}

// TestRowMedianAndBest: for rounds of 10 tokens that take 4, 1 and 2 seconds, the median round
// takes 2 seconds and the best takes 1 second.
func TestRowMedianAndBest(t *testing.T) {
	r := row(Case{Tokens: 5, Texts: 2}, []round{{4 * time.Second, 2e9}, {time.Second, 2e9}, {2 * time.Second, 2e9}})
	if r.Rate != 5 || r.Best != 10 || r.GFLOPS != 2 || r.Rounds != 3 {
		t.Errorf("got %+v, want 5 and 10 tokens/s, 2 GFLOP/s", r)
	}
}
