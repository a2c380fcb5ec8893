package learn

import (
	"net/http"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/shell"
)

var text = courseworktest.Text

// sharedWidgets and sharedPictures hold the experiments and pictures for the bundled pair of
// models, which are rendered once for all tests that read the whole course: see [newReader].
var sharedWidgets, sharedPictures = newHTMLCache[result](), newHTMLCache[string]()

// A site serves the pages to one learner, who has switched to Numbers.
type site struct {
	*courseworktest.Site
	pages *Pages
}

func newPages(t *testing.T, d coursework.Deps) *Pages {
	t.Helper()
	return New(Deps{
		Deps: d, Model: testmodel.Target(t), Replays: admission.NewQueue(admission.DefaultLimits().Links, 0),
		Caller: func(*http.Request) (admission.Caller, *http.Cookie) { return admission.Caller{}, nil },
	})
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{Site: courseworktest.New(t, time.Now)}
	s.View = shell.Numbers
	s.pages = newPages(t, s.Deps)
	s.pages.Mount(s.ServeMux)
	return s
}

// newReader returns a site with the bundled pair of models, for tests that only read pages. All
// such sites share the rendered experiments and pictures.
func newReader(t *testing.T) *site {
	t.Helper()
	s := newSite(t).withDraft()
	s.pages.experiments, s.pages.pictures = sharedWidgets, sharedPictures
	return s
}

// question returns the first question of the given kind in the lessons.
func (s *site) question(kind string) *lessons.Question {
	s.T.Helper()
	for _, l := range s.pages.Course.Lessons {
		for _, sec := range l.Sections {
			for _, b := range sec.Blocks {
				if c, ok := b.(lessons.Check); ok && c.Question.Kind == kind {
					return c.Question
				}
			}
		}
	}
	s.T.Fatalf("no lesson asks a %s question", kind)
	return nil
}
