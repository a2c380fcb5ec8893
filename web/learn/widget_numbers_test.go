package learn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/stage"
)

// The tests in this file compute the expected numbers with the engine's plain functions, on the
// bundled model.

// TestTemperatureMatchesTheEngine: rows, sums, marks and the Loop's state match a softmax of the
// same scores at the same T.
func TestTemperatureMatchesTheEngine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetTemperature)
	const prompt = "The old man had a"
	z := s.scores(prompt)
	order := sampling.Rank(z)
	one, _, _ := sampling.Softmax(z, 1)
	for _, temp := range []float64{0.1, 0.7, 1, 2} {
		d := s.alone(spec, map[string]string{"prompt": prompt, "t": terms.Plain(temp)})
		p, _, _ := sampling.Softmax(z, temp)
		table := rows(d.Find("tbody tr"))
		rest, restOne := 0.0, 0.0
		for _, id := range order[len(table)-1:] {
			rest, restOne = rest+p[id], restOne+one[id]
		}
		for i, row := range table[:len(table)-1] {
			id := order[i]
			want := []string{
				stage.TokenText(s.pages.Model.Token(int(id))).String(), terms.Logit(float64(z[id])),
				terms.Decimals(float64(z[id])/temp, 2), terms.Prob(p[id]), "",
			}
			if !slices.Equal(row, want) {
				t.Errorf("T = %g, row %d: %q, want %q", temp, i+1, row, want)
			}
		}
		last := table[len(table)-1]
		if last[0] != terms.Counted(len(z)-len(table)+1, "other") || last[3] != terms.Prob(rest) ||
			last[4] != terms.Prob(restOne)+" at T = 1" {
			t.Errorf("T = %g: the others are %q, want %s and %s", temp, last, terms.Prob(rest), terms.Prob(restOne))
		}
		if sum := text(d.Find("tfoot td").Eq(2)); sum != "1.0000" {
			t.Errorf("T = %g: the sum of all is %s, want %s", temp, sum, "1.0000")
		}
		gap := float64(z[order[0]]) - float64(z[order[1]])
		times := terms.Decimals(math.Exp(gap/temp), 2)
		if math.Exp(gap/temp) >= 1000 {
			times = terms.Decimals(math.Exp(gap/temp), 0)
		}
		if said := text(d.Find(".w__sum")); !strings.Contains(said, times+" times as likely") {
			t.Errorf("T = %g: got %s, want it to contain %q", temp, said, times+" times as likely")
		}
		st := s.opened(href(d.Find("figure")))
		if st.Prompt != prompt || st.Settings.Temperature != temp || st.Cursor.Stage != infer.KindSoftmax {
			t.Errorf(
				"the Loop is at %+v with %+v; want st.Prompt = %q, st.Settings.Temperature = %v, st.Cursor.Stage = %v",
				st.Cursor, st.Settings, prompt, temp, infer.KindSoftmax,
			)
		}
	}
}

// TestNucleusMatchesTheEngine: the tokens that each rule alone keeps, and their mass, match the
// engine.
func TestNucleusMatchesTheEngine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetNucleus)
	d := s.alone(spec, map[string]string{"k": "5", "p": "0.8"})
	for i, name := range []string{"peaked", "flat"} {
		prompt := spec.Params[name]
		byK := s.distribution(prompt, sampling.Settings{Temperature: 1, TopK: 5, TopP: 1})
		byP := s.distribution(prompt, sampling.Settings{Temperature: 1, TopP: 0.8})
		side := d.Find(".w-side").Eq(i)
		facts := rows(side.Find("dl > div"))
		for j, c := range []*sampling.Distribution{byK, byP} {
			if want := fmt.Sprintf("%s with %s", terms.Count(c.Keep), terms.Prob(c.Mass)); facts[j][1] != want {
				t.Errorf("%s: %q, want %q", prompt, facts[j], want)
			}
		}
		for r, row := range rows(side.Find("tbody tr")) {
			kept := map[bool]string{true: "kept", false: "cut"}
			if row[3] != kept[r < byK.Keep] || row[4] != kept[r < byP.Keep] {
				t.Errorf(
					"%s, rank %d: %q; want row[3] = %q, row[4] = %q", prompt, r+1, row, kept[r < byK.Keep],
					kept[r < byP.Keep],
				)
			}
		}
		st := s.opened(href(side))
		if st.Prompt != prompt || st.Settings.TopK != 5 || st.Settings.TopP != 0.8 ||
			st.Cursor.Stage != infer.KindFilter {
			t.Errorf(
				"the Loop is at %+v with %+v; want st.Prompt = %q, st.Settings.TopK = 5, st.Settings.TopP "+
					"= 0.8, st.Cursor.Stage = %v",
				st.Cursor, st.Settings, prompt, infer.KindFilter,
			)
		}
	}
}

