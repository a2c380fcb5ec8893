package shell

import (
	"net/http"
)

// Browsers accept cookies whose names have these prefixes only over HTTPS. A cookie with the first
// prefix is accepted only from the host itself, not from other hosts of the same domain. The first
// prefix is for cookies that are sent to all pages, and the second is for cookies that are sent to
// some pages.
const (
	hostPrefix   = "__Host-"
	securePrefix = "__Secure-"
)

// SetCookie sets a cookie of this program. The cookie is hidden from scripts and is not sent with
// other sites' forms. Over TLS, it is marked as secure and has a prefixed name. It is Lax rather
// than Strict: browsers do not send a Strict cookie after a click on a link in a chat, so the
// learner would seem to be new. A negative MaxAge deletes the cookie.
func SetCookie(w http.ResponseWriter, r *http.Request, c http.Cookie) {
	http.SetCookie(w, dressed(r, c))
}

// dressed returns a cookie with the attributes that [SetCookie] sets.
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
	// Old is set if the name lacks the prefix that it should have over TLS, which means that an
	// earlier version or another program set the cookie. If the cookie is valid, replace it with
	// [Exchange].
	Old bool
}

// Cookies returns all cookies that may have been set with a name and a path, the most likely one
// first. Another program on this host, or another host of the same domain, may have set a cookie
// with the same name, and browsers may send that cookie before the right one.
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
	if !secure { // browsers send secure cookies to localhost even without TLS, and an earlier server may have used TLS
		add(prefixed(http.Cookie{Name: name, Path: path}), false)
	}
	return list
}

// Exchange sets a cookie as [SetCookie] does. It also deletes the cookie that has the same name
// without the prefix.
func Exchange(w http.ResponseWriter, r *http.Request, c http.Cookie) {
	SetCookie(w, r, c)
	http.SetCookie(w, &http.Cookie{
		Name: c.Name, Path: c.Path, MaxAge: -1, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
}
