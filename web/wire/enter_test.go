package wire

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/web/admission"
)

// callers makes the site treat every request as the first request of a new learner, who gets a
// cookie. All these learners are at the same address.
func callers(x *site) {
	n := 0
	x.cfg.Caller = func(*http.Request) (admission.Caller, *http.Cookie) {
		n++
		return admission.Caller{Learner: string(rune('a' + n)), Since: time.Now()}, &http.Cookie{Name: "c", Value: "v"}
	}
}

// TestSocketLimitIsShared: if all connections allowed for an address are in use, a newcomer's
// connection replaces the least recently used one, whose page may reconnect.
func TestSocketLimitIsShared(t *testing.T) {
	t.Parallel()
	x := withPart(t, Limits{}, echo)
	x.cfg.Limiter = admission.New(admission.Limits{Sockets: admission.Share{PerAddress: 2}}, nil)
	callers(x)
	first, _ := x.dial(t, "feed=test")
	second, _ := x.dial(t, "feed=test")
	for _, l := range []*client{second, first} {
		l.say(`{"cmd":"set","n":1}`)
		l.receive()
	}
	third, _ := x.dial(t, "feed=test")
	if _, code := second.next(); code != websocket.CloseTryAgainLater {
		t.Errorf("got code %d, want %d", code, websocket.CloseTryAgainLater)
	}
	for _, l := range []*client{first, third} {
		l.say(`{"cmd":"set","n":2}`)
		if m := l.receive(); m.Ack != 2 {
			t.Errorf("got %+v, want Ack = 2", m)
		}
	}
}

// TestOpeningsAreMetered: excess new connections are refused early, with Retry-After.
func TestOpeningsAreMetered(t *testing.T) {
	t.Parallel()
	one := admission.Pace{PerAddress: admission.Rate{PerSecond: 0.01, Burst: 1}}
	x := withPart(t, Limits{}, echo)
	x.cfg.Limiter = admission.New(admission.Limits{Openings: one}, nil)
	callers(x)
	x.dial(t, "feed=test")
	_, answer := x.dial(t, "feed=test")
	if answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") != "100" {
		t.Errorf("got %s, retry after %q; want 429, 100", answer.Status, answer.Header.Get("Retry-After"))
	}
}

// TestFastMessagesWait: messages that are sent too fast have to wait, but none is lost.
func TestFastMessagesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipe()
		slow := admission.Pace{PerLearner: admission.Rate{PerSecond: 1, Burst: 2}}
		ended := overLimiter(p, admission.New(admission.Limits{Messages: slow}, nil), Kind{}, partFunc(echo))
		began := time.Now()
		go func() {
			for n := range 5 {
				p.in <- fmt.Sprintf(`{"cmd":"set","n":%d}`, n+1)
			}
		}()
		for ack := uint64(0); ack < 5; {
			ack = readMessage(t, <-p.out).Ack
		}
		if took := time.Since(began).Round(100 * time.Millisecond); took != 3*time.Second {
			t.Errorf("five messages took %v, want 3 s", took)
		}
		close(p.in)
		<-ended
	})
}
