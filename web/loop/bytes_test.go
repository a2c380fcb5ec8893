package loop

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// played records how much data a page receives while a run of n tokens is played stage by stage or
// token by token.
type played struct {
	bytes, messages int
	ends            int            // number of times the text ended
	panels          map[string]int // bytes by panel
}

func play(t testing.TB, n int, byStage, branch bool) played {
	t.Helper()
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	e, sum := &htmlEncoder{words: lang}, played{panels: map[string]int{}}
	do := func(c session.Command) *session.State {
		t.Helper()
		st, err := s.Apply(context.Background(), c)
		if err != nil {
			t.Fatalf("%T: %v", c, err)
		}
		m := &wire.Message{}
		if err := encodeAll(e, m, st); err != nil {
			t.Fatal(err)
		}
		b, err := m.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		sum.bytes += len(b)
		sum.messages++
		for _, p := range m.Panels {
			sum.panels[p.ID] += len(p.HTML)
		}
		return st
	}
	do(session.SetPreset{Key: "greedy"})
	do(session.SetKnob("max_tokens", float64(n)))
	// With greedy decoding, this text repeats itself without end. A panel shows the probability
	// that the text ends, which changes as often late in the text as early in it.
	st := do(session.Start{Prompt: "Colder, colder,"})
	if branch { // the tree of branches must not grow with the text either
		do(session.StepToken{})
		st = do(session.Choose{Step: 1, Token: second(s.State(), 1)})
	}
	var next session.Command = session.StepToken{}
	if byStage {
		next = session.StepStage{}
	}
	sum.ends = 1
	for st.Stopped != infer.StopMaxTokens || st.Cursor.Stage != infer.KindCache {
		if st = do(next); st.Stopped == infer.StopEOS && st.Cursor.Stage == infer.KindCache {
			st = do(session.GoOn{})
			sum.ends++
		}
	}
	return sum
}

// TestBytesGrowWithTheText: a run that is twice as long sends about twice as many bytes. The text
// is sent token by token, and as prose each time it ends. No other part of the page grows with the
// text.
func TestBytesGrowWithTheText(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for _, c := range []struct {
		name            string
		n               int
		byStage, branch bool
	}{
		{"every stage", 60, true, false},
		{"every stage of a branch", 60, true, true},
		{"whole tokens", 240, false, false},
		{"whole tokens of a branch", 240, false, true},
	} {
		if !c.branch && !fixture.LongTier() {
			continue // the branch case covers the plain one
		}
		if c.byStage && !fixture.LongTier() {
			c.n /= 2 // whole tokens fill the panels of limited size sooner
		}
		once, twice := play(t, c.n, c.byStage, c.branch), play(t, 2*c.n, c.byStage, c.branch)
		t.Logf(
			"%s: %d tokens send %d bytes, %d a message; %d tokens %d", c.name, c.n, once.bytes,
			once.bytes/once.messages, 2*c.n, twice.bytes,
		)
		if float64(twice.bytes) > 2.3*float64(once.bytes) {
			t.Errorf(
				"%s: %d tokens send %d bytes, twice as many %d; want at most 2.3 times", c.name, c.n, once.bytes,
				twice.bytes,
			)
		}
		panels := slices.Collect(maps.Keys(twice.panels))
		slices.SortFunc(panels, func(a, b string) int { return cmp.Compare(twice.panels[b], twice.panels[a]) })
		for _, id := range panels[:6] {
			t.Logf("    %s: %d a message", id, twice.panels[id]/twice.messages)
		}
		for id, bytes := range once.panels {
			grown := float64(twice.panels[id]) / float64(bytes)
			if id == "reading" {
				grown *= float64(once.ends) / float64(twice.ends)
			}
			// In shorter runs, the panels of limited size are not full yet, so they still grow.
			if !c.byStage && bytes > 10_000 && grown > 2.3 {
				t.Errorf(
					"%s: panel %s grows with the text: %d bytes, for twice the text %d", c.name, id, bytes,
					twice.panels[id],
				)
			}
		}
	}
}
