package plots

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// charts returns all charts of this package, with data for which the rows and sentences can be
// worked out by hand.
func charts(l *terms.Language) drawings {
	all := runCharts(l)
	maps.Copy(all, sizeCharts(l))
	return all
}

type drawings = map[string]func() (Chart, error)

// runCharts returns the charts about generated texts.
func runCharts(l *terms.Language) drawings {
	return drawings{
		"cache-token.svg":   func() (Chart, error) { return CachePerToken(l, waysOf(24, linear), 9) },
		"cache-sum.svg":     func() (Chart, error) { return CacheSoFar(l, waysOf(24, square), 9) },
		"cache-timesum.svg": func() (Chart, error) { return CacheTimeSoFar(l, waysOf(24, timed), 0) },
		"entropy.svg": func() (Chart, error) {
			return Entropies(
				l, []EntropyLane{
					{"Greedy", []float64{3, 2, 0, 1}},
					{"Pure sampling", []float64{3, 2.5, 4, 1}},
					{"Top-k 40", []float64{3, 2.5}},
				},
			)
		},
		"head-scores.svg": func() (Chart, error) {
			return HeadScores(l, []HeadAt{{"L1.H1", 1, 0.125}, {"L1.H2", 1, 0.5}, {"L2.H1", 2, 0.25}}, 0.4)
		},
		"heads-off.svg": func() (Chart, error) {
			return WithoutHeads(l, []WithoutHead{{"L1.H2", 6, true}, {"L2.H1", 4.5, true}, {"L1.H1", 4, false}}, 4)
		},
		"histogram.svg": func() (Chart, error) {
			return Histogram(l, []Drawn{{"·the", 0.5, 6}, {"·a", 0.25, 1}, {"·very-long-word", 0.25, 3}}, 10)
		},
		"distance.svg": func() (Chart, error) {
			return Distances(l, []DistanceAt{
				{10, Quartiles{0.2, 0.25, 0.3}, 0.24, 0.26},
				{100, Quartiles{0.07, 0.08, 0.09}, 0.081, 0.082},
				{1000, Quartiles{0.02, 0.025, 0.03}, 0.026, 0.026},
			}, -0.5)
		},
		"first-token.svg": func() (Chart, error) {
			return FirstTokens(
				l, []FirstToken{{1, Quartiles{1, 1.2, 1.5}}, {64, Quartiles{6, 7, 9}}, {256, Quartiles{24, 26, 27}}}, 1,
				0.1,
			)
		},
		"arrivals.svg": func() (Chart, error) { return Arrivals(l, []Arrived{{1, 10}, {2, 12}, {3, 15}, {4, 20}}) },
		"bill.svg": func() (Chart, error) {
			return Bill{0.000021, 0.000015, 5, []float64{0.000036, 0.000051, 0.000066}, false}.Draw(l)
		},
		"bill-ahead.svg": func() (Chart, error) { return Bill{0.000021, 0.000015, 96, nil, false}.Draw(l) },
		"break-even.svg": func() (Chart, error) {
			return BreakEven(l, Against{EachRequest: 0.001, MachineDay: 12, MostADay: 10_000, Now: 20_000})
		},
		"per-pass.svg": func() (Chart, error) {
			return TokensPerPass(l, []PerPass{{1, 1.7, 1.75}, {2, 2.2, 2.31}, {4, 2.9, 3.05}, {8, 3.1, 3.7}})
		},
		"saved.svg": func() (Chart, error) {
			return TimeSaved(l, []Saved{{1, 20, 12, 64, 100}, {2, 30, 5, 64, 100}, {4, 40, -22, 64, 100}})
		},
		"race.svg": func() (Chart, error) {
			return Race(
				l, []Came{{10, "target"}, {20, "target"}, {30, "target"}},
				[]Came{{14, "draft"}, {14, "correction"}, {25, "bonus"}},
			)
		},
		"savings-ahead.svg": func() (Chart, error) {
			return Savings{Lanes: []Saving{{Name: "the terser prompt", You: true}, {Name: "another"}}}.Draw(l)
		},
		"savings.svg": func() (Chart, error) {
			return Savings{
				Lanes: []Saving{{Name: "smaller limit", Share: 0.42}, {Name: "terser", Share: -0.1}, {Name: "stop"}},
				None:  Saving{Name: "none of them", You: true}, Ran: true, Narrow: true,
			}.Draw(l)
		},
		"stops.svg": func() (Chart, error) {
			return StopRace(
				l, []Racer{
					{Name: "stop string “User:”", Step: 12, Sure: true},
					{Name: "end of text", Step: 30},
					{Name: "max_tokens", Step: 100, Sure: true},
					{Name: "context", Step: 500, Sure: true},
					{Name: "stop string “x”"},
				},
				120, false,
			)
		},
		"rounded-bars.svg": func() (Chart, error) {
			return RoundedBars(
				l, []RoundedBar{
					{"·young", []float64{0.09, 0.091, 0.07}},
					{"·little", []float64{0.08, 0.082, 0.12}},
					{"·a-long-word", []float64{0.01, 0, 0.02}},
				},
				[]string{"own weights", "int8", "Q4_0"},
			)
		},
		"rounded-steps.svg": func() (Chart, error) {
			return RoundedSteps(
				l, []string{"int8", "Q4_0"}, [][]float64{{1e-5, 0, 2e-5, 1e-6}, {0.01, 0.002, 0.3, 0.00005}},
			)
		},
		"end.svg": func() (Chart, error) { return EndChances(l, []float64{0, 0.01, 0.6, 0.1}) },
	}
}

