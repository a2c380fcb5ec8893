package lessons

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/web/session"
)

func TestOutcomesAreCovered(t *testing.T) {
	c := course(t)
	for _, o := range c.Outcomes {
		if len(o.Explanation) == 0 || len(o.Experiment) == 0 || len(o.Exercise) == 0 || len(o.Cards) == 0 {
			t.Errorf(
				"%s: got %+v; want len(Explanation) not 0, len(Experiment) not 0, len(Exercise) not 0, "+
					"len(Cards) not 0",
				o.ID, o,
			)
		}
		for _, href := range append(append([]string{}, o.Explanation...), append(o.Experiment, o.Exercise...)...) {
			if !exists(c, href) {
				t.Errorf("%s: %s does not exist", o.ID, href)
			}
		}
		for _, href := range o.Experiment {
			if !c.widgets[strings.TrimPrefix(href, "/learn/")] {
				t.Errorf("%s: %s is not a live experiment", o.ID, href)
			}
		}
		drills := 0
		for _, href := range o.Exercise {
			if strings.HasPrefix(href, "/practice/") {
				drills++
			}
		}
		if drills == 0 {
			t.Errorf("%s has no drill", o.ID)
		}
		questions := 0
		for _, q := range c.Questions {
			if q.Outcome == o.ID {
				questions++
			}
		}
		if questions < 3 {
			t.Errorf("%s has %d questions, want at least 3", o.ID, questions)
		}
	}
}

// TestLoopStartsAreValid: the runs that lessons open in the loop can be started. A run that has the
// same key as a suggestion on the loop page equals that suggestion.
func TestLoopStartsAreValid(t *testing.T) {
	c := course(t)
	target, err := bundled.Target()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Starts {
		if err := s.Settings.Check(); err != nil {
			t.Errorf("%s: %v", s.Key, err)
		}
		if err := infer.CheckPrompt(s.Prompt, infer.MaxSampleBytes); err != nil || s.Title == "" {
			t.Errorf("%s: got %q, %v; want non-empty, <nil>", s.Key, s.Title, err)
		}
		if s.Settings.Stop.MaxTokens >= target.Config.Context {
			t.Errorf(
				"%s: %d tokens do not fit a context of %d", s.Key, s.Settings.Stop.MaxTokens, target.Config.Context,
			)
		}
	}
	for _, suggestion := range session.Suggestions {
		s := c.Start(suggestion.Key)
		if s == nil {
			t.Errorf("no lesson's start matches the suggestion %q", suggestion.Key)
		} else if s.Prompt != suggestion.Prompt || !s.Settings.Equal(suggestion.Settings) {
			t.Errorf(
				"%s: got %q with %+v, want the page's suggestion, %q with %+v", s.Key, s.Prompt, s.Settings,
				suggestion.Prompt, suggestion.Settings,
			)
		}
	}
}
