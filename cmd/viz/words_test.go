package main

import (
	"bufio"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/stage"
)

// TestTerminalUsesTheCatalog prints runs in a test language that marks every word of the catalogs.
// A word without a mark is therefore hard-coded.
func TestTerminalUsesTheCatalog(t *testing.T) {
	words := stage.Words{Language: pseudo.Language(t)}
	m := testmodel.Target(t)
	for name, change := range map[string]func(*infer.Settings){
		"as the page draws": func(*infer.Settings) {},
		"greedy":            func(s *infer.Settings) { s.Temperature = 0 },
		"several filters":   func(s *infer.Settings) { s.TopK, s.MinP, s.TypicalP = 40, 0.01, 0.9 },
		"repeats cost":      func(s *infer.Settings) { s.RepetitionPenalty = 1.3 },
		"no filter":         func(s *infer.Settings) { s.Settings = sampling.Pure },
		"a stop string":     func(s *infer.Settings) { s.Stop.Strings = []string{" the", "."} },
	} {
		settings := infer.DefaultSettings()
		settings.Stop.MaxTokens = 12
		change(&settings)
		const prompt = "Once upon a time"
		loop, err := infer.NewLoop(m, prompt, settings)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		out := bufio.NewWriter(&b)
		const rows = 5
		if err := printRun(t.Context(), loop, rows, newAccount(words, out, m, prompt), out); err != nil {
			t.Fatal(err)
		}
		data := []string{m.Name()}
		add := func(t infer.Token) { data = append(data, stage.TokenText(t).String()) }
		text := prompt
		for _, id := range loop.Prompt() {
			add(m.Token(id))
		}
		for _, step := range loop.Steps() {
			d := step.Distribution()
			for _, id := range d.Order[:rows] {
				add(m.Token(int(id)))
			}
			add(m.Token(step.Chosen))
			text += step.Text
			data = append(data, tail(stage.Marked(text).String(), tailWidth), stage.Marked(string(step.Held)).String())
		}
		for _, s := range settings.Stop.Strings {
			data = append(data, stage.Marked(s).String())
		}
		data = append(data, strings.Split(text, "\n")...)
		if left := pseudo.NewData(data).Unmarked(b.String()); len(left) > 0 {
			t.Errorf("%s: %q is in no catalog, want none:\n%s", name, left, b.String())
		}
	}
}
