package lessons

import (
	"math"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/infer/why"
)

// TestParisLessonIsTrue: the statements about the bundled model in the lesson on causes are true.
func TestParisLessonIsTrue(t *testing.T) {
	says(
		t, "more than all the others together", "its own term is below zero", "and ·he comes first",
		"far more is lost than it adds itself, yet ·Paris stays ahead", "and ·known wins",
		"rests almost entirely on ·France", "Most looks in the blocks below hardly touch it", "almost all the way up",
		"After the last block only the last column counts",
	)
	m := testmodel.Target(t)
	france := whyStudy(t, m, "The capital of France is")
	without := func(off string) *why.Answer {
		parts, positions, err := why.ParseOff(m, off)
		if err != nil {
			t.Fatal(err)
		}
		a, err := france.Ask(t.Context(), why.Question{
			Token: -1, Over: -1, Says: 1, Intervention: infer.Intervention{Off: parts, Positions: positions},
		})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	adds := func(a *why.Answer, part string) float64 {
		for _, c := range a.Base.Parts {
			if c.Part.String() == part {
				return c.Z
			}
		}
		t.Fatalf("%s is missing", part)
		return 0
	}
	a := without("L1.ffn")
	if z := adds(a, "L6.ffn"); z <= a.Base.Z-z {
		t.Errorf("the last feed-forward layer adds %v of %v; want more than %v", z, a.Base.Z, a.Base.Z-z)
	}
	if adds(a, "L1.ffn") >= 0 || a.Changed.Rank < 1000 || a.Changed.Says[0].Token.Text != " he" {
		t.Errorf("without the first feed-forward layer: %+v", a.Changed)
	}
	a = without("L6.H1")
	if lost := a.Base.Z - a.Changed.Z; lost < 1.5*adds(a, "L6.H1") || a.Changed.Rank != 1 {
		t.Errorf("without L6.H1, the score falls by %v and Paris has rank %d", lost, a.Changed.Rank)
	}
	if a = without("L6.H1,L6.H6"); a.Changed.Says[0].Token.Text != " known" {
		t.Errorf("without both, the model predicts %q", a.Changed.Says[0].Token.Text)
	}
	w, err := m.Watch(t.Context(), france.Tokens(), true)
	if err != nil {
		t.Fatal(err)
	}
	if looks := w.Attention(6, 1, 5)[4]; looks < 0.95 {
		t.Errorf("L6.H1 gives France %v, want at least 0.95", looks)
	}
	touched, below := 0, 5*m.Config().Heads
	for block := 1; block <= 5; block++ {
		for head := 1; head <= m.Config().Heads; head++ {
			if w.Attention(block, head, 5)[4] >= 0.1 {
				touched++
			}
		}
	}
	if touched == 0 || touched > below/3 {
		t.Errorf(
			"of %d heads below, %d give France at least a tenth of their weight; want 1 to %d", below, touched,
			below/3,
		)
	}
	g, err := france.Patch(t.Context(), whyStudy(t, m, "The capital of Italy is"))
	if err != nil {
		t.Fatal(err)
	}
	for height, row := range g.Cells {
		last := height == len(g.Cells)-1
		if !last && row[4].Follows < 0.9 || last && (math.Abs(row[4].Follows) > 1e-4 || row[5].Follows < 0.99) {
			t.Errorf(
				"height %d: the answer follows %+v; want position 4 below the last height, then position 5", height,
				row,
			)
		}
	}
}

func whyStudy(t *testing.T, m *infer.Model, text string) *why.Study {
	t.Helper()
	s, err := why.New(t.Context(), m, m.Encode(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
