package plots

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/pseudo"
)

// otherCharts returns charts in states and forms that [charts] does not include.
func otherCharts(l *terms.Language) drawings {
	saving := func(first, second float64) func() (Chart, error) {
		lanes := []Saving{{Name: "smaller limit", Share: first}, {Name: "terser", Share: second, You: true}}
		return func() (Chart, error) { return Savings{Lanes: lanes, Ran: true}.Draw(l) }
	}
	found := 0.25
	guess := Guess{Title: "⟦Writing⟧", Whole: "⟦reading⟧", At: 1, High: 8, Words: tick}
	guessed, measured := guess, guess
	guessed.From, guessed.To, guessed.Guessed = 1, 2, "⟦one to two⟧"
	measured.Measured, measured.Narrow = &found, true
	times := CacheGuess{Tokens: 3, First: 1, Top: 4, Guess: &[2]float64{3, 1}}
	slim, ran := times, times
	slim.Narrow, ran.Points = true, waysOf(3, timed)
	cached := func(g CacheGuess) func() (Chart, error) {
		return func() (Chart, error) {
			c, _, err := g.Draw(l)
			return c, err
		}
	}
	return drawings{
		"work":          func() (Chart, error) { return CumulativeCost(l, run) },
		"work, a token": func() (Chart, error) { return CumulativeCost(l, run[:1]) },
		"times ahead":   cached(times), "times ahead, narrow": cached(slim), "times": cached(ran),
		"no times": cached(CacheGuess{Tokens: 3, Top: 4}),
		"guess":    func() (Chart, error) { return guess.Draw(l) },
		"guessed":  func() (Chart, error) { return guessed.Draw(l) },
		"measured": func() (Chart, error) { return measured.Draw(l) },
		"savings":  saving(0.5, -1), "no saving": saving(0, -1),
		"loss": func() (Chart, error) {
			return TimeSaved(l, []Saved{{4, 40, -2200, 64, 10_000}, {5, 40, -2300, 64, 10_000}})
		},
		"one token":     func() (Chart, error) { return FirstTokens(l, []FirstToken{{1, Exactly(0.01)}}, 0, 0) },
		"wedge, narrow": func() (Chart, error) { return Wedge{128 << 30, 320 << 10, 24 << 30, 4096, 1, true}.Draw(l) },
		"bill, narrow":  func() (Chart, error) { return Bill{0.000021, 0.000015, 96, nil, true}.Draw(l) },
		"break even":    func() (Chart, error) { return BreakEven(l, Against{1e-9, 12000, 1e13, 0}) },
		"open stops": func() (Chart, error) {
			return StopRace(l, []Racer{{Name: "end of text", Open: true, You: true}}, 9, true)
		},
		"no stop":   func() (Chart, error) { return StopRace(l, []Racer{{Name: "end of text"}}, 9, false) },
		"each head": func() (Chart, error) { return Heads(l, 1, 1, false) },
	}
}

// ownWords returns the texts that the test passes to charts.
var ownWords = []string{
	"Greedy", "Pure sampling", "Top-k 40", "Pure sampli…", "the", "very-long-word", "very-lo…", "User:", "end of text",
	"stop string", "max_tokens", "context", "young", "little", "a-long-word", "a-long-…", "a-long…", "own weights",
	"int8", "Q4_0", "this model", "GPT-2", "Llama 2", "long", "the terser prompt", "another", "smaller limit", "terser",
	"stop", "none of them",
}

// TestEveryWordIsInTheCatalog draws all charts in a language whose catalog marks every word.
func TestEveryWordIsInTheCatalog(t *testing.T) {
	t.Parallel()
	l, data := pseudo.Language(t), pseudo.NewData(ownWords)
	report := func(name, what string, words []string) {
		if len(words) > 0 {
			t.Errorf("%s: %s: in no catalog: %q", name, what, words)
		}
	}
	all := charts(l)
	maps.Copy(all, otherCharts(l))
	for name, draw := range all {
		c, err := draw()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		words, err := data.OfPage(c.SVG)
		if err != nil {
			t.Fatal(err)
		}
		report(name, "picture", words)
		report(name, "text", data.Unmarked(c.Title+"\n"+c.Description))
		for i, row := range append([][]string{c.Header}, c.Rows...) {
			report(name, fmt.Sprint("row ", i), data.Unmarked(strings.Join(row, "\n")))
		}
	}
	svg, err := Keepsake{
		Title: "⟦Written together⟧", Parts: []KeepsakePart{{Text: strings.Repeat("the\n", 2*keepsakeLines)}},
	}.SVG(l)
	if err != nil {
		t.Fatal(err)
	}
	words, err := data.OfPage(svg)
	if err != nil {
		t.Fatal(err)
	}
	report("keepsake", "picture", words)
}
