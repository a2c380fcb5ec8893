package lab

import (
	"math"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
)

// tried runs the n-th preset of a lab with fewer repeats.
func tried[T any](t *testing.T, name string, n int, changed ...string) T {
	t.Helper()
	l, _ := Find(name)
	v := terms.Values{}
	for key, value := range l.Info(terms.English).Try[n].Values {
		v[key] = value
	}
	for i := 0; i < len(changed); i += 2 {
		v[changed[i]] = changed[i+1]
	}
	r, _ := result[T](t, name, v)
	return r
}

// TestTriesShowWhatTheyPromise: the text of each suggested preset is true for the bundled model.
func TestTriesShowWhatTheyPromise(t *testing.T) {
	fixture.Long(t)
	t.Run("heat", func(t *testing.T) {
		s := tried[*Strategies](t, "strategies", 0, "horizon", "0")
		step := func(lane int) int {
			for _, p := range s.Partings {
				if p.Lanes == [2]int{0, lane} {
					return p.Step
				}
			}
			return math.MaxInt
		}
		for lane := 2; lane < len(s.Lanes); lane++ {
			if step(lane) > step(lane-1) || s.Runs[lane].MeanLogP >= s.Runs[lane-1].MeanLogP {
				t.Errorf(
					"%s diverges at step %d, ln p %v; want no later and a lower ln p than the cooler one, %d, %v",
					s.Lanes[lane].Name, step(lane), s.Runs[lane].MeanLogP, step(lane-1), s.Runs[lane-1].MeanLogP,
				)
			}
		}
		if step(4) == step(1) {
			t.Error("the temperature did not change the result")
		}
	})
	t.Run("a sure question", func(t *testing.T) {
		for _, p := range tried[*Strategies](t, "strategies", 1, "horizon", "0").Partings {
			if p.Lanes == [2]int{0, 1} && p.Step < 6 {
				t.Errorf("pure diverges from greedy's path at step %d, want 6 or later", p.Step)
			}
		}
	})
	t.Run("a sure step", func(t *testing.T) {
		d := tried[*Draw](t, "draw", 0)
		usual, _ := result[*Draw](t, "draw", nil)
		if d.Kept < 2 || d.Kept > 5 || d.Distances[0].Mean > usual.Distances[0].Mean/2 {
			t.Errorf(
				"%d kept, distance %v after ten draws, usually %v; want at least 2 and at most 5, at most %v", d.Kept,
				d.Distances[0].Mean, usual.Distances[0].Mean, usual.Distances[0].Mean/2,
			)
		}
	})
	t.Run("nothing cut", func(t *testing.T) {
		d := tried[*Draw](t, "draw", 1)
		// For only a few draws, the law for many draws predicts far too large a distance.
		if d.Kept < 1000 || d.Slope < -0.45 || d.Distances[0].Law < 1.5*d.Distances[0].Mean {
			t.Errorf(
				"%d kept, slope %v, %+v; want d.Kept at least 1000, d.Slope at least -0.45, Law at least %v", d.Kept,
				d.Slope, d.Distances[0], 1.5*d.Distances[0].Mean,
			)
		}
	})
	t.Run("a dialogue", func(t *testing.T) {
		if s := tried[*Stops](t, "stops", 0); s.Winner != string(infer.StopString) {
			t.Errorf("the text was ended by %s, want %s", s.Winner, string(infer.StopString))
		}
	})
	t.Run("no stop but the limit", func(t *testing.T) {
		if s := tried[*Stops](t, "stops", 1); s.NoEnd.EndAt == 0 || s.NoEnd.After == "" {
			t.Errorf("got %+v, want EndAt not 0, After not empty", s.NoEnd)
		}
	})
}