// sizeCharts returns the charts about memory.
func sizeCharts(l *terms.Language) drawings {
	return drawings{
		"held.svg": func() (Chart, error) {
			return HeldBytes(
				l, []Held{{1, 7, 7 * 3072, 8 * 3072}, {2, 8, 8 * 3072, 8 * 3072}, {3, 9, 9 * 3072, 16 * 3072}},
			)
		},
		"windows.svg": func() (Chart, error) {
			return Windows(
				l, []Window{
					{"this model", 512, 512 * 3072, true},
					{"GPT-2", 1024, 1 << 20, false},
					{"Llama 2", 4096, 2 << 30, false},
					{"long", 131072, 64 << 30, false},
				},
			)
		},
		"heads.svg":      func() (Chart, error) { return Heads(l, 6, 2, true) },
		"wedge.svg":      func() (Chart, error) { return Wedge{12 << 30, 4 << 20, 24 << 30, 4096, 8, false}.Draw(l) },
		"wedge-fits.svg": func() (Chart, error) { return Wedge{9 << 20, 1536, 24 << 30, 512, 1, false}.Draw(l) },
		"wedge-none.svg": func() (Chart, error) {
			return Wedge{128 << 30, 320 << 10, 24 << 30, 4096, 1, false}.Draw(l)
		},
	}
}

func waysOf(n int, of func(step int) (cached, recomputed Quartiles)) []Ways {
	var list []Ways
	for s := 1; s <= n; s++ {
		c, r := of(s)
		list = append(list, Ways{s, c, r})
	}
	return list
}

// linear returns the counts of step s with and without the cache: 3 M with it, and 3 M for every
// token of the text when recomputing.
func linear(s int) (cached, recomputed Quartiles) {
	return Exactly(3_000_000), Exactly(float64(3_000_000 * (6 + s)))
}

func square(s int) (cached, recomputed Quartiles) {
	return Exactly(float64(3_000_000 * (6 + s))), Exactly(3e6 * float64(6*s+s*(s+1)/2))
}

func timed(s int) (cached, recomputed Quartiles) {
	t := 2.5 * float64(6+s)
	return Quartiles{2.2, 2.5, 3.1}, Quartiles{t * 0.9, t, t * 1.2}
}

func TestGoldenCharts(t *testing.T) {
	for name, draw := range charts(terms.English) {
		t.Run(name, func(t *testing.T) {
			c, err := draw()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, c.SVG)
			fit(t, c)
			if again, _ := draw(); again.SVG != c.SVG {
				t.Error("the same data gives a different picture")
			}
			if _, err := Standalone(c.SVG); err != nil {
				t.Error(err)
			}
		})
	}
}

