package shell

import (
	"net/http"
	"net/url"
	"strings"
)

// View is how pages show a run: in the Loop, in lessons, on the phones and the
// wall of a class. All views show the same run, stage and numbers.
type View string

const (
	// Story says in plain words what happens; everybody begins with it.
	Story View = "story"
	// Numbers has every number and every control.
	Numbers View = "numbers"
)

// Views are all of them, in the order of the switch.
var Views = []View{Story, Numbers}

// Name is the view as the switch calls it.
func (v View) Name() string {
	if v == Story {
		return "Story"
	}
	return "Numbers"
}

// ViewNamed is the view with a name, or another one if there is none.
func ViewNamed(name string, other View) View {
	switch v := View(name); v {
	case Story, Numbers:
		return v
	}
	return other
}

// ViewCookie keeps the view that a learner has switched to. It says nothing
// else about them, and so is no secret.
const ViewCookie = "view"

// viewYears is how long the choice is kept.
const viewYears = 2 * 365 * 24 * 60 * 60

// ViewOf is the view in which a learner sees runs. In another site's frame the address
// says which.
func ViewOf(r *http.Request) View {
	if f, ok := frameOf(r.Context()); ok {
		return f.view
	}
	for _, c := range Cookies(r, ViewCookie, "/") {
		if v := ViewNamed(c.Value, ""); v != "" {
			return v
		}
	}
	return Story
}

// KeepView has [ViewOf] return a view for a learner from now on.
func KeepView(w http.ResponseWriter, r *http.Request, v View) {
	SetCookie(w, r, http.Cookie{Name: ViewCookie, Value: string(v), Path: "/", MaxAge: viewYears})
}

// Back is the address of a page of this server that a form names as the one to
// return to. It returns "" for anything else, such as another server's.
func Back(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") ||
		strings.HasPrefix(u.Path, "//") || strings.ContainsAny(u.Path, "\\\r\n") {
		return ""
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery, Fragment: u.Fragment}).String()
}
