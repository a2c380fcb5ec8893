package lessons

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// The lessons state what their live experiments show. These tests quote the statements, run each
// experiment's prompt on the bundled model and check the results. So a test fails if a new model or
// prompt makes a statement false, or if a statement changes and must be checked again.

// write generates up to n tokens after a prompt, or until a stop condition
// fires.
func write(t *testing.T, prompt string, s infer.Settings, n int) *infer.Loop {
	t.Helper()
	loop, err := infer.NewLoop(testmodel.Target(t), prompt, s)
	if err != nil {
		t.Fatal(err)
	}
	for range n * len(infer.Kinds) {
		if _, err := loop.Advance(t.Context()); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return loop
}

func textOf(loop *infer.Loop) (text string) {
	for _, s := range loop.Steps() {
		text += s.Text
	}
	return text
}

func at(change func(*infer.Settings)) infer.Settings {
	s := infer.DefaultSettings()
	s.Settings = sampling.Pure
	change(&s)
	return s
}

// first returns the logits after a prompt.
func first(t *testing.T, prompt string) []float32 {
	t.Helper()
	return write(t, prompt, at(func(*infer.Settings) {}), 1).Steps()[0].Logits
}

// widgetNamed returns a widget of the course.
func widgetNamed(t *testing.T, id string) Widget {
	t.Helper()
	for _, lesson := range course(t).Lessons {
		for _, s := range lesson.Sections {
			for _, b := range s.Blocks {
				if w, ok := b.(Widget); ok && w.ID == id {
					return w
				}
			}
		}
	}
	t.Fatalf("no widget %q", id)
	return Widget{}
}

func TestLessonSureAndUnsureIsTrue(t *testing.T) {
	says(t,
		"The highest row holds about a fifth of the whole. Six more", "share nearly all the rest",
		"the first row holds nearly everything", "the shares are spread over dozens of rows",
		"such as The capital of France is, at T = 2", "still far ahead of any other single token",
		"At T = 1 they held next to nothing together", "now more than one draw in ten goes to them",
	)
	p := func(prompt string, temperature float64) *sampling.Distribution {
		return sampling.Decide(first(t, prompt), sampling.Settings{Temperature: temperature, TopP: 1})
	}
	d := p(widgetNamed(t, "turn-shares").Params["prompt"], 1)
	if d.Cum[0] < 0.18 || d.Cum[0] > 0.22 || d.Cum[6] < 0.95 {
		t.Errorf("the favorite has p %.3f, the first seven %.3f; want 0.18 to 0.22, at least 0.95", d.Cum[0], d.Cum[6])
	}
	sure := course(t).Start("sure").Prompt
	if sure != "The capital of France is" {
		t.Errorf("the sure prompt is %q, want the one that the lesson on temperature names", sure)
	}
	if top := p(sure, 1).Cum[0]; top < 0.99 {
		t.Errorf("the high-confidence prompt's top token has probability %.3f, want at least 0.99", top)
	}
	if d := p(course(t).Start("unsure").Prompt, 1); d.Cum[0] > 0.15 || d.Cum[23] > 0.75 {
		t.Errorf("the unsure prompt's favorite has %.3f, the first 24 %.3f; want at most 0.15, at most 0.75", d.Cum[0],
			d.Cum[23])
	}
	hot := p(sure, 2)
	if second := hot.Cum[1] - hot.Cum[0]; hot.Cum[0] < 5*second || 1-hot.Cum[0] < 0.1 {
		t.Errorf(
			"at T = 2 the favorite has %.3f, the second %.3f; want hot.Cum[0] at least %.3f, 1-hot.Cum[0] "+
				"at least 0.1",
			hot.Cum[0], second, 5*second,
		)
	}
}

func TestLessonGreedyCircleIsTrue(t *testing.T) {
	says(t,
		"Our wizard’s tale stays fine for longer, so this is another",
		"Within a few tokens the same words come back", "it starts at about two percent",
		"a few rounds later it is above eighty", "the circle breaks sooner or later",
	)
	prompt := widgetNamed(t, "greedy-circle").Params["prompt"]
	loop := write(t, prompt, at(func(s *infer.Settings) { s.Temperature = 0 }), 64)
	if greedy := textOf(loop); strings.Count(greedy, ", and the wind blew and blew") < 7 {
		t.Errorf(`greedy generates %q, want ", and the wind blew and blew" 7 times or more`, greedy)
	}
	// If greedy were looping, some sequence of six words would occur twice. In the wizard's text, none
	// does.
	words, seen := strings.Fields(textOf(write(t, Sentence, at(func(s *infer.Settings) { s.Temperature = 0 }), 64))),
		map[string]bool{}
	for i := range len(words) - 5 {
		round := strings.Join(words[i:i+6], " ")
		if seen[round] {
			t.Errorf("greedy repeats %q in 64 tokens after %q, want no circle", round, Sentence)
		}
		seen[round] = true
	}
	var rounds []float64
	for _, s := range loop.Steps() {
		if s.Text == " wind" {
			d := s.Distribution()
			rounds = append(rounds, d.P[s.Chosen])
			if d.RankOf(int32(s.Chosen)) != 0 {
				t.Errorf("step %d: another token is more probable", s.N)
			}
		}
	}
	if n := len(rounds); n < 7 || math.Round(100*rounds[0]) != 2 || !slices.IsSorted(rounds[:5]) ||
		slices.Min(rounds[4:]) < 0.8 {
		t.Errorf("round by round, wind has p = %.3f; want 0.02 at first, rising to 0.8 or more", rounds)
	}
	if warm := textOf(write(t, prompt, at(func(*infer.Settings) {}), 40)); strings.Count(warm, "the wind blew") > 2 {
		t.Errorf(`at T = 1 the model generates %q, want "the wind blew" at most twice`, warm)
	}
}

// TestLessonWalkCircleIsTrue: one step of a walkthrough shows the circle that the lesson describes.
// Another step, with the same prompt but a temperature above 0, does not.
func TestLessonWalkCircleIsTrue(t *testing.T) {
	says(t, "easily goes round in circles", "but the circle is broken")
	prompt, seen := widgetNamed(t, "greedy-circle").Params["prompt"], 0
	for _, w := range course(t).Walks {
		for _, step := range w.Steps {
			if !step.Starts() || step.Do[0].(WalkStart).Prompt != prompt {
				continue
			}
			seen++
			start, upTo := step.Do[0].(WalkStart), step.Do[1].(WalkGo).Step
			rounds := strings.Count(textOf(write(t, start.Prompt, start.Settings, upTo)), "the wind blew")
			if start.Settings.Greedy() && rounds < 2 || !start.Settings.Greedy() && rounds > 0 {
				t.Errorf(
					"%s#%s: got %d rounds in %d tokens, want 2 or more under greedy decoding and none otherwise",
					w.Slug, step.ID, rounds, upTo,
				)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d steps begin with %q, want 2: one without and one with a temperature", seen, prompt)
	}
}

func TestLessonNucleusIsTrue(t *testing.T) {
	says(t,
		"one surer than the wizard’s and one less sure",
		"On the sure prompt top-p keeps hardly anything but the favorite, while top-k still lets in its full number",
		"On the unsure prompt top-p keeps many more than top-k",
	)
	w := widgetNamed(t, "nucleus-two")
	if w.Params["k"] != "40" || w.Params["p"] != "0.9" {
		t.Fatalf("the widget has %v, want k = 40, p = 0.9", w.Params)
	}
	topK, topP := sampling.Settings{Temperature: 1, TopK: 40, TopP: 1}, sampling.Settings{Temperature: 1, TopP: 0.9}
	peaked, flat := first(t, w.Params["peaked"]), first(t, w.Params["flat"])
	if n := sampling.Decide(peaked, topP).Keep; n > 2 {
		t.Errorf("top-p keeps %d tokens after the high-confidence prompt, want at most 2", n)
	}
	d := sampling.Decide(peaked, topK)
	if d.Keep != 40 || d.P[d.Order[39]] > 0.001 {
		t.Errorf(
			"top-k keeps %d on the sure prompt, the last with %g; want 40, at most 0.001", d.Keep, d.P[d.Order[39]],
		)
	}
	if n := sampling.Decide(first(t, Sentence), topP).Keep; n < 3 || n > 40 {
		t.Errorf("top-p keeps %d tokens after %q, want 3 to 40, between the other two prompts", n, Sentence)
	}
	if n := sampling.Decide(flat, topP).Keep; n < 80 {
		t.Errorf("top-p keeps %d tokens after the unsure prompt, want at least 80", n)
	}
}

func TestLessonBestPathIsTrue(t *testing.T) {
	says(t, "every path of four tokens", "greedy took the larger first step and ended with the smaller product")
	w := widgetNamed(t, "best-path")
	if w.Params["length"] != "4" {
		t.Fatalf("the widget has %v, want length = 4", w.Params)
	}
	m := testmodel.Target(t)
	greedyPath, greedy := []int(nil), 0.0
	path, best := []int(nil), math.Inf(-1)
	// The search is depth-first. A path whose product so far is below the best one cannot win,
	// since every further step makes it smaller.
	var follow func(taken []int, sum float64, onlyTop bool)
	follow = func(taken []int, sum float64, onlyTop bool) {
		if len(taken) == 4 {
			if onlyTop {
				greedyPath, greedy = slices.Clone(taken), sum
			}
			if sum > best {
				path, best = slices.Clone(taken), sum
			}
			return
		}
		p, order := next(t, m, w.Params["prompt"], taken)
		for rank, id := range order {
			s := sum + math.Log(p[id])
			if s <= best && !(onlyTop && rank == 0) {
				break // all following tokens are less likely
			}
			follow(append(taken, int(id)), s, onlyTop && rank == 0)
		}
	}
	follow(nil, 0, true)
	if slices.Equal(path, greedyPath) || greedy >= best {
		t.Errorf(
			"greedy's path %v has ln p = %.3f, want less than the best path, %v with %.3f", greedyPath, greedy, path,
			best,
		)
	}
}

// next returns the distribution after a prompt and some tokens.
func next(t *testing.T, m *infer.Model, prompt string, taken []int) (p []float64, order []int32) {
	t.Helper()
	ctx := context.Background()
	last, _, err := m.Forward(ctx, m.NewCache(), append(slices.Clone(m.Encode(prompt)), taken...))
	if err != nil {
		t.Fatal(err)
	}
	z, _, err := m.Logits(last)
	if err != nil {
		t.Fatal(err)
	}
	p, _, _ = sampling.Softmax(z, 1)
	return p, sampling.Rank(z)
}

func TestLessonStopStringIsTrue(t *testing.T) {
	says(t,
		"The string arrives as two tokens, User and :", "so it is held back",
		"Without the stop string this model likes to carry on",
	)
	w := widgetNamed(t, "stop-user")
	greedy := func(stop ...string) *infer.Loop {
		return write(t, w.Params["prompt"], at(func(s *infer.Settings) { s.Temperature, s.Stop.Strings = 0, stop }), 60)
	}
	loop := greedy(w.Params["stop"])
	steps := loop.Steps()
	last, before := steps[len(steps)-1], steps[max(len(steps)-2, 0)]
	if last.StopString != w.Params["stop"] {
		t.Fatalf("the text is stopped by %q after %q, want the widget's stop string", last.Stop, textOf(loop))
	}
	m := testmodel.Target(t)
	if a, b := m.Token(before.Chosen).Text, m.Token(last.Chosen).Text; strings.TrimSpace(a) != "User" || b != ":" {
		t.Errorf("the stop string is split into %q and %q; want %q, %q", a, b, "User", ":")
	}
	if !strings.HasSuffix(string(before.Held), "User") || strings.Contains(textOf(loop), "User") {
		t.Errorf(
			"after the first token %q is held; the answer is %q; want it ending with %q, it without %q", before.Held,
			textOf(loop), "User", "User",
		)
	}
	if text := textOf(greedy()); !strings.Contains(text, "User:") {
		t.Errorf("without the stop string, the model generates %q", text)
	}
}

func TestLessonCacheIsTrue(t *testing.T) {
	says(t, "each step costs more than the one before. With it, the steps cost almost the same.")
	w := widgetNamed(t, "cache-saves")
	steps := write(t, w.Params["prompt"], at(func(*infer.Settings) {}), 48).Steps()
	if len(steps) < 30 {
		t.Fatalf("the text ends after %d tokens, want at least 30", len(steps))
	}
	total := func(i int) (cached, recomputed int64) {
		return steps[i].TotalCached - steps[i-1].TotalCached, steps[i].TotalRecomputed - steps[i-1].TotalRecomputed
	}
	lowCached, low := total(1)
	highCached, high := total(len(steps) - 1)
	if float64(highCached) > 1.05*float64(lowCached) || highCached <= lowCached || high < 3*low {
		t.Errorf(
			"cached %d to %d, recomputed %d to %d; want float64(highCached) at most %v, highCached more "+
				"than %d, high at least %d",
			lowCached, highCached, low, high, 1.05*float64(lowCached), lowCached, 3*low,
		)
	}
}

func TestLessonTokensIsTrue(t *testing.T) {
	says(t,
		"Wizard falls apart", "·lived and ·Saturday have places of their own, while www has to be spelled",
		"the same with a space in front", "Here each digit is a piece", "needs two pieces for each letter",
		"With a space in front it is a single token even in this small model",
	)
	m := testmodel.Target(t)
	for text, want := range map[string]string{
		widgetNamed(t, "tokens-wizard").Params["prompt"]: "The| w|izard| lived| in| a",
		" lived": " lived", " Saturday": " Saturday", "www": "w|w|w", "strawberry": "st|ra|w|berry",
		" strawberry": " strawberry", "12345 + 678": "1|2|3|4|5| +| 6|7|8",
	} {
		var pieces []string
		for _, id := range m.Encode(text)[1:] { // without the start token
			pieces = append(pieces, m.Token(id).Text)
		}
		if got := strings.Join(pieces, "|"); got != want {
			t.Errorf("%q is split into %q, want %q", text, got, want)
		}
	}
	if n := len(m.Encode("привет")) - 1; n != 2*6 {
		t.Errorf("six Russian letters are %d tokens, want 2*6", n)
	}
}

func TestLessonAttentionIsTrue(t *testing.T) {
	says(t,
		"nearly half goes to ·lived, and another quarter to izard", "looks almost only at its neighbor, ·in",
		"This one found nothing of interest", "head 1 rests on the start mark",
		"36 looks, worked out for the last token",
	)
	m, w := testmodel.Target(t), widgetNamed(t, "look-wizard")
	if w.Params["block"] != "4" || w.Params["head"] != "1" {
		t.Fatalf("the widget has %v, want block = 4, head = 1", w.Params)
	}
	if c := m.Config(); c.Layers*c.Heads != 36 {
		t.Errorf("got %d heads in %d blocks, want 36 in total", c.Heads, c.Layers)
	}
	ids, cache := m.Encode(w.Params["prompt"]), m.NewCache()
	if _, _, err := m.Forward(t.Context(), cache, ids); err != nil {
		t.Fatal(err)
	}
	inside, err := m.Inspect(t.Context(), cache, ids[len(ids)-1], len(ids)-1)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		block, head, at int // the position `at` counts the start token
		least, most     float32
	}{{4, 5, 4, 0.4, 0.5}, {4, 5, 3, 0.2, 0.25}, {5, 4, 5, 0.8, 1}, {4, 1, 0, 0.99, 1}} {
		if got := inside.Blocks[row.block-1].Attention[row.head-1][row.at]; got < row.least || got > row.most {
			t.Errorf(
				"block %d, head %d gives position %d a weight of %.3f; want at least %.3f and at most %.3f", row.block,
				row.head, row.at, got, row.least, row.most,
			)
		}
	}
}