func TestCostTriesShowWhatTheyPromise(t *testing.T) {
	fixture.Long(t)
	long := tried[*Cache](t, "cache", 0, "repeats", "1")
	for _, f := range long.Fits {
		if f.Name.String() == "recomputed, in all" && !f.Times && (f.Parts[2].Share < 0.5 ||
			f.Parts[3].Share > 0.1) {
			t.Errorf("a longer text: got %+v, want a dominant quadratic and a small cubic part", f.Parts)
		}
	}
	if first := tried[*Cache](
		t, "cache", 1, "tokens", "1", "repeats", "1",
	).Steps[0]; first.Cached.MultAdds != first.Recomputed.MultAdds {
		t.Errorf("a long prompt: got %+v, want Cached.MultAdds = %d", first, first.Recomputed.MultAdds)
	}
	// The cache takes 64 GiB, and the weights take 12.55 GiB.
	if m := tried[*Memory](t, "memory", 0); m.Bytes != 64<<30 || !near(m.Bytes/m.WeightBytes, 5.1, 0.05) {
		t.Errorf(
			"the 32-layer example: got %v bytes, %v of weights; want m.Bytes = 64<<30, m.Bytes/m.WeightBytes ≈ 5.1",
			m.Bytes, m.WeightBytes,
		)
	}
	small, _ := result[*Memory](t, "memory", terms.Values{"preset": "llama-2-7b", "batch": "1"})
	if m := tried[*Memory](t, "memory", 1); m.Bytes >= small.Bytes || m.Model.Parameters < 60e9 {
		t.Errorf("shared heads: got %v bytes, want fewer than without, %v", m.Bytes, small.Bytes)
	}
	saved := map[string]float64{}
	for _, s := range tried[*Bill](t, "bill", 0).Savings {
		saved[s.Name] = s.Share
	}
	if saved["prompt"] <= saved["stop"] || saved["prompt"] <= saved["max_tokens"] {
		t.Errorf("long input: got %v, want the prompt to save most", saved)
	}
	for _, s := range tried[*Bill](t, "bill", 1).Savings {
		if s.Name != "prompt" {
			saved[s.Name] = s.Share
		} else if s.Share >= saved["stop"] || s.Share >= saved["max_tokens"] {
			t.Errorf(
				"short input: %v, the prompt %v; want less than %v and less than %v", saved, s.Share, saved["stop"],
				saved["max_tokens"],
			)
		}
	}
	p := tried[*Prefill](t, "prefill", 1, "lengths", "1", "repeats", "1")
	if p.Whole.First != p.Streamed.Last || len(p.Arrivals) < 100 {
		t.Errorf(
			"a long answer: %+v and %+v, %d tokens; want First = %v, len(p.Arrivals) at least 100", p.Streamed, p.Whole,
			len(p.Arrivals), p.Streamed.Last,
		)
	}
}

func TestSpeculationTriesShowWhatTheyPromise(t *testing.T) {
	fixture.Long(t)
	s := tried[*Speculation](t, "speculation", 0, "repeats", "1", "rounds", "100")
	if s.Text != s.Plain {
		t.Error("greedy: got two different texts, want the same")
	}
	s = tried[*Speculation](t, "speculation", 1, "repeats", "1", "rounds", "100")
	eight, sixteen := s.Gammas[3], s.Gammas[4]
	if eight.Gamma != 8 || sixteen.Gamma != 16 || sixteen.PassesSaved-eight.PassesSaved > eight.Tokens/10 ||
		s.Acceptance.Judged > 3*s.Acceptance.Proposed/4 {
		t.Errorf(
			"%d passes saved at 8, %d at 16; %d of %d proposals judged; want eight.Gamma = 8, "+
				"sixteen.Gamma = 16, sixteen.PassesSaved-eight.PassesSaved at most %d, s.Acceptance.Judged at most %d",
			eight.PassesSaved, sixteen.PassesSaved, s.Acceptance.Judged, s.Acceptance.Proposed, eight.Tokens/10,
			3*s.Acceptance.Proposed/4,
		)
	}
}
