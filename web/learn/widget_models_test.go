package learn

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/lessons"
)

// TestExperimentsOnOtherModels: with a model of any family, each experiment either works or
// explains why it cannot. No experiment is left empty without a message.
func TestExperimentsOnOtherModels(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	works := map[string]bool{}
	for _, name := range []string{"gpt2", "llama3", "qwen2", "tinyllama", "mistral", "llama-q4_0.gguf"} {
		s := newSite(t)
		s.pages.Model = modelNamed(t, name)
		for id, spec := range s.pages.specs(s.pages.Course) {
			guesses := map[string]string{}
			if spec.Ask != "" {
				guesses["guess"] = lessons.NoGuess
			} else if spec.Kind == lessons.WidgetSure {
				guesses["a_guess"] = lessons.NoGuess
			}
			fig := s.alone(spec, guesses).Find("#" + id)
			said, shown := text(fig.Find("[data-feed-error]")), text(fig.Find("[aria-live]"))
			switch {
			case said == "" && shown == "", said != "" && shown != "":
				t.Errorf("%s, %s: got the message %q and the body %q, want only one of them", name, id, said, shown)
			case said == "":
				works[id] = true
				if st := s.opened(href(fig)); st.Step() == nil {
					t.Errorf("%s, %s opens an empty run, want a text", name, id)
				}
			}
		}
	}
	site := newSite(t)
	for id, spec := range site.pages.specs(site.pages.Course) {
		if !works[id] && spec.Kind != "speculate" { // these sites have no draft model
			t.Errorf("%s works on none of the models", id)
		}
	}
}

// modelNamed loads a model in testdata/models.
func modelNamed(t *testing.T, name string) *infer.Model {
	t.Helper()
	c, err := checkpoint.OpenPath(filepath.Join("..", "..", "testdata", "models", name))
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

// TestHidingWithoutAStartMark: with a model that has no start mark, the first token can be hidden. At
// first, nothing is hidden, and a second press on the first token shows it again.
func TestHidingWithoutAStartMark(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pages.Model = modelNamed(t, "qwen2")
	spec := s.specOf(lessons.WidgetHide)
	off := ""
	for i, hidden := range []bool{false, true, false} {
		inputs := map[string]string{"prompt": "a b"}
		if i > 0 {
			inputs["off"] = off
		}
		d := s.alone(spec, inputs)
		first := d.Find(".w-hide button").First()
		if got := first.AttrOr("aria-pressed", ""); got != strconv.FormatBool(hidden) {
			t.Errorf("off=%q: the first token is hidden: %q, want %t", off, got, hidden)
		}
		if say := text(d.Find(".w__sum")); strings.HasPrefix(say, "Nothing is hidden.") == hidden {
			t.Errorf("off=%q: got %q, want it to report what is hidden", off, say)
		}
		off = first.AttrOr("value", "")
	}
}
