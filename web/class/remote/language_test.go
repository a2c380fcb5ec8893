package remote

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
)

// TestClassInOneLanguage: a class sees its script in the language of the person who created it, on
// every server and in the summary.
func TestClassInOneLanguage(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b := u.server("a"), u.server("b")
	a.Config().Course = courseworktest.Translated(t, "de")
	b.Config().Course = a.Config().Course
	english := a.Config().Course.Walk("cache").Title
	for _, tt := range []struct{ tag, want string }{{"de", "(" + english + ")"}, {"fr", english}, {"en", english}} {
		ctx := terms.With(t.Context(), &terms.Language{Tag: tt.tag})
		r, secret, err := a.Create(ctx, classtest.Caller(classtest.Instructor), class.Options{Walk: "cache"})
		if err != nil {
			t.Fatal(err)
		}
		l := &classtest.Lesson{Room: r, T: t, Secret: secret, Broker: a.Broker()}
		l.Does(class.GoTo{Step: 1})
		onB := b.enters(l, 1)
		away := watched(b, onB)
		v := onB.Settled("the script is there", func(v *class.View) bool { return v.Walk != nil && v.Walk.Step == 1 })
		if got := v.Walk.Walk.Title; got != tt.want {
			t.Errorf("created in %s: the other server has the script %q, want %q", tt.tag, got, tt.want)
		}
		away()
		asked := map[string]*class.Poll{"chosen by the instructor": l.Does(class.AskQuestion{ID: "q-order"}).Poll}
		for i, s := range a.Config().Course.Walk("cache").Steps {
			if s.Ask != nil && s.Ask.Kind == lessons.AskQuestion {
				l.Does(class.Close{}, class.Dismiss{})
				asked["in the script"] = l.Does(class.GoTo{Step: i + 1}).Poll
				break
			}
		}
		if len(asked) != 2 {
			t.Error("the script has no question from the quiz")
		}
		for where, p := range asked {
			if got := p.Options[0].HTML; strings.Contains(got, "(") != (tt.tag == "de") {
				t.Errorf("created in %s: a question %s has the option %q", tt.tag, where, got)
			}
		}
		if got := l.View().Walk.Walk.Title; got != tt.want {
			t.Errorf("created in %s: got the script %q, want %q", tt.tag, got, tt.want)
		}
		if s, err := l.Summary(ctx, l.Secret); err != nil || s.Walk != tt.want {
			t.Errorf("created in %s: the summary has the script %q and error %v, want %q", tt.tag, s.Walk, err, tt.want)
		}
	}
}
