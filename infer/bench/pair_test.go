package bench

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
)

// A step of 4 ms, 1 ms for a draft and 6 ms for a verification: c = ¼,
// v = 1.5. With γ = 4 and α = ½ a round yields (1 − ½⁵) / ½ = 1.9375 tokens for
// 4·¼ + 1.5 = 2.5 steps: 0.775 times as fast.
func TestPairByHand(t *testing.T) {
	p := Pair{Gamma: 4, Step: 4 * time.Millisecond, Draft: time.Millisecond, Verify: 6 * time.Millisecond}
	if p.C() != 0.25 || p.V() != 1.5 || !(math.Abs(p.SpeedUp(0.5)-0.775) <= 1e-12) {
		t.Errorf("c = %v, v = %v, %v times as fast; want 0.25, 1.5, 0.775", p.C(), p.V(), p.SpeedUp(0.5))
	}
}

func TestMeasurePair(t *testing.T) {
	target, draft := load(t, infer.QuantNone), load(t, infer.QuantInt8)
	p, err := MeasurePair(context.Background(), target, draft, 4, 30, time.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	if p.Gamma != 4 || p.Positions != 30 || p.Rounds < 1 || p.Step <= 0 || p.Draft <= 0 || p.Verify <= 0 {
		t.Errorf("%+v", p)
	}
	most := target.Config().Context
	for name, c := range map[string][2]int{
		"no draft": {0, 30}, "a long draft": {infer.MaxGamma + 1, 30}, "no text": {4, 0}, "no room": {4, most - 4},
	} {
		if _, err := MeasurePair(context.Background(), target, draft, c[0], c[1], 0); err == nil {
			t.Errorf("%s is measured", name)
		}
	}
	if _, err := MeasurePair(context.Background(), target, draft, 4, most-5, 0); err != nil {
		t.Errorf("the last positions that there are: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := MeasurePair(ctx, target, draft, 4, 30, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}
