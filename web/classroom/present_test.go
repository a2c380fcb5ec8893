package classroom

import (
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/stage"
)

// english are the words of the pages in most tests.
var english = stage.English

// TestLastWalkStepOffersToEndClass: the main button of a walkthrough moves to the next step
// and, at the last step, ends the class. A clicker's keys never end the class. At the last
// step, they do nothing: only the plain button next to the main one moves the run forward, and from
// then on so do the keys. If a question is open, its buttons come first.
func TestLastWalkStepOffersToEndClass(t *testing.T) {
	t.Parallel()
	walk := &lessons.Walk{Title: "Two steps", Steps: []*lessons.WalkStep{{Title: "One"}, {Title: "Two"}}}
	open := &class.Poll{Kind: class.Question, Phase: class.Open}
	shown := &class.Poll{Kind: class.Question, Phase: class.Revealed}
	for _, tt := range []struct {
		say  string
		view *class.View
		main string
		keys string // the command that a clicker's key sends
		last bool   // the notes call it the last step
	}{
		{"before the first", &class.View{Walk: &class.WalkView{Walk: walk}}, "next-step", "next-step", false},
		{"the first", &class.View{Walk: &class.WalkView{Walk: walk, Step: 1}}, "next-step", "next-step", false},
		{"the last", &class.View{Walk: &class.WalkView{Walk: walk, Step: 2}}, "end", "", true},
		{
			"the last, asked",
			&class.View{Walk: &class.WalkView{Walk: walk, Step: 2}, Poll: open},
			"reveal", "reveal", true,
		},
		{
			"the last, answered",
			&class.View{Walk: &class.WalkView{Walk: walk, Step: 2}, Poll: shown},
			"end", "", true,
		},
		{
			"after the last",
			&class.View{Walk: &class.WalkView{Walk: walk, Step: 2, Left: true}},
			"end", "forward", false,
		},
		{"ended", &class.View{Walk: &class.WalkView{Walk: walk, Step: 2}, Ended: true}, "reopen", "", false},
		{"no walkthrough", &class.View{}, "forward", "forward", false},
	} {
		c := newControl(english, tt.view)
		var pressed []string
		for _, b := range append(c.More, c.Main) {
			if slices.Contains(b.Keys, "PageDown") {
				pressed = append(pressed, b.Cmd)
			}
		}
		if got := strings.Join(pressed, " "); c.Main.Cmd != tt.main || got != tt.keys {
			t.Errorf(
				"%s: the main button is %q, a clicker's key presses %q; want %q, %q", tt.say, c.Main.Cmd, got,
				tt.main, tt.keys,
			)
		}
		if got := newNote(english, tt.view).Last; got != tt.last {
			t.Errorf("%s: the notes call it the last step: got %v, want %v", tt.say, got, tt.last)
		}
	}
}

// TestSecondWindowIsAnnounced: if a presenter has two windows open, each window mentions the other.
// An observer's window shows that someone else is presenting.
func TestSecondWindowIsAnnounced(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		leading      int
		drives, told bool
	}{{0, true, false}, {1, true, false}, {2, true, true}, {3, true, true}, {2, false, false}} {
		var b strings.Builder
		c := controlFor(english, &class.View{Leading: tt.leading}, tt.drives)
		if err := controls("ABC234", c).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "Another window also leads this class."); got != tt.told {
			t.Errorf(
				"%d leading windows, this one drives: %t: told of another: got %t, want %t",
				tt.leading, tt.drives, got, tt.told,
			)
		}
	}
}

// TestQuestionsAreInTheLanguageOfTheClass: the list has the questions in the language in which the
// class will see them.
func TestQuestionsAreInTheLanguageOfTheClass(t *testing.T) {
	t.Parallel()
	p := &Pages{Deps: Deps{Course: courseworktest.Translated(t, "de")}}
	german := p.Course.Translated("de")
	for language, course := range map[string]*lessons.Course{"de": german, "en": p.Course, "": p.Course} {
		list := p.questions(&class.View{Language: language})
		if len(list) == 0 {
			t.Fatalf("%q: there are no questions", language)
		}
		for _, q := range list {
			if q != course.Question(q.ID) {
				t.Errorf("%q: the question %s is from another course", language, q.ID)
			}
		}
	}
}

// TestQuestionCanCloseWithoutResult: the vote on a question can be closed and then cleared without
// showing anything, as the opening question of a study requires. A clicker's keys do neither.
func TestQuestionCanCloseWithoutResult(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind  class.Kind
		phase class.Phase
		want  string // of the buttons that show nothing
	}{
		{class.Question, class.Open, "close"},
		{class.Question, class.Closed, "dismiss"},
		{class.Question, class.Spread, "dismiss"},
		{class.Next, class.Open, ""},
		{class.Next, class.Closed, ""},
	} {
		var quiet string
		for _, b := range newControl(english, &class.View{Poll: &class.Poll{Kind: tt.kind, Phase: tt.phase}}).More {
			if b.Cmd != "close" && b.Cmd != "dismiss" {
				continue
			}
			if quiet += b.Cmd; len(b.Keys) > 0 {
				t.Errorf("%s, %s: the keys %q press %q, want none", tt.kind, tt.phase, b.Keys, b.Cmd)
			}
		}
		if quiet != tt.want {
			t.Errorf("%s, %s: the buttons that show nothing are %q, want %q", tt.kind, tt.phase, quiet, tt.want)
		}
	}
}
