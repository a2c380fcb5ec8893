package shell

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

// Learners tells browsers apart by a random number that the server has signed.
// Nobody logs in; the cookie only separates one learner's runs and progress from
// another's.
type Learners struct {
	secret []byte
	lasts  bool // the secret outlives the process
}

// NewLearners returns the learners that a secret signs. If the secret is nil it is
// random: after a restart every browser is a new learner.
func NewLearners(secret []byte) Learners {
	if secret != nil {
		return Learners{secret, true}
	}
	secret = make([]byte, 32)
	rand.Read(secret) // never fails
	return Learners{secret, false}
}

// newID returns 128 random bits, URL-safe.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// cookie is the name of the cookie for a host. Cookies of one host are shared
// by all its ports, and two servers on one machine must not overwrite each
// other's learners. A lasting secret names the cookie, so that a learner stays
// the same when the server comes back on another port. With a passing secret the
// port does: otherwise a browser would collect a cookie from every start.
func (l Learners) cookie(host string) string {
	const name = "viz-learner"
	if l.lasts {
		return name + "-" + l.text("cookie")[:8]
	}
	if _, port, err := net.SplitHostPort(host); err == nil {
		return name + "-" + port
	}
	return name
}

func (l Learners) sign(id string) string { return l.text("learner " + id) }

func (l Learners) text(message string) string {
	return base64.RawURLEncoding.EncodeToString(l.MAC(message))
}

// MAC returns the message authentication code of a text under the server's
// secret: 32 bytes (HMAC-SHA256). Its first word keeps one use of the secret
// apart from another.
func (l Learners) MAC(message string) []byte {
	mac := hmac.New(sha256.New, l.secret)
	mac.Write([]byte(message))
	return mac.Sum(nil)
}

// Of returns the learner of a request. If its cookie is missing or not signed by
// this server, the learner is new and fresh is the cookie to set.
func (l Learners) Of(r *http.Request) (id string, fresh *http.Cookie) {
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
		// is not sent, and the learner would seem to be new.
		SameSite: http.SameSiteLaxMode,
	}
}
