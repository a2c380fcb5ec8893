package shell

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/web/admission"
)

// learnerAge is the lifetime of the cookie that identifies a browser's learner. It is a little more
// than a year.
const learnerAge = 400 * 24 * time.Hour

// Learners identifies browsers by a random number that the server has signed. There is no login:
// the cookie only keeps one learner's runs and progress separate from another's.
type Learners struct {
	secret  []byte
	lasts   bool // the secret outlives the process
	proxies admission.Proxies
}

// NewLearners returns a Learners that signs with the given secret. If secret is nil, a random
// secret is used, so every browser is a new learner after a restart. proxies are the proxies
// whose X-Forwarded-For header is trusted.
func NewLearners(secret []byte, proxies admission.Proxies) Learners {
	lasts := secret != nil
	if !lasts {
		secret = make([]byte, 32)
		rand.Read(secret) // never fails
	}
	return Learners{secret, lasts, proxies}
}

// newID returns 128 random bits in a URL-safe encoding.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// LearnerCookie is the prefix of the names of cookies that identify learners.
const LearnerCookie = "viz-learner"

// cookie returns the name of the cookie for a host. All ports of a host share its cookies, and two
// servers on one machine must not overwrite each other's learners. If the secret is permanent, the
// name is derived from it, so that learners are still recognized if the server restarts on another
// port. If the secret is temporary, the name is derived from the port: if it were derived from the
// secret, a browser would get an additional cookie each time the server starts.
func (l Learners) cookie(host string) string {
	if l.lasts {
		return LearnerCookie + "-" + l.text("cookie")[:8]
	}
	if _, port, err := net.SplitHostPort(host); err == nil {
		return LearnerCookie + "-" + port
	}
	return LearnerCookie
}

// sign returns the value of a learner's cookie. It consists of the id, the time at which the cookie
// was issued (in seconds since 1970, in base 36), and a signature of both. A zero time, as in the
// cookies of earlier versions, is omitted.
func (l Learners) sign(id string, since time.Time) string {
	if since.IsZero() {
		return id + "." + l.text("learner "+id)
	}
	t := strconv.FormatInt(since.Unix(), 36)
	return id + "." + t + "." + l.text("learner "+id+" "+t)
}

// read returns the content of a cookie. ok is false unless this server has signed the cookie.
func (l Learners) read(cookie string) (id string, since time.Time, ok bool) {
	id, rest, _ := strings.Cut(cookie, ".")
	if !isID(id) {
		return "", time.Time{}, false
	}
	if t, _, dated := strings.Cut(rest, "."); dated {
		seconds, err := strconv.ParseInt(t, 36, 64)
		if err != nil {
			return "", time.Time{}, false
		}
		since = time.Unix(seconds, 0)
	}
	return id, since, hmac.Equal([]byte(cookie), []byte(l.sign(id, since)))
}

// isID reports whether an id consists only of the characters that [newID] uses. If a space were
// allowed, a cookie with a date could be rewritten as a cookie without one whose id is "ID DATE",
// which has the same signature.
func isID(id string) bool {
	const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return strings.Trim(id, base64url) == ""
}

func (l Learners) text(message string) string {
	return base64.RawURLEncoding.EncodeToString(l.MAC(message))
}

// MAC returns the message authentication code of a message, computed with the server's secret. The
// code has 32 bytes (HMAC-SHA256). The first word of each message names what the code is for, so
// that a code for one purpose is not valid for another.
func (l Learners) MAC(message string) []byte {
	mac := hmac.New(sha256.New, l.secret)
	mac.Write([]byte(message))
	return mac.Sum(nil)
}

// Of returns the learner of a request. If the request has no cookie that this server has signed,
// the learner is new, and fresh is the cookie to set.
func (l Learners) Of(r *http.Request) (id string, fresh *http.Cookie) {
	c, fresh := l.Caller(r)
	return c.Learner, fresh
}

// Caller is like [Learners.Of], but also returns the address that the request came from and the
// time at which the learner was first seen. A request from a page in another site's frame is always
// treated as coming from a new learner, and no cookie is returned for it. A learner whose cookie
// lacks the prefix for TLS is not new, but a cookie with the prefix is returned. Behind
// [Learners.Admit], all calls for a request return the same caller.
func (l Learners) Caller(r *http.Request) (admission.Caller, *http.Cookie) {
	if known, ok := r.Context().Value(visitKey{}).(visit); ok {
		return known.caller, known.fresh
	}
	c := admission.Caller{Address: admission.Network(l.proxies.Address(r)), Phone: fromPhone(r.Context())}
	if Embedded(r.Context()) {
		c.Learner, c.Fresh = newID(), true
		return c, nil
	}
	for _, cookie := range Cookies(r, l.cookie(r.Host), "/") {
		id, since, ok := l.read(cookie.Value)
		if !ok {
			continue
		}
		c.Learner = id
		if !c.Local() {
			c.Since = since
		}
		if cookie.Old {
			return c, dressed(r, l.set(r, cookie.Value))
		}
		return c, nil
	}
	c.Learner, c.Since, c.Fresh = newID(), time.Now(), true
	value := l.sign(c.Learner, c.Since)
	if c.Local() {
		c.Since = time.Time{}
	}
	return c, dressed(r, l.set(r, value))
}

// set returns a cookie for [SetCookie] that identifies a learner by value.
func (l Learners) set(r *http.Request, value string) http.Cookie {
	return http.Cookie{Name: l.cookie(r.Host), Value: value, Path: "/", MaxAge: int(learnerAge / time.Second)}
}