// TestStagesMatchTheEngine: at every stage, even beyond the end of a turn and back, the widget
// shows the same values as a loop with the same settings.
func TestStagesMatchTheEngine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetTurn)
	const prompt = "Once upon a"
	loop, err := infer.NewLoop(s.pages.Model, prompt, settingsOf(spec.Inputs(terms.English).Defaults()))
	if err != nil {
		t.Fatal(err)
	}
	var commands []map[string]string
	for at := range 10 {
		if _, err := loop.Advance(context.Background()); err != nil {
			t.Fatal(err)
		}
		commands = append(commands, map[string]string{"prompt": prompt, "at": fmt.Sprint(at + 1)})
	}
	for i, m := range s.asks(spec, append(commands, commands[4])...) {
		if i == len(commands) {
			i = 4
		}
		body := s.body(m)
		st := s.opened(href(body.Selection))
		if want := (i / 7) + 1; st.Cursor.Step != want || int(st.Cursor.Stage) != i%7+1 {
			t.Errorf("place %d opens at %+v; want Step = %d, int(st.Cursor.Stage) = %d", i+1, st.Cursor, want, i%7+1)
		}
		if now := text(body.Find("[aria-current=step] i")); now != fmt.Sprint(i%7+1) {
			t.Errorf("place %d: stage %s is marked, want %d", i+1, now, i%7+1)
		}
		step := loop.Steps()[i/7]
		if i%7+1 >= 5 {
			chosen := stage.TokenText(s.pages.Model.Token(step.Chosen)).String()
			if said := text(body.Find(".w__sum")); i%7+1 < 7 && !strings.Contains(said, strings.TrimSpace(chosen)) {
				t.Errorf("place %d: %q does not name %q", i+1, said, chosen)
			}
		}
		if made := body.Find(".w-text .tok--gen").Length(); made != (i+2)/7 {
			t.Errorf("place %d shows %d generated tokens, want %d", i+1, made, (i+2)/7)
		}
	}
}

// TestPositionBeyondTheEndIsClamped: a position beyond the end of a text is replaced by the last
// position.
func TestPositionBeyondTheEndIsClamped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m := s.asks(s.specOf(lessons.WidgetTurn), map[string]string{"at": "3584", "tokens": "2"})[0]
	body := s.body(m)
	// The text ends after two tokens of seven stages each.
	if at := m.Data.(widgetData).Inputs["at"]; at != "14" {
		t.Errorf("at %s, want %s", at, "14")
	}
	if body.Find("[data-next]").AttrOr("aria-disabled", "") != "true" {
		t.Error("there is a button to continue")
	}
}

// tinyModel returns a model with so few tokens that all sequences can be tried.
func tinyModel(t *testing.T) *infer.Model {
	t.Helper()
	dir := t.TempDir()
	if err := fixture.Write(
		dir, fixture.Shape{Layers: 2, Width: 16, Heads: 4, KVHeads: 2, FFN: 24, Context: 32, Vocab: 2000},
	); err != nil {
		t.Fatal(err)
	}
	c, err := checkpoint.OpenPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	m, err := infer.Load(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSearchFindsTheBest: the search finds the same best sequence as an exhaustive search of all
// pairs of tokens, and it also returns greedy's path.
func TestSearchFindsTheBest(t *testing.T) {
	t.Parallel()
	m := tinyModel(t)
	ctx := context.Background()
	after := func(tokens []int) []float64 {
		last, _, err := m.Forward(ctx, m.NewCache(), tokens)
		if err != nil {
			t.Fatal(err)
		}
		z, _, err := m.Logits(last)
		if err != nil {
			t.Fatal(err)
		}
		p, _, _ := sampling.Softmax(z, 1)
		return p
	}
	differ := 0
	for _, prompt := range []string{"a", "the", "he is", "bo", "x y z", "done"} {
		f, err := findBest(ctx, m, prompt, 2, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		ids := m.Encode(prompt)
		best, first := 0.0, after(ids)
		var way []int
		for a, p := range first {
			if m.EOS(a) {
				if p > best {
					best, way = p, []int{a}
				}
				continue
			}
			for b, q := range after(append(slices.Clip(ids), a)) {
				if p*q > best {
					best, way = p*q, []int{a, b}
				}
			}
		}
		if !(math.Abs(f.best.p-best) <= 1e-12) || !slices.Equal(f.best.tokens, way) {
			t.Errorf("%q: found %v with %g, want the best: %v with %g", prompt, f.best.tokens, f.best.p, way, best)
		}
		top := sampling.Top(floats(first), 1)[0]
		if f.greedy.tokens[0] != int(top) || f.greedy.p > f.best.p {
			t.Errorf(
				"%q: greedy's path %v with %g; want f.greedy.tokens[0] = %d, f.greedy.p at most %g", prompt,
				f.greedy.tokens, f.greedy.p, int(top), f.best.p,
			)
		}
		if !f.same() {
			differ++
		}
	}
	if differ == 0 {
		t.Error("greedy was right everywhere: these prompts test nothing")
	}
}

func floats(p []float64) []float32 {
	z := make([]float32, len(p))
	for i, x := range p {
		z[i] = float32(x)
	}
	return z
}

// TestFindCircle checks results computed by hand.
func TestFindCircle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]circle{
		"":             {},
		"abcdef":       {},
		"abab":         {0, 2, 4},
		"aab":          {},        // a single token twice is not a circle
		"aaab":         {0, 1, 3}, // a single token three times is a circle
		"xyabcabcabcz": {2, 3, 9},
		"xabcabcab":    {1, 3, 8}, // the last round is cut short
		"aabaab":       {0, 3, 6},
		"ababxcdcdcd":  {5, 2, 6}, // the longer of two
		"aaaaaaaa":     {0, 1, 8}, // the shortest period
	} {
		ids := make([]int, len(text))
		for i, c := range text {
			ids[i] = int(c)
		}
		if got := findCircle(ids); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}
