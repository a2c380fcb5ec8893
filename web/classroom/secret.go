package classroom

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/web/class"
)

// A teacher's secret travels in a cookie that scripts cannot read and that goes
// nowhere but to the room's own pages. The socket has another address, so its
// connection is opened with a ticket: a number that counts once, within a
// minute, and that only the holder of the cookie is given.

// cookieAge is how long a browser keeps a room's secret.
const cookieAge = 30 * 24 * time.Hour

func cookieName(code string) string { return "viz-room-" + code }

// setSecret stores a room's secret in a cookie.
func setSecret(w http.ResponseWriter, r *http.Request, code string, secret class.Secret) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(code), Value: secret.String(), Path: "/class/" + code, MaxAge: int(cookieAge / time.Second),
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode,
	})
}

// secretOf returns the secret that a request carries for a room.
func secretOf(r *http.Request, code string) (class.Secret, bool) {
	c, err := r.Cookie(cookieName(code))
	if err != nil {
		return class.Secret{}, false
	}
	return class.ParseSecret(c.Value), true
}

// taught returns the room of a request from its teacher, or responds with the reason
// why there is none.
func (p *Pages) taught(
	w http.ResponseWriter, r *http.Request,
) (room *class.Room, secret class.Secret, who string, ok bool) {
	code := class.NormalCode(r.PathValue("code"))
	caller := p.caller(w, r)
	who = caller.Learner
	secret, has := secretOf(r, code)
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