// fit checks that a chart obeys the page's security policy, works in both themes, and has a text
// alternative.
func fit(t *testing.T, c Chart) {
	t.Helper()
	for _, forbidden := range []string{"style=", "<?xml", `="#`, "<script", "Liberation", "NaN", "Inf"} {
		if strings.Contains(c.SVG, forbidden) {
			t.Errorf("the picture has %q, want it without", forbidden)
		}
	}
	for _, needed := range []string{`role="img"`, "<title>", "<desc>"} {
		if !strings.Contains(c.SVG, needed) {
			t.Errorf("the picture lacks %q", needed)
		}
	}
	if len(c.Rows) == 0 || c.Description == "" {
		t.Error("the picture has no text alternative")
	}
	for _, row := range c.Rows {
		if len(row) != len(c.Header) {
			t.Errorf("got a row of %d cells, want %d as in the header: %v", len(row), len(c.Header), row)
		}
	}
	d := xml.NewDecoder(strings.NewReader(c.SVG))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
}

// TestDescriptionSentences checks the sentences in the descriptions against values worked out by
// hand.
func TestDescriptionSentences(t *testing.T) {
	for name, want := range map[string]string{
		// 3 M × (6 + 24) = 90 M
		"cache-token.svg": "At token 24: 3.00 M cached, 90.0 M recomputed.",
		// 3 M × (6·24 + 24·25/2) = 3 M × 444 = 1.332 G
		"cache-sum.svg": "At token 24: 90.0 M cached, 1.33 G recomputed.",
		// 6/10 − 0.5 = 0.1; 1/10 − 0.25 = −0.15; 3/10 − 0.25 = 0.05
		"histogram.svg": "The share of each token in 10 draws and its probability. They differ most at ·a, " +
			"by 0.1500.",
		"head-scores.svg": "The share of its weight that each of 3 heads gives to what followed the same token " +
			"earlier, by block. At or above the limit of 40%: 1. The largest is 50%, for L1.H2.",
		"heads-off.svg": "With all heads it is 4.00 bits. Solid bars are the candidates, outlined ones the heads " +
			"that look there least. The most is lost without L1.H2: 6.00 bits.",
		// (3+2+0+1)/4, (3+2.5+4+1)/4 = 2.625, (3+2.5)/2
		"entropy.svg": "0 bits is certain; one bit more is twice as many equally likely tokens. Means: Greedy 1.50, " +
			"Pure sampling 2.62, Top-k 40 2.75.",
		// 9 × 3,072 = 27,648 = 27 KiB; 16 × 3,072 = 48 KiB
		"held.svg": "At 9 positions 27 KiB are used and 48 KiB reserved.",
		// 4 MiB × 4,096 is 16 GiB.
		"wedge.svg": "Weights of 12 GiB and caches of 16 GiB need 28 GiB; the card has 24 GiB.",
		// 12 / 0.001 = 12,000
		"break-even.svg": "One machine costs $12.00 a day; 12.0 k bought requests cost as much. One machine can " +
			"answer 10.0 k a day.",
		"saved.svg": "γ = 1 does best: it saves 12.0 ms of 100 ms, and 20 of 64 passes.",
		"stops.svg": "stop string “User:” ends the text, at token 12.",
		"end.svg":   "Highest at token 3: 0.6000.",
		// 0.12 − 0.08
		"rounded-bars.svg": "3 tokens, each with its probability by own weights, int8 and Q4_0, from left to right. " +
			"Rounding moves ·little most, by 0.0400.",
		"rounded-steps.svg": "The divergence from the probabilities with the model’s own weights, at each step; int8 " +
			"at most 0.0000200 nats; Q4_0 at most 0.300 nats.",
		"race.svg": "3 tokens: the target alone took 30.0 ms, with a draft 25.0 ms.",
	} {
		c, err := charts(terms.English)[name]()
		if err != nil || c.Description != want {
			t.Errorf("%s: %q, %v; want %q", name, c.Description, err, want)
		}
	}
}

