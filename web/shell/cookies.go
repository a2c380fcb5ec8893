package shell

import (
	"net/http"
)

// Browsers accept cookies with these name prefixes over HTTPS only, and, with the first prefix,
// from no other host of the same domain. The first is for cookies of all pages, the second for
// cookies of some pages.
const (
	hostPrefix   = "__Host-"
	securePrefix = "__Secure-"
)

// SetCookie sets a cookie of this program: hidden from scripts, not sent with other sites'
// forms, and over TLS marked as secure, with a prefixed name. It is Lax, not Strict: browsers do
// not send a Strict cookie after a click on a link in a chat, and the learner would seem to be
// new. A negative MaxAge deletes the cookie.
func SetCookie(w http.ResponseWriter, r *http.Request, c http.Cookie) {
	http.SetCookie(w, dressed(r, c))
}

// dressed returns a cookie with the attributes that [SetCookie] adds.
func dressed(r *http.Request, c http.Cookie) *http.Cookie {
	c.HttpOnly, c.SameSite, c.Secure = true, http.SameSiteLaxMode, r.TLS != nil
	if c.Secure {
		c.Name = prefixed(c)
	}
	return &c
}

func prefixed(c http.Cookie) string {
	if c.Path == "/" {
		return hostPrefix + c.Name
	}
	return securePrefix + c.Name
}

// A Cookie is a cookie from a request.
type Cookie struct {
	Value string
	// Old means that the name lacks the prefix that it should have over TLS: the cookie was set
	// by an earlier version, or by someone else. If it is valid, replace it with [Exchange].
	Old bool
}

// Cookies returns all cookies that can have been set under a name and a path, the most likely
// first. Another program on this host, or another host of its domain, could have set a wrong
// one, and browsers might send that before the right one.
func Cookies(r *http.Request, name, path string) (list []Cookie) {
	add := func(name string, old bool) {
		for _, c := range r.CookiesNamed(name) {
			list = append(list, Cookie{c.Value, old})
		}
	}
	secure := r.TLS != nil
	if secure {
		add(prefixed(http.Cookie{Name: name, Path: path}), false)
	}
	add(name, secure)
	if !secure { // browsers send secure cookies to localhost in the clear, and an earlier server may have used TLS
		add(prefixed(http.Cookie{Name: name, Path: path}), false)
	}
	return list
}

// Exchange sets a cookie like [SetCookie], and deletes the one without a prefix.
func Exchange(w http.ResponseWriter, r *http.Request, c http.Cookie) {
	SetCookie(w, r, c)
	http.SetCookie(w, &http.Cookie{
		Name: c.Name, Path: c.Path, MaxAge: -1, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
}
