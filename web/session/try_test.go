package session_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
)

func bundledSession(t *testing.T) *session.Session {
	t.Helper()
	m := testmodel.Target(t)
	return session.New(m, session.DefaultLimits())
}

// TestSuggestionsShowWhatTheyPromise plays each suggestion and checks that it shows its point.
func TestSuggestionsShowWhatTheyPromise(t *testing.T) {
	s := bundledSession(t)
	play := func(key string, tokens int) (top []float64, text string) {
		st := apply(t, s, session.Try{Key: key})
		if st.Cursor != at(1, infer.KindForward) || st.Playing {
			t.Fatalf("%s begins at %+v, playing: %v; want the first stage, false", key, st.Cursor, st.Playing)
		}
		for range tokens {
			st = apply(t, s, session.StepToken{})
			step := st.Steps[len(st.Steps)-1]
			p, _, _ := sampling.Softmax(step.Logits, 1)
			top = append(top, slices.Max(p))
			text += step.Text
		}
		return top, text
	}
	if top, text := play("sure", 1); top[0] < 0.95 {
		t.Errorf("sure: the most likely tokens in %q have %.2f, want top[0] at least 0.95", text, top)
	}
	if top, text := play("unsure", 1); top[0] > 0.1 {
		t.Errorf("unsure: the most likely token of %q has %.2f, want at most 0.1", text, top[0])
	}
	if s.State().Settings.Temperature != 1 {
		t.Errorf("unsure has temperature %v, want 1", s.State().Settings.Temperature)
	}
	_, text := play("loop", 48)
	if strings.Count(text, ", and the wind blew and blew") < 5 {
		t.Errorf("loop: %q does not repeat itself", text)
	}
	if e := wantRefused(t, s, session.Try{Key: "nothing"}); e.Code != terms.CodeRange || e.Field != "key" {
		t.Errorf("an unknown suggestion: got %+v, want Code = %q, Field = %q", e, terms.CodeRange, "key")
	}
}

func TestRedrawWithAnotherSeed(t *testing.T) {
	s := open(
		t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.StepToken{},
		session.Seek{Step: 1, Stage: infer.KindSoftmax},
	)
	before := s.State()
	seed := uint64(7)
	for sampling.U(seed, 1) == before.Steps[0].U {
		seed++
	}
	st := apply(t, s, session.Redraw{Seed: seed})
	step := st.Step()
	if st.Cursor != at(1, infer.KindSample) || len(st.Steps) != 1 || step.U != sampling.U(seed, 1) ||
		st.Settings.Seed != seed || step.Settings.Seed != seed {
		t.Fatalf(
			"after a redraw at %+v of %d steps, u %v, seed %d; want the sample stage of 1 step, with the "+
				"u of the given seed",
			st.Cursor, len(st.Steps), step.U, st.Settings.Seed,
		)
	}
	if &step.Logits[0] != &before.Steps[0].Logits[0] {
		t.Error("a redraw ran the model again")
	}
	if len(st.Branches) != 2 || !st.Branches[1].Current || !slices.Equal(
		st.Branches[0].Chosen, []int{before.Steps[0].Chosen, before.Steps[1].Chosen},
	) {
		t.Errorf("branches %+v, want the branch that was left and the current one", st.Branches)
	}
	if len(st.Ghosts) != 1 || st.Ghosts[0].ID != before.Steps[1].Chosen {
		t.Errorf("ghosts %+v, want the second token", st.Ghosts)
	}

	if e := wantRefused(t, s, session.Redraw{Seed: infer.MaxSeed + 1}); e.Field != "seed" {
		t.Errorf("a seed that is too large: got %+v, want a refusal of the field seed", e)
	}
	apply(t, s, session.SetPreset{Key: "greedy"})
	if e := wantRefused(t, s, session.Redraw{Seed: 1}); e.Code != session.CodeOrder {
		t.Errorf("with greedy decoding: got %+v, want Code = %q", e, session.CodeOrder)
	}
	apply(t, s, session.SetPreset{Key: "pure"}, session.Reset{}, session.StepStage{})
	if e := wantRefused(t, s, session.Redraw{Seed: 1}); e.Code != session.CodeOrder {
		t.Errorf("before the draw: got %+v, want Code = %q", e, session.CodeOrder)
	}
}

// TestFindRanksMatches: exact text comes first, then matches that ignore case and space, then
// tokens that begin with the text, then the rest. White space can be typed as its mark.
func TestFindRanksMatches(t *testing.T) {
	s := bundledSession(t)
	st := apply(t, s, session.Start{Prompt: "The capital of France is"}, session.StepStage{})
	texts := func(ids []int) (list []string) {
		for _, id := range ids {
			list = append(list, st.Model.Token(id).Text)
		}
		return list
	}
	for _, c := range []struct{ text, first, second string }{
		{"·Paris", " Paris", ""},
		{"Paris", " Paris", ""}, // there is no token without the space
		{" the", " the", " The"},
		{"paris", " Paris", ""},
		{"↵", "\n", ""},
	} {
		ids, _ := st.Find(1, c.text, 12)
		if got := texts(ids); len(got) == 0 || got[0] != c.first || c.second != "" && got[1] != c.second {
			t.Errorf("%q finds %q, want %q first, then %q", c.text, got, c.first, c.second)
		}
	}
	// want is the number of tokens that contain an e.
	want := 0
	for id := range st.Model.Config().Vocab {
		if strings.Contains(strings.ToLower(st.Model.Token(id).Text), "e") {
			want++
		}
	}
	ids, more := st.Find(1, "e", 12)
	if len(ids) != 12 || len(ids)+more != want {
		t.Errorf("found %d tokens with an e and %d more, want 12 of %d", len(ids), more, want)
	}
	if ids, more := st.Find(1, "no such token", 12); len(ids)+more != 0 {
		t.Errorf("found %q, want nothing", texts(ids))
	}
	if ids, _ := st.Find(1, "", 12); ids != nil {
		t.Error("an empty search has results")
	}
	if ids, _ := st.Find(2, "e", 12); ids != nil {
		t.Error("a search has results at a step without scores")
	}
}