// TestTableTwinsOfPictures checks one row of each table that accompanies a picture.
// Promise: Every chart has a table with the same numbers.
func TestTableTwinsOfPictures(t *testing.T) {
	for name, want := range map[string]string{
		"cache-token.svg": "2 | 3,000,000 | 24,000,000 | 8.0×",
		"histogram.svg":   "·a | 0.2500 | 1 | 0.1000",
		"head-scores.svg": "L1.H2 | 0.500",
		"heads-off.svg":   "L2.H1 | 4.500 | 0.500", // 4.5 − 4
		"distance.svg":    "100 | 0.08000 | 0.07000 to 0.09000 | 0.08100 | 0.08200",
		"held.svg":        "2 | 8 | 24,576 | 24,576",
		"first-token.svg": "64 | 7.00 | 6.00 to 9.00 | 0.109", // 7 / 64
		"arrivals.svg":    "2 | 12.0 | 2.00 | 20.0",
		"per-pass.svg":    "2 | 2.20 | 2.31 | −0.11",
		"saved.svg":       "2 | 30 | 64 | 5.0 | 100.0",
		"race.svg":        "2 | 20.0 | 14.0 | correction",
		"stops.svg":       "end of text | 30",
		"bill.svg":        "1 | $0.000036",
		"wedge.svg":       "2,048 | 12 GiB | 8 GiB | 20 GiB | yes",

		"rounded-bars.svg":  "·little | 0.0800 | 0.0820 | 0.1200",
		"rounded-steps.svg": "2 | 0 | 0.00200",
	} {
		c, err := charts(terms.English)[name]()
		if err != nil {
			t.Fatal(name, err)
		}
		if got := strings.Join(c.Rows[1], " | "); got != want {
			t.Errorf("%s: second row %q, want %q", name, got, want)
		}
	}
}

// TestNothingToDraw: a chart without data is an error, not an empty frame.
func TestNothingToDraw(t *testing.T) {
	l := terms.English
	for name, draw := range map[string]func() (Chart, error){
		"ways":          func() (Chart, error) { return CachePerToken(l, nil, 0) },
		"entropy":       func() (Chart, error) { return Entropies(l, nil) },
		"histogram":     func() (Chart, error) { return Histogram(l, nil, 10) },
		"rounded bars":  func() (Chart, error) { return RoundedBars(l, nil, []string{"own weights"}) },
		"rounded steps": func() (Chart, error) { return RoundedSteps(l, []string{"int8"}, [][]float64{{}}) },
		"distances":     func() (Chart, error) { return Distances(l, nil, 0) },
		"held":          func() (Chart, error) { return HeldBytes(l, nil) },
		"windows":       func() (Chart, error) { return Windows(l, nil) },
		"heads":         func() (Chart, error) { return Heads(l, 6, 4, false) },
		"wedge":         func() (Chart, error) { return Wedge{}.Draw(l) },
		"bill":          func() (Chart, error) { return Bill{}.Draw(l) },
		"first":         func() (Chart, error) { return FirstTokens(l, nil, 0, 0) },
		"arrivals":      func() (Chart, error) { return Arrivals(l, nil) },
		"break-even":    func() (Chart, error) { return BreakEven(l, Against{}) },
		"per pass":      func() (Chart, error) { return TokensPerPass(l, nil) },
		"saved":         func() (Chart, error) { return TimeSaved(l, nil) },
		"race":          func() (Chart, error) { return Race(l, nil, nil) },
		"savings":       func() (Chart, error) { return Savings{Lanes: []Saving{{Share: 1.5}}, Ran: true}.Draw(l) },
		"no savings":    func() (Chart, error) { return Savings{}.Draw(l) },
		"stops":         func() (Chart, error) { return StopRace(l, nil, 9, false) },
		"end":           func() (Chart, error) { return EndChances(l, nil) },
		"head scores":   func() (Chart, error) { return HeadScores(l, nil, 0.4) },
		"without heads": func() (Chart, error) { return WithoutHeads(l, nil, 4) },
	} {
		if c, err := draw(); err == nil || c.SVG != "" {
			t.Errorf("%s: got a chart without data, want an error", name)
		}
	}
}

