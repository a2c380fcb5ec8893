package classroom

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/shell"
)

// A teacher's secret travels in a cookie that scripts cannot read and that goes
// nowhere but to the room's own pages. The socket has another address, so its
// connection is opened with a ticket: a number that counts once, within a
// minute, and that only the holder of the cookie is given.

// cookieAge is how long a browser keeps a room's secret.
const cookieAge = 30 * 24 * time.Hour

func cookieName(code string) string { return "viz-room-" + code }

func roomPath(code string) string { return "/class/" + code }

// secretCookie is the cookie with a room's secret. Over TLS its name begins with
// __Secure-, not __Host-: that would send every room's secret to every page. Another
// host of the domain can set one too, but no secret that fits.
func secretCookie(code, secret string) http.Cookie {
	return http.Cookie{
		Name: cookieName(code), Value: secret, Path: roomPath(code), MaxAge: int(cookieAge / time.Second),
	}
}

// setSecret stores a room's secret in a cookie.
func setSecret(w http.ResponseWriter, r *http.Request, code string, secret class.Secret) {
	shell.SetCookie(w, r, secretCookie(code, secret.String()))
}

// secretOf returns the secret that a request carries for a room: if there are several,
// the first one that fits. A cookie that lacks its prefix is exchanged.
func (p *Pages) secretOf(w http.ResponseWriter, r *http.Request, code string) (secret class.Secret, ok bool) {
	for _, c := range shell.Cookies(r, cookieName(code), roomPath(code)) {
		if secret = class.ParseSecret(c.Value); !p.Hub.Fits(code, secret) {
			ok = true // counts as a wrong try if none fits
			continue
		}
		if c.Old {
			shell.Exchange(w, r, secretCookie(code, c.Value))
		}
		return secret, true
	}
	return secret, ok
}

// taught returns the room of a request from its teacher, or responds with the reason
// why there is none.
func (p *Pages) taught(
	w http.ResponseWriter, r *http.Request,
) (room *class.Room, secret class.Secret, who string, ok bool) {
	code := class.NormalCode(r.PathValue("code"))
	caller := p.caller(w, r)
	who = caller.Learner
	secret, has := p.secretOf(w, r, code)
	if !has {
		p.fail(w, r, class.ErrSecret)
		return nil, secret, who, false
	}
	room, err := p.Hub.Instruct(r.Context(), code, secret, caller)
	if err != nil {
		p.fail(w, r, err)
		return nil, secret, who, false
	}
	return room, secret, who, true
}

// ticketLife is how long a ticket is valid, ticketMost how many there may be.
const (
	ticketLife = time.Minute
	ticketMost = 1000
)

// tickets are those that were issued and not used yet.
type tickets struct {
	mu   sync.Mutex
	list map[string]ticket
}

type ticket struct {
	code, who string
	secret    class.Secret
	until     time.Time
}

// give issues a ticket and returns its number.
func (t *tickets) give(code, who string, secret class.Secret) string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	number := base64.RawURLEncoding.EncodeToString(b[:])
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list == nil {
		t.list = map[string]ticket{}
	}
	for n, old := range t.list {
		if now.After(old.until) || len(t.list) >= ticketMost {
			delete(t.list, n)
		}
	}
	t.list[number] = ticket{code, who, secret, now.Add(ticketLife)}
	return number
}

// take redeems a ticket of someone for a room. It works once.
func (t *tickets) take(number, code, who string) (class.Secret, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, ok := t.list[number]
	delete(t.list, number)
	return k.secret, ok && k.code == code && k.who == who && time.Now().Before(k.until)
}

// ticket issues a ticket to a teacher's page that is about to open its connection.
func (p *Pages) ticket(w http.ResponseWriter, r *http.Request) {
	room, secret, who, ok := p.taught(w, r)
	if !ok {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	// Two words and a number cannot fail to be written.
	_ = json.NewEncoder(w).Encode(map[string]string{"ticket": p.tickets.give(room.Code(), who, secret)})
}
