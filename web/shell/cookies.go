package shell

import (
	"net/http"
)

// The prefixes of a cookie's name with which browsers let nobody set it over plain
// HTTP, and, with the first, no other host of the same domain either. The first is for
// cookies of all pages, the second for those of some.
const (
	hostPrefix   = "__Host-"
	securePrefix = "__Secure-"
)

// SetCookie sets a cookie of this program: hidden from scripts, not sent with another
// site's forms, and over TLS marked as secure, under a name with a prefix. Lax, not
// Strict: after a click on a link in a chat a Strict cookie is not sent, and its owner
// would seem to be new. A negative MaxAge deletes the cookie.
func SetCookie(w http.ResponseWriter, r *http.Request, c http.Cookie) {
	http.SetCookie(w, dressed(r, c))
}

// dressed is a cookie as [SetCookie] sets it.
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

// Cookie is a cookie that a request carries.
type Cookie struct {
	Value string
	// Old says that it lacks the prefix that it should have over TLS: it was set by an
	// earlier version, or by somebody else. Exchange it with [Exchange] if it is right.
	Old bool
}

// Cookies returns all cookies that may be the one with a name and a path, the likeliest
// first. Another program on this host, or another host of its domain, may have set one
// that is wrong, and browsers may send that before the right one.
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
	if !secure { // browsers send it in the clear to localhost, where there may have been TLS before
		add(prefixed(http.Cookie{Name: name, Path: path}), false)
	}
	return list
}

// Exchange sets a cookie, as [SetCookie] does, in place of one without a prefix.
func Exchange(w http.ResponseWriter, r *http.Request, c http.Cookie) {
	SetCookie(w, r, c)
	http.SetCookie(w, &http.Cookie{
		Name: c.Name, Path: c.Path, MaxAge: -1, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
}
