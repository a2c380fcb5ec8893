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
// signed. Nobody logs in; the cookie only keeps one learner's runs from
// another.
type learners struct{ secret []byte }

// newID returns 128 random bits, URL-safe.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// cookieName holds the port: cookies of one host are shared by all its ports,
// and two servers on one machine must not overwrite each other's learners.
func cookieName(host string) string {
	if _, port, err := net.SplitHostPort(host); err == nil {
		return "viz-learner-" + port
	}
	return "viz-learner"
}

func (l learners) sign(id string) string {
	mac := hmac.New(sha256.New, l.secret)
	mac.Write([]byte("learner " + id))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// of returns the learner of a request. Where its cookie is missing or not
// signed by this server, the learner is new and fresh is the cookie to set.
func (l learners) of(r *http.Request) (id string, fresh *http.Cookie) {
	name := cookieName(r.Host)
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
