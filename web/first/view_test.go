package first

import (
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// TestOneTokenLeavesChanceNoChoice: where the filters keep only one token, the page does not say that
// chance decides, that the result was uncertain, or that another try could change it.
func TestOneTokenLeavesChanceNoChoice(t *testing.T) {
	t.Parallel()
	const prompt = "Yesterday my best friend"
	m := &mover{ctx: t.Context(), run: session.New(testmodel.Target(t), session.DefaultLimits())}
	st := m.do(session.Start{Prompt: prompt}, oneStage, oneStage, oneStage, withheld)
	if m.err != nil || st.Dist.Keep != 1 {
		t.Fatalf("%d tokens are kept after %q, %v; want 1", st.Dist.Keep, prompt, m.err)
	}
	v := newView(stage.English, location{scene: sceneDrop}, m)
	if v.Title != "Only one token is left." || !strings.Contains(v.Say, "nothing for chance to decide") ||
		strings.Contains(v.Under, "Nothing is decided") {
		t.Errorf(
			"before the draw, the page says %q, %q, %q; want that nothing is left to chance", v.Title, v.Say, v.Under,
		)
	}
	m.do(session.Draw{})
	kept, other := strconv.Itoa(int(st.Dist.Order[0])), strconv.Itoa(int(st.Dist.Order[1]))
	for guess, want := range map[string]string{
		"":        "It was the only token left, so there was nothing for chance to decide.",
		guessElse: "It was the only token left, so there was nothing for chance to decide.",
		kept:      "Just what you guessed. It was the only token left, so there was nothing for chance to decide.",
		other:     "It was the only token left, so there was nothing for chance to decide. Your “has” was left out.",
	} {
		v := newView(stage.English, location{scene: sceneDrop, guess: guess}, m)
		if m.err != nil || v.Say != want || v.Again {
			t.Errorf("guess %q: got %q, another try %t, %v; want %q, false", guess, v.Say, v.Again, m.err, want)
		}
	}
}

// TestDrawnSceneSaysWhatWasPossible: after the draw, the page says that other tokens were possible
// only of those that the filters kept. The distribution has four tokens with the shares 0.4, 0.3,
// 0.2 and 0.1, and top-k keeps a number of them.
func TestDrawnSceneSaysWhatWasPossible(t *testing.T) {
	t.Parallel()
	for keep, want := range map[int]string{
		4: "One share was hit. Every other token was possible too.",
		3: "One share was hit. Every other kept token was possible too. The tokens left out were not.",
		1: "All other tokens were left out, so nothing else was possible.",
	} {
		d := &sampling.Distribution{Order: []int32{2, 0, 3, 1}, Keep: keep}
		got := stage.English.T(drawnUnder(d))
		if got != want {
			t.Errorf("%d of 4 tokens are kept: got %q, want %q", keep, got, want)
		}
		if strings.Contains(got, "left out") != (keep < 4) {
			t.Errorf("%d of 4 tokens are kept, and the page says %q", keep, got)
		}
	}
}

// TestSpaceIsNamedByItsDot: a token that consists of a space is shown as a dot within a sentence, not
// as nothing, and other tokens are shown without the dots of their leading spaces.
func TestSpaceIsNamedByItsDot(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	st := session.New(m, session.DefaultLimits()).State()
	for text, want := range map[string]string{" ": "·", " the": "the", "Yes": "Yes"} {
		id, ok := m.TokenOf(text)
		if !ok {
			t.Fatalf("the vocabulary lacks %q", text)
		}
		if got := plain(st, id); got != want {
			t.Errorf("the token %q is shown as %q, want %q", text, got, want)
		}
	}
}

// TestQuestionIsContinued: after a question, and only then, the page says that the model continues
// the text, perhaps without answering.
func TestQuestionIsContinued(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"who is the best youtuber?": true, "Is it late? ": true, "She said, “Why?”": true,
		"誰？": true, "لماذا؟": true,
		"In the old house": false, "Why? Because": false, "": false, "Oh!": false,
	} {
		if got := isQuestion(text); got != want {
			t.Errorf("%q is a question: got %t, want %t", text, got, want)
		}
	}
	for text, want := range map[string]bool{"Who is there?": true, "Who is there": false} {
		var v view
		v.read(stage.English, &session.State{Prompt: text})
		if got := strings.Contains(v.Say, "may not be an answer"); got != want {
			t.Errorf("after %q, the page says %q; want a note about questions: %t", text, v.Say, want)
		}
	}
}
