package learn

import (
	"path/filepath"
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
		c, err := checkpoint.OpenPath(filepath.Join("..", "..", "testdata", "models", name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		m, err := infer.Load(c)
		if err != nil {
			t.Fatal(err)
		}
		s := newSite(t)
		s.pages.Model = m
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