// TestFirstPointIsDrawn: the first point of a measurement in progress is drawn.
func TestFirstPointIsDrawn(t *testing.T) {
	l := terms.English
	for name, draw := range map[string]func() (Chart, error){
		"ways":      func() (Chart, error) { return CacheTimeSoFar(l, waysOf(1, timed), 1) },
		"entropy":   func() (Chart, error) { return Entropies(l, []EntropyLane{{"Greedy", []float64{0}}}) },
		"distances": func() (Chart, error) { return Distances(l, []DistanceAt{{10, Exactly(0), 0, 0}}, 0) },
		"first":     func() (Chart, error) { return FirstTokens(l, []FirstToken{{1, Exactly(0)}}, 0, 0) },
		"per pass":  func() (Chart, error) { return TokensPerPass(l, []PerPass{{4, 0, 0}}) },
		"saved":     func() (Chart, error) { return TimeSaved(l, []Saved{{Gamma: 4}}) },
		"end":       func() (Chart, error) { return EndChances(l, []float64{0}) },
	} {
		c, err := draw()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fit(t, c)
	}
}

func TestSpreadLabels(t *testing.T) {
	for _, c := range []struct{ in, want []float64 }{
		{[]float64{10, 50}, []float64{10, 50}},
		{[]float64{50, 45, 10}, []float64{55, 45, 10}},  // 45 stays, and 50 is pushed up to 45 + 10
		{[]float64{98, 97}, []float64{100, 90}},         // above the edge: 107 → 100, which pushes 97 down to 90
		{[]float64{-5, -5, 90}, []float64{0, 10, 90}},   // from below 0
		{[]float64{99, 99, 99}, []float64{80, 90, 100}}, // three at the top
	} {
		if got := spread(c.in, 10, 0, 100); !slices.Equal(got, c.want) {
			t.Errorf("spread(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestRoundStep(t *testing.T) {
	for x, want := range map[float64]float64{1: 1, 1.01: 2, 3: 5, 5: 5, 7: 10, 0.03: 0.05, 2500: 5000} {
		if got := roundStep(x); !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("roundStep(%v) = %v, want %v", x, got, want)
		}
	}
	names := func(a axis) (list []string) {
		for _, k := range a.ticks {
			list = append(list, k.Label)
		}
		return list
	}
	for _, c := range []struct {
		got  axis
		want string
	}{
		{upTo(170e6, 4, countTick(terms.English)), "0 50 M 100 M 150 M"},
		{upTo(0.65, 3, tick), "0 0.5"},
		{wholes(1, 64, 5), "1 20 40 64"},
		{wholes(7, 9, 5), "7 8 9"},
		{powers(10, 10_000, countTick(terms.English)), "10 100 1,000 10 k"},
		{powers(0.015, 0.6, tick), "0.02 0.05 0.1 0.2 0.5"},
		{around(terms.English, -22, 12), "−20 ms −10 ms 0 10 ms"},
		{bytesUpTo(terms.English, 48<<10), "0 20 KiB 40 KiB"},
	} {
		if got := strings.Join(names(c.got), " "); got != c.want {
			t.Errorf("got marks %q, want %q", got, c.want)
		}
	}
}

func TestNumberFormats(t *testing.T) {
	l := terms.English
	for got, want := range map[string]string{
		figures(0.1093): "0.109", figures(12.34): "12.3", figures(1234): "1,234", figures(0): "0",
		figures(-0.5):   "−0.500",
		millis(l, 2800): "2.80 s", millis(l, 0.4): "0.400 ms", millis(l, 0.0924): "92.4 µs",
		millisTick(l)(0.05):      "50 µs",
		terms.Dollars(0.0000213): "$0.0000213", terms.Dollars(12): "$12.00",
		terms.BytesShort(3072): "3,072 B", terms.BytesShort(58368): "57 KiB",
		terms.BytesShort(1.5 * (1 << 20)): "1.5 MiB",
		terms.Grouped(-0.001, 2):          "0.00", countTick(l)(60e6): "60 M", tick(0.1 + 0.2): "0.3",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
