package shell

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// View is a way of showing a run in the Loop, in lessons, and on a class's phones and wall. All
// views show the same run, stage and numbers.
type View string

const (
	// Story explains every step in plain words. It is the default.
	Story View = "story"
	// Numbers shows every number and every control.
	Numbers View = "numbers"
)

// Views lists all views, in the order of the switch.
var Views = []View{Story, Numbers}

// Name returns the view's name in the switch.
func (v View) Name(l *terms.Language) string { return l.T("shell.view." + string(v)) }

// ViewNamed returns the view with the given name, or other if there is none.
func ViewNamed(name string, other View) View {
	switch v := View(name); v {
	case Story, Numbers:
		return v
	}
	return other
}

// ViewCookie is the name of the cookie that stores the view that a learner has selected. The cookie
// contains nothing else, so it is not secret.
const ViewCookie = "view"

// viewYears is how long the cookie is stored, in seconds.
const viewYears = 2 * 365 * 24 * 60 * 60

// ViewOf returns the view in which the sender of a request sees runs. In another site's frame, the
// address determines the view.
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

// KeepView stores v in a cookie, so that [ViewOf] returns it for the learner's later requests.
func KeepView(w http.ResponseWriter, r *http.Request, v View) {
	SetCookie(w, r, http.Cookie{Name: ViewCookie, Value: string(v), Path: "/", MaxAge: viewYears})
}

// Back returns the given address if a form can return to it, which means that it is the address of
// a page on this server. It returns "" for any other string, such as another server's address.
func Back(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") ||
		strings.HasPrefix(u.Path, "//") || strings.ContainsAny(u.Path, "\\\r\n") {
		return ""
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery, Fragment: u.Fragment}).String()
}
