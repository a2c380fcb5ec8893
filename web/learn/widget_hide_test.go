package learn

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/stage"
)

// TestHiddenTokensChangeTheWholeVocabulary: with tokens hidden, the experiment shows the
// probabilities that package why computes for the same positions, and its rows and the last row
// cover the whole vocabulary. A press on a hidden token shows it again.
func TestHiddenTokensChangeTheWholeVocabulary(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec, m := s.specOf(lessons.WidgetHide), s.pages.Model
	study, err := why.New(t.Context(), m, m.Encode("The wizard lived in a"))
	if err != nil {
		t.Fatal(err)
	}
	whole, _, _ := sampling.Softmax(s.scores("The wizard lived in a"), 1)
	for _, c := range []struct {
		off       string
		positions []int
	}{
		{"5", []int{4}},
		{"3,4", []int{2, 3}}, // tokens are numbered from 1, positions from 0
		{"0", nil},
		{"1", nil}, // the start mark cannot be hidden
		{"7", nil}, // nor can the last token
	} {
		d := s.alone(spec, map[string]string{"off": c.off})
		if got, want := d.Find(`.w-hide [aria-pressed="true"]`).Length(), len(c.positions); got != want {
			t.Errorf("off=%s: %d tokens are hidden, want %d", c.off, got, want)
		}
		a, err := study.Ask(t.Context(), why.Question{
			Token: -1, Over: -1, Says: 5, Intervention: infer.Intervention{Positions: c.positions},
		})
		if err != nil {
			t.Fatal(err)
		}
		after := a.Base
		if a.Changed != nil {
			after = *a.Changed
		}
		var was, now float64
		list := rows(d.Find(".w-tab--hide tbody tr"))
		for _, r := range append(list, rows(d.Find(".w-tab--hide tfoot tr"))...) {
			was, now = was+read(t, r[1]), now+read(t, r[2])
		}
		if math.Abs(was-1) > 0.001 || math.Abs(now-1) > 0.001 {
			t.Errorf("off=%s: the columns add up to %v and %v, want 1", c.off, was, now)
		}
		for _, says := range after.Says {
			want := []string{terms.Prob(whole[says.Token.ID]), terms.Prob(says.P)}
			if !slices.ContainsFunc(list, func(r []string) bool { return slices.Equal(r[1:3], want) }) {
				t.Errorf("off=%s: no row for %q has the probabilities %v: %v", c.off, says.Token.Text, want, list)
			}
		}
	}
	d := s.alone(spec, map[string]string{"off": "3,5"})
	for i, want := range []string{"2,3,5", "5", "3,4,5", "3", "3,5,6"} {
		if got := d.Find(".w-hide button").Eq(i).AttrOr("value", ""); got != want {
			t.Errorf("button %d hides %q, want %q", i+1, got, want)
		}
	}
	long := s.alone(spec, map[string]string{"prompt": "a" + strings.Repeat(" a", 33)})
	if got := text(long.Find("[data-feed-error]")); got != "The text has 35 tokens. This experiment takes at most 32." {
		t.Errorf("a long text: got %q, want the limit", got)
	}
}

// TestWordsAreTheChoices: the question of hide offers the words of the text. The tokens of each word
// are the same for any number of spaces between and after the words. The bundled model spells wizard
// with two tokens.
func TestWordsAreTheChoices(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := *s.specOf(lessons.WidgetHide)
	for text, want := range map[string][]string{
		"The wizard lived in a":        {"The", "wizard", "lived", "in"},
		"The  wizard lived in a":       {"The", "wizard", "lived", "in"},
		"The wizard lived in a ":       {"The", "wizard", "lived", "in"},
		" The wizard\nlived  in a  \n": {"The", "wizard", "lived", "in"},
		"The märchen ended":            {"The", "märchen"},
		"one":                          {},
	} {
		e := &hiding{model: s.pages.Model}
		if err := e.read(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, word := range e.words {
			var b []byte
			for _, at := range word {
				token := s.pages.Model.Token(e.watch.Tokens()[at])
				b = append(b, cmp.Or(string(token.Bytes), token.Text)...)
			}
			got = append(got, strings.TrimSpace(string(b)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: the words of the tokens are %q, want %q", text, got, want)
		}
		spec.Params = map[string]string{"prompt": text}
		if got := spec.Words(); !slices.Equal(got, want) {
			t.Errorf("%q: the choices are %q, want %q", text, got, want)
		}
	}
}

// TestFavoriteThatStays: if hiding tokens does not change the likeliest next token, the sentence says
// so instead of comparing the token with itself. Hiding The changes
// little here, hiding lived almost everything.
func TestFavoriteThatStays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetHide)
	z := s.scores(spec.Params["prompt"])
	favorite := stage.TokenText(s.pages.Model.Token(slices.Index(z, slices.Max(z)))).String()
	for off, want := range map[string]string{
		"2": favorite + " is still most likely.", "5": "is most likely now; before, it was " + favorite + ".",
	} {
		if got := text(s.alone(spec, map[string]string{"off": off}).Find(".w__sum")); !strings.HasSuffix(got, want) {
			t.Errorf("off=%s: the sentence is %q, want it to end in %q", off, got, want)
		}
	}
}
