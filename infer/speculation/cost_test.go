package speculation

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint/smallmodel"
	"github.com/tokenbytoken/viz/infer/cost"
)

// TestSpeculationTallies: the tallied multiply-adds equal the formulas: in every round, the target
// runs one pass over γ + 1 positions and scores each of them.
func TestSpeculationTallies(t *testing.T) {
	target := smallModel(t)
	draft := modelOf(t, smallmodel.Small, noisy(smallmodel.Small.Random(7), 0.1, 2))
	s := pure(3)
	s.Stop.MaxTokens = 30
	sp := newSpeculator(t, target, draft, "Hello", s, 3)
	n := len(target.Encode("Hello"))
	shape := target.Shape()
	have := map[*infer.Model]int{target: n - 1, draft: n - 1} // positions in the caches
	var sum Totals
	for _, st := range speculate(t, sp) {
		switch st := st.(type) {
		case Prefill:
			if want := shape.Blocks(0, n-1); st.Tokens != n-1 || st.Target.Parts != want || st.Draft.Parts != want {
				t.Errorf("prefill of %d tokens: %+v and %+v, want %+v", n-1, st.Target, st.Draft, want)
			}
		case Propose:
			var want cost.Parts
			at, positions := have[draft], 0
			for i := range st.Drafted {
				read := 1
				if i == 0 {
					read = n - at
				}
				want = want.Plus(shape.Blocks(at, read)).Plus(shape.Output())
				at, positions = at+read, positions+read
			}
			if st.Cost.Parts != want || st.Cost.Passes != len(st.Drafted) || st.Cost.Positions != positions {
				t.Errorf("round %d: the draft spent %+v, want %+v", st.Round, st.Cost, want)
			}
			sum.Draft = sum.Draft.plus(st.Cost)
			have[draft] = at
		case Verify:
			k := len(st.Scored)
			want := shape.Blocks(n-1, k)
			want.Output = int64(k) * shape.Output().Output
			if st.Cost.Parts != want || st.Cost.Positions != k || st.Cost.Passes != 1 {
				t.Errorf("round %d: the target spent %+v, want %+v", st.Round, st.Cost, want)
			}
			sum.Target = sum.Target.plus(st.Cost)
		case Extend:
			n += len(st.Tokens)
			have[draft] = min(have[draft], n-1)
			if st.DraftPositions != have[draft] {
				t.Errorf(
					"round %d: the draft's cache has %d columns, want %d", st.Round, st.DraftPositions, have[draft],
				)
			}
			if st.Totals.Draft != sum.Draft || st.Totals.Target != sum.Target {
				t.Errorf(
					"round %d: totals %+v; want Draft = %+v, Target = %+v", st.Round, st.Totals, sum.Draft, sum.Target,
				)
			}
		}
	}
}

// TestInterruptedSpeculationContinues: an interrupted pass leaves the speculator unchanged, so it
// generates the same text when it continues.
func TestInterruptedSpeculationContinues(t *testing.T) {
	target := smallModel(t)
	draft := modelOf(t, smallmodel.Small, noisy(smallmodel.Small.Random(7), 0.1, 2))
	s := pure(9)
	s.Stop.MaxTokens = 25
	want := untimedSpec(t, speculate(t, newSpeculator(t, target, draft, "Hello", s, 4)))
	// Also interrupt scoring, which only a Runner can do.
	sp := newSpeculator(
		t, target.Through(&unsteady{Model: target}), draft.Through(&unsteady{Model: draft}), "Hello", s, 4,
	)
	var got []Stage
	for interrupted := 0; ; {
		stage, err := sp.Next(&lateContext{context.Background(), interrupted % 29})
		if errors.Is(err, io.EOF) {
			break
		}
		if interrupted++; err == nil {
			got = append(got, stage)
		} else if !errors.Is(err, context.Canceled) || stage != nil {
			t.Fatalf("got %v, %v; want nil, %v", stage, err, context.Canceled)
		}
	}
	if all := untimedSpec(t, got); !slices.Equal(all, want) {
		t.Errorf(
			"interrupted, got:\n%s\nwant the same as without interruption:\n%s", strings.Join(all, "\n"),
			strings.Join(want, "\n"),
		)
	}
}

// unsteady is a runner that interrupts every fifth scoring call.
type unsteady struct {
	*infer.Model
	calls int
}

func (u *unsteady) LogitsTo(ctx context.Context, last, z []float32) (cost.Parts, error) {
	if u.calls++; u.calls%5 == 0 {
		return cost.Parts{}, context.Canceled
	}
	return u.Model.LogitsTo(ctx, last, z)
}

func (u *unsteady) Waited() time.Duration { return 0 }

// TestSeveralPositionsOfOnePass: reading and scoring several positions in one pass equals doing so
// one by one, no matter where the pass is divided into chunks.
func TestSeveralPositionsOfOnePass(t *testing.T) {
	m := smallModel(t)
	d, v := m.Config().Width, m.Config().Vocab
	ids := make([]int, 40)
	for i := range ids {
		ids[i] = (i * 37) % v
	}
	single := m.NewCache()
	var vectors, scores []float32
	for _, id := range ids {
		last, _, err := m.Forward(context.Background(), single, []int{id})
		if err != nil {
			t.Fatal(err)
		}
		z, _, err := m.Logits(last)
		if err != nil {
			t.Fatal(err)
		}
		vectors, scores = append(vectors, last...), append(scores, z...)
	}
	for n := 1; n <= len(ids); n++ {
		out, z := make([]float32, n*d), make([]float32, n*v)
		if _, err := m.ForwardTo(context.Background(), m.NewCache(), ids, out); err != nil {
			t.Fatal(err)
		}
		tally, err := m.LogitsTo(context.Background(), out, z)
		if err != nil {
			t.Fatal(err)
		}
		if !sameBits(out, vectors[len(vectors)-n*d:]) || !sameBits(z, scores[len(scores)-n*v:]) {
			t.Errorf("the last %d of %d positions differ from single ones", n, len(ids))
		}
		if tally.Output != int64(n*d*v) {
			t.Errorf("scoring %d positions tallied %d multiply-adds, want %d", n, tally.Output, int64(n*d*v))
		}
	}
}
