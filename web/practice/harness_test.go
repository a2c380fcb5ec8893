package practice

import (
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
)

var text = courseworktest.Text

// A site serves the pages to one learner.
type site struct {
	*courseworktest.Site
	pages *Pages
}

func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteAt(t, time.Now)
}

// newSiteAt is like newSite, but uses the given clock for saved data.
func newSiteAt(t *testing.T, now func() time.Time) *site {
	t.Helper()
	s := &site{Site: courseworktest.New(t, now)}
	s.pages = New(Deps{Deps: s.Deps, Model: testmodel.Target(t)})
	s.pages.Mount(s.ServeMux)
	return s
}
