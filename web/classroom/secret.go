package classroom

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// An instructor's secret is sent in a cookie that scripts cannot read and that browsers send only
// to the room's own pages. The socket has a different address, so its connection is opened with a
// ticket, which can be redeemed once, within a minute. Only the holder of the cookie can get a
// ticket.

// cookieAge is how long a browser keeps a room's secret.
const cookieAge = 30 * 24 * time.Hour

func cookieName(code string) string { return "viz-room-" + code }

func roomPath(code string) string { return "/class/" + code }

// secretCookie returns the cookie with a room's secret. Over TLS, its name begins with
// __Secure-, not with __Host-, because a __Host- cookie would be sent to every page, not
// just the room's own. Another host of the domain can set such a cookie too, but not with a
// valid secret.
func secretCookie(code, secret string) http.Cookie {
	return http.Cookie{
		Name: cookieName(code), Value: secret, Path: roomPath(code), MaxAge: int(cookieAge / time.Second),
	}
}

// setSecret stores a room's secret in a cookie.
func setSecret(w http.ResponseWriter, r *http.Request, code string, secret class.Secret) {
	shell.SetCookie(w, r, secretCookie(code, secret.String()))
}

// secretOf returns a room's secret from the cookies of a request. If there are several, it returns
// the first valid one. Over TLS, it replaces a cookie without the prefix.
func (p *Pages) secretOf(w http.ResponseWriter, r *http.Request, code string) (secret class.Secret, ok bool) {
	for _, c := range shell.Cookies(r, cookieName(code), roomPath(code)) {
		if secret = class.ParseSecret(c.Value); !p.Hub.Fits(code, secret) {
			ok = true // counts as a wrong try if no other secret is valid
			continue
		}
		if c.Old {
			shell.Exchange(w, r, secretCookie(code, c.Value))
		}
		return secret, true
	}
	return secret, ok
}

// taught returns the room that a request is about if the request is from the room's
// instructor. Otherwise, taught responds with the reason.
func (p *Pages) taught(
	w http.ResponseWriter, r *http.Request,
) (room class.Room, secret class.Secret, who string, ok bool) {
	code := class.NormalCode(r.PathValue("code"))
	caller := p.caller(w, r)
	who = caller.Learner
	secret, has := p.secretOf(w, r, code)
	err := error(class.ErrSecret)
	if has {
		room, err = p.Hub.Instruct(r.Context(), code, secret, caller)
	}
	if err != nil {
		p.failTaught(w, r, err)
		return nil, secret, who, false
	}
	return room, secret, who, true
}

// failTaught responds with the reason why an instructor cannot use a room. If saved data
// might have been lost, the response mentions that.
func (p *Pages) failTaught(w http.ResponseWriter, r *http.Request, err error) {
	status, head, say := p.trouble(r, err)
	if errors.Is(err, class.ErrSecret) {
		notices, _ := p.Progress.News(r.Context(), "") // not required for the page
		for _, n := range notices {
			say += " " + noticeText(stage.In(r.Context()), n)
		}
	}
	p.Refuse(w, r, status, head, say)
}

// ticketLife is how long a ticket is valid, ticketMost is the maximum number of used tickets
// to remember, and ticketBytes is the maximum length of a ticket.
const (
	ticketLife  = time.Minute
	ticketMost  = 1000
	ticketBytes = 1 << 10
)

// tickets issues and redeems tickets. A ticket contains, in encrypted form, its holder and
// purpose, so servers with the same key accept each other's tickets, but each server accepts
// a ticket only once.
type tickets struct {
	seal cipher.AEAD
	now  func() time.Time
	life time.Duration // of each ticket

	mu   sync.Mutex
	used map[string]time.Time // when each ticket expires, by its number
}

type ticket struct {
	Code, Who string
	Secret    []byte
	Until     time.Time
}

// newTickets returns an issuer of tickets that uses a 32-byte key. The clocks of all servers that
// issue and redeem its tickets must agree.
func newTickets(key []byte, now func() time.Time) *tickets {
	block, err := aes.NewCipher(key)
	if err == nil {
		var seal cipher.AEAD
		if seal, err = cipher.NewGCMWithRandomNonce(block); err == nil {
			return &tickets{seal: seal, now: now, life: ticketLife, used: map[string]time.Time{}}
		}
	}
	panic(fmt.Sprintf("classroom: cannot use a key of %d bytes: %v", len(key), err))
}

// give issues a ticket and returns it as a string.
func (t *tickets) give(code, who string, secret class.Secret) string {
	text, err := json.Marshal(ticket{code, who, secret[:], t.now().Add(t.life)})
	if err != nil {
		panic(err) // strings and a time can always be encoded
	}
	return base64.RawURLEncoding.EncodeToString(t.seal.Seal(nil, nil, text, nil))
}

// take redeems a person's ticket for a room. Each ticket can be redeemed once.
func (t *tickets) take(number, code, who string) (secret class.Secret, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(number)
	if err != nil || len(number) > ticketBytes {
		return secret, false
	}
	text, err := t.seal.Open(nil, nil, sealed, nil)
	var k ticket
	if err != nil || json.Unmarshal(text, &k) != nil || len(k.Secret) != len(secret) {
		return secret, false
	}
	now := t.now()
	if !now.Before(k.Until) || !t.first(string(sealed), k.Until, now) || k.Code != code || k.Who != who {
		return secret, false
	}
	return class.Secret(k.Secret), true
}

// first reports whether a ticket is being used for the first time on this server, and remembers the
// ticket.
func (t *tickets) first(number string, until, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, used := t.used[number]; used {
		return false
	}
	for n, old := range t.used {
		if now.After(old) || len(t.used) >= ticketMost {
			delete(t.used, n)
		}
	}
	t.used[number] = until
	return true
}

// ticket issues a ticket to an instructor's page that is about to open its connection.
func (p *Pages) ticket(w http.ResponseWriter, r *http.Request) {
	room, secret, who, ok := p.taught(w, r)
	if !ok {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	// Encoding strings cannot fail.
	_ = json.NewEncoder(w).Encode(map[string]string{"ticket": p.tickets.give(room.Code(), who, secret)})
}
