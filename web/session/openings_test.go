package session_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
)

// write returns the text that a session generates after a prompt, which has at most n tokens.
func write(t *testing.T, s *session.Session, prompt string, n int, knobs infer.Knobs) string {
	t.Helper()
	st := apply(t, s, session.Set{Knobs: knobs}, session.Start{Prompt: prompt})
	var text strings.Builder
	for range n {
		if st.Stopped != infer.StopNone {
			break
		}
		st = apply(t, s, session.StepToken{})
		text.WriteString(st.Steps[len(st.Steps)-1].Text)
	}
	return text.String()
}

// TestOpeningsShowWhatTheyPromise runs the bundled model on each opening.
func TestOpeningsShowWhatTheyPromise(t *testing.T) {
	t.Parallel()
	s := bundledSession(t)
	seen := map[string]bool{}
	for _, o := range session.Openings {
		if seen[o.Text] {
			t.Errorf("%q is listed twice", o.Text)
		}
		seen[o.Text] = true
		if o.Kind == session.Tale {
			checkTale(t, s, o.Text)
			checkOpen(t, o.Text)
			continue
		}
		text := write(t, s, o.Text, 16, infer.Knobs{"temperature": 0})
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		switch o.Kind {
		case session.Sum:
			if want := sum(o.Text); want != "" && want != o.Answer {
				t.Errorf("%q equals %s, but its answer is %s", o.Text, want, o.Answer)
			}
			fallthrough
		case session.Capital:
			if !regexp.MustCompile(`^` + o.Answer + `\b`).MatchString(first) {
				t.Errorf("the model continues %q with %q, want %s", o.Text, text, o.Answer)
			}
		case session.Question:
			if !regexp.MustCompile(`\b` + o.Answer + `\b`).MatchString(first) {
				t.Errorf("the model answers %q with %q, want it to contain %s", o.Text, text, o.Answer)
			}
		}
	}
	if !session.KnowsOpenings(s.State().Model) {
		t.Errorf("the openings were not checked for the model %s", s.State().Model.Hash())
	}
}

// checkTale continues a tale greedily and with the Loop's initial settings, with three
// seeds.
func checkTale(t *testing.T, s *session.Session, prompt string) {
	t.Helper()
	const tokens, run = 40, 5 // no five consecutive words occur twice
	for seed, temperature := range []float64{0, 0.7, 0.7, 0.7} {
		text := write(t, s, prompt, tokens, infer.Knobs{"temperature": temperature, "seed": float64(seed)})
		if !regexp.MustCompile(`[.!?]["”]?( |\n|$)`).MatchString(text) {
			t.Errorf("%q with T = %v and seed %d does not end a sentence: %q", prompt, temperature, seed, text)
		}
		words, before := strings.Fields(prompt+text), map[string]bool{}
		for i := range len(words) - run + 1 {
			these := strings.Join(words[i:i+run], " ")
			if before[these] {
				t.Errorf(
					"%q, T %v, seed %d, repeats %q: %q; want no sentence twice", prompt, temperature, seed, these, text,
				)
			}
			before[these] = true
		}
	}
}

// checkOpen draws the first tokens of a tale, with the settings of a new run.
func checkOpen(t *testing.T, prompt string) {
	t.Helper()
	const draws = 4
	s := bundledSession(t)
	apply(t, s, session.Start{Prompt: prompt})
	var kept []int
	for range draws {
		kept = append(kept, apply(t, s, session.StepToken{}).Dist.Keep)
	}
	if slices.Min(kept) < session.OpenTokens {
		t.Errorf("the first draws after %q are among %v tokens, want at least %d each time", prompt, kept,
			session.OpenTokens)
	}
}

// sum returns the result of the sum in an opening, or "" if the opening does not contain a sum in
// digits.
func sum(text string) string {
	f := strings.Fields(text)
	a, errA := strconv.Atoi(f[0])
	b, errB := strconv.Atoi(f[2])
	if errA != nil || errB != nil || f[1] != "+" {
		return ""
	}
	return strconv.Itoa(a + b)
}

// TestOpeningOfCycles: OpeningOf starts over after the last opening of a kind.
func TestOpeningOfCycles(t *testing.T) {
	for n, want := range map[int]string{0: "7 + 8 =", 3: "Nine plus four is", 4: "7 + 8 =", 9: "3 + 4 ="} {
		if got := session.OpeningOf(session.Sum, n).Text; got != want {
			t.Errorf("sum %d is %q, want %q", n, got, want)
		}
	}
}
