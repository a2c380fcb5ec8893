package labs

import (
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

// borneOut is a report's result with the choice that it confirms, or "" if there are too few
// measurements to tell.
type borneOut struct {
	lab    string
	result any
	want   string
}

// borneOutByHand returns results for each lab, with the choices that they confirm.
func borneOutByHand() []borneOut {
	lanes := []lab.Lane{
		{Name: terms.Verbatim("A"), Steps: make([]lab.LaneStep, 30)},
		{Name: terms.Verbatim("B")},
		{Name: terms.Verbatim("C")},
	}
	parts := func(step int, other int) any {
		return &lab.Strategies{Lanes: lanes, Partings: []lab.Parting{{Lanes: [2]int{0, other}, Step: step}}}
	}
	fall := func(few, many float64) any {
		return &lab.Draw{Distances: []lab.Distance{{N: 10, Mean: 9}, {N: 100, Mean: few}, {N: 10_000, Mean: many}}}
	}
	saved := func(stop, limit, prompt float64) any {
		return &lab.Bill{
			Savings: []lab.Saving{
				{Name: "stop", Saved: stop}, {Name: "max_tokens", Saved: limit}, {Name: "prompt", Saved: prompt},
			},
		}
	}
	faster := func(x ...float64) any {
		s := &lab.Speculation{Gammas: []lab.GammaRow{{SpeedUp: 1}}}
		for i, up := range x {
			s.Gammas = append(s.Gammas, lab.GammaRow{Gamma: i + 1, SpeedUp: up})
		}
		return s
	}
	ends := func(kind string) any {
		return &lab.Stops{Winner: kind, Racers: []lab.Racer{{Kind: "eos", Step: 3}, {Kind: "max_tokens", Step: 9}}}
	}
	lost := func(of, kept int) any {
		return &lab.Quantization{
			Ways:  []lab.QuantWay{{Name: lab.Text("Q4_0"), Kind: infer.QuantQ4, Kept: kept}},
			Steps: make([]lab.QuantStep, of),
		}
	}
	return []borneOut{
		{"strategies", parts(1, 1), "1"},
		{"strategies", parts(2, 1), "5"},
		{"strategies", parts(5, 1), "5"},
		{"strategies", parts(6, 1), "20"},
		{"strategies", parts(21, 1), "more"},
		{"strategies", parts(2, 2), "never"}, // a lane other than the first two
		{"strategies", &lab.Strategies{Lanes: lanes[:1]}, ""},
		{"draw", fall(0.16, 0.016), "10"},
		{"draw", fall(0.16, 0.15), "1"},
		{"draw", fall(0.16, 0.08), "2"},
		{"draw", fall(0.16, 0.001), "100"},
		{"draw", &lab.Draw{Distances: []lab.Distance{{N: 100, Mean: 1}}}, ""},
		{"prefill", &lab.Prefill{Ratio: 0.9}, "1"},
		{"prefill", &lab.Prefill{Ratio: 3.4}, "3"},
		{"prefill", &lab.Prefill{Ratio: 5}, "more"},
		{"prefill", &lab.Prefill{}, ""},
		{"bill", saved(3, 2, 1), "stop"},
		{"bill", saved(1, 2, 0), "max_tokens"},
		{"bill", saved(0, -1, 2), "prompt"},
		{"bill", saved(0, 0, -1), "nothing"},
		{"bill", &lab.Bill{}, ""},
		{"speculation", faster(0.5, 0.9), "slower"},
		{"speculation", faster(0.5, 1), "same"},
		{"speculation", faster(1.4, 0.9), "faster"},
		{"speculation", faster(1.6), "much"},
		{"speculation", faster(), ""},
		{"stops", ends("eos"), "eos"},
		{"stops", ends("max_tokens"), "max_tokens"},
		{"stops", &lab.Stops{}, ""},
		{"quantization", lost(10, 10), "0"},
		{"quantization", lost(10, 9), "tenth"},
		{"quantization", lost(9, 8), "third"},
		{"quantization", lost(9, 6), "third"},
		{"quantization", lost(9, 5), "more"},
		// A result without Q4_0.
		{
			"quantization",
			&lab.Quantization{Ways: []lab.QuantWay{{Kind: infer.QuantNone}}, Steps: make([]lab.QuantStep, 3)}, "",
		},
	}
}

// TestWhichPredictionIsRight: a prediction is judged right if the report confirms it. Users who
// make no prediction are not judged.
func TestWhichPredictionIsRight(t *testing.T) {
	t.Parallel()
	for _, c := range borneOutByHand() {
		g, r := faces[c.lab], &lab.Report{Result: c.result}
		key, say, ok := g.truth(stage.English, c.result)
		if key != c.want && (ok || c.want != "") || ok != (c.want != "") || ok && say == "" {
			t.Errorf("%s, %+v: %q, %q, %v; want %q", c.lab, c.result, key, say, ok, c.want)
		}
		for _, choice := range g.Choices {
			v := g.judge(stage.English, choice.Key, r)
			words := stage.English.T(choice.Text)
			if !ok && v != nil || ok && (v == nil || v.Right != (choice.Key == c.want) || v.Guessed != words) {
				t.Errorf(
					"%s: the guess %q gets the verdict %+v, want right for the choice %q only", c.lab, words, v, c.want,
				)
			}
		}
		if v := g.judge(stage.English, guess.None, r); ok && (v == nil || v.Right || v.Guessed != "") {
			t.Errorf("%s: without a guess the verdict is %+v", c.lab, v)
		}
		if g.judge(stage.English, "", r) != nil {
			t.Errorf("%s: got a verdict without a prediction", c.lab)
		}
	}
}
