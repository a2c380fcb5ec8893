package lab

import (
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestBillReusesMeasurementsForPrices: after a change that affects only prices, the report is
// computed from earlier measurements and equals the report of a new run.
func TestBillReusesMeasurementsForPrices(t *testing.T) {
	env, l := models(t), billLab{}
	short := terms.Values{"max_tokens": "12", "try_max_tokens": "5", "input_price": "3", "output_price": "15"}
	old, first := result[*Bill](t, "bill", short)
	v := values(
		t, l,
		terms.Values{
			"max_tokens": "12", "try_max_tokens": "5", "input_price": "30", "output_price": "0", "requests": "10",
			"trained_tokens": "1000",
		},
	)
	r := Again(l, env, first, v)
	if r == nil {
		t.Fatal("changing the prices needed a new run")
	}
	b := r.Result.(*Bill)
	// Only input is charged: $30 per million for each token of the prompt.
	want := 30 * float64(len(old.Prompt)) / 1e6
	if !near(b.Cost.Total, want, 1e-15) || b.OutputShare != 0 || b.BreakEven != 0 ||
		!near(b.Ticks[5].Cost, want, 1e-15) || b.Savings[1].Saved != 0 {
		t.Errorf(
			"got %+v, want Total ≈ %v, b.OutputShare = 0, b.BreakEven = 0, b.Ticks[5].Cost ≈ %v, "+
				"b.Savings[1].Saved = 0",
			b.Cost, want, want,
		)
	}
	last := b.Savings[len(b.Savings)-1] // a prompt of fewer tokens
	if read := last.Cost.InputTokens; !near(last.ADay, 10*30*float64(len(old.Prompt)-read)/1e6, 1e-12) {
		t.Errorf("got %+v, want ADay ≈ %v", last, 10*30*float64(len(old.Prompt)-read)/1e6)
	}
	if b.Machine.SecondsEach != old.Machine.SecondsEach ||
		b.Training.RequestMultAdds != old.Training.RequestMultAdds || b.Training.Tokens != 1000 ||
		b.Text != old.Text || b.Why.Say.String() != old.Why.Say.String() || b.Why.Ratio != old.Why.Ratio {
		t.Error("the measurements were modified")
	}
	if old.Ticks[5].Cost == b.Ticks[5].Cost || old.Savings[2].ADay == b.Savings[2].ADay {
		t.Error("the first report was modified")
	}
	if r.Values["output_price"] != "0" || len(r.Tables) != len(first.Tables) || slices.Equal(
		english(r.Findings), english(first.Findings),
	) {
		t.Errorf(
			"got findings %v; want new findings, with %d tables and output_price 0", r.Findings,
			len(first.Tables),
		)
	}
}

func TestMemoryReusesMeasurements(t *testing.T) {
	env, l := models(t), memoryLab{}
	_, first := result[*Memory](t, "memory", terms.Values{"tokens": "5"})
	r := Again(
		l, env, first, values(t, l, terms.Values{
			"tokens": "5", "preset": "llama-2-7b", "positions": "4096", "batch": "2",
		}),
	)
	// 2 × 32 × 32 × 128 × 4,096 × 2 bytes is 2 GiB, twice.
	if m := r.Result.(*Memory); m.Bytes != 4<<30 || len(m.Engine.Steps) != 5 {
		t.Errorf("got %v bytes, %d steps of the engine; want 4<<30, 5", m.Bytes, len(m.Engine.Steps))
	}
	if Again(l, env, first, values(t, l, terms.Values{"tokens": "5", "kv_heads": "5"})) != nil {
		t.Error("5 KV heads for 6 query heads were accepted")
	}
}

// TestOtherValuesNeedANewRun: a change to any other value requires a new run.
func TestOtherValuesNeedANewRun(t *testing.T) {
	env, l := models(t), memoryLab{}
	v := values(t, l, terms.Values{"tokens": "5"})
	_, first := result[*Memory](t, "memory", terms.Values{"tokens": "5"})
	early, other := *first, *first
	early.Canceled, other.Hash = true, "another model"
	for name, r := range map[string]*Report{"none": nil, "canceled": &early, "another model": &other} {
		if Again(l, env, r, v) != nil {
			t.Errorf("%s: got a report from earlier measurements, want a new run", name)
		}
	}
	if Again(l, env, first, values(t, l, terms.Values{"tokens": "6"})) != nil ||
		Again(drawLab{}, env, first, v) != nil {
		t.Error("got a report without a new run")
	}
}
