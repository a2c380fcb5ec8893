package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"strings"
	"time"
)

// learnerAge is how long a browser stays the same learner: a school year.
const learnerAge = 400 * 24 * time.Hour

// learners tells browsers apart by a random number that the server has
// signed. Nobody logs in; the cookie only keeps one learner's runs and progress
// from another's.
type learners struct {
	secret []byte
	lasts  bool // the secret outlives the process
}

// newID returns 128 random bits, URL-safe.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// cookie is the name of the cookie for a host. Cookies of one host are shared
// by all its ports, and two servers on one machine must not overwrite each
// other's learners. A secret that lasts gives the name, so that a learner stays
// the same when the server comes back on another port. A passing one leaves
// that to the port: a browser would collect a cookie from every start.
func (l learners) cookie(host string) string {
	const name = "viz-learner"
	if l.lasts {
		return name + "-" + l.mac("cookie")[:8]
	}
	if _, port, err := net.SplitHostPort(host); err == nil {
		return name + "-" + port
	}
	return name
}

func (l learners) sign(id string) string { return l.mac("learner " + id) }

func (l learners) mac(text string) string {
	mac := hmac.New(sha256.New, l.secret)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// of returns the learner of a request. Where its cookie is missing or not
// signed by this server, the learner is new and fresh is the cookie to set.
func (l learners) of(r *http.Request) (id string, fresh *http.Cookie) {
	name := l.cookie(r.Host)
	if c, err := r.Cookie(name); err == nil {
		id, mac, ok := strings.Cut(c.Value, ".")
		if ok && hmac.Equal([]byte(mac), []byte(l.sign(id))) {
			return id, nil
		}
	}
	id = newID()
	return id, &http.Cookie{
		Name:     name,
		Value:    id + "." + l.sign(id),
		Path:     "/",
		MaxAge:   int(learnerAge / time.Second),
		HttpOnly: true,
		Secure:   r.TLS != nil,
		// Lax, not Strict: after a click on a link in a chat a Strict cookie
		// is not sent, and the learner would be taken for a new one.
		SameSite: http.SameSiteLaxMode,
	}
}
