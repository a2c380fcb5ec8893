package lessons

import (
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// TestWalkSentencesAreTrue: what the scripts say about the bundled model is true.
func TestWalkSentencesAreTrue(t *testing.T) {
	m := testmodel.Target(t)
	best := func(prompt string, n int) (names []string, p []float64) {
		d := sampling.Decide(first(t, prompt), sampling.Settings{Temperature: 1, TopP: 1})
		for _, id := range d.Order[:n] {
			names, p = append(names, m.Token(int(id)).Text), append(p, d.P[id])
		}
		return names, p
	}
	pieces := func(prompt string) (list []string) {
		for _, id := range m.Encode(prompt)[1:] { // without the start mark
			list = append(list, m.Token(int(id)).Text)
		}
		return list
	}

	says(t, "The wizard comes as", "The two words don’t share a single piece", "Here each word is one of them")
	for prompt, want := range map[string][]string{
		"There was once a":         {"There", " was", " once", " a"},
		"The wizard lived in a":    {"The", " w", "izard", " lived", " in", " a"},
		"The lizard lived in a":    {"The", " li", "z", "ard", " lived", " in", " a"},
		"I ate seven strawberries": {"I", " ate", " seven", " straw", "ber", "ries"},
	} {
		if got := pieces(prompt); !slices.Equal(got, want) {
			t.Errorf("%q is cut into %q, want %q", prompt, got, want)
		}
	}
	if n := course(t).Walk("tokens").Steps[0].Ask.Answer; n != 6 {
		t.Errorf("the answer of the first question is %v, want 6", n)
	}

	says(t, "For the fish as for the wizard, the token", "They weren’t for the fish or for the wizard")
	for prompt, favorite := range map[string]string{
		"The wizard lived in a": " hollow", "The fish lived in a": " hollow", "The fairy lived in a": " far",
	} {
		names, _ := best(prompt, 5)
		if names[0] != favorite {
			t.Errorf("%q: the favorite is %q, want %q", prompt, names[0], favorite)
		}
		towers := slices.Contains(names, " tower") && slices.Contains(names, " castle")
		none := !slices.Contains(names, " tower") && !slices.Contains(names, " castle")
		if fairy := favorite == " far"; fairy && !towers || !fairy && !none {
			t.Errorf("%q: the five most probable tokens are %q; want tower and castle only for the fairy", prompt,
				names)
		}
	}

	says(t, "The three most probable tokens are days", "Sunday only just leads", "No token holds as much as a quarter")
	chat := course(t).Walk("museum-chat").Steps[0].Do[0].(WalkStart).Prompt
	names, p := best(chat, 3)
	if want := []string{" Sunday", " Saturday", " Friday"}; !slices.Equal(names, want) || p[0]-p[1] > 0.1 {
		t.Errorf("the chat continues with %q, %v; want %q, the first two close together", names, p, want)
	}
	if _, p := best("There was once a", 1); p[0] >= 0.25 {
		t.Errorf("the best token has the probability %v, want less than a quarter", p[0])
	}
	if _, p := best("The capital of France is", 1); p[0] < 0.9 {
		t.Errorf("on the sure prompt, the best token has the probability %v, want more than 0.9", p[0])
	}
}
