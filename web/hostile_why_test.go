package web_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// questions returns the requests that a hostile client sends to “Why this token?”. Some are as
// large as the page accepts, and some are larger.
func questions(x target) (list []string) {
	long := strings.Repeat(" the", 255)   // with the start token, as many tokens as the page accepts
	pair := strings.Repeat(" the", 30)    // as many as each of two texts can have
	all := strings.Repeat("L1,L6,", 127)  // as many parts as a list can name
	most := strings.Repeat("L3,", 25_000) // as much as a request's header can hold
	for _, q := range []url.Values{
		{"prompt": {long}, "off": {all + "pos:3"}, "mean": {"1"}, "cell": {"6.255"}},
		{"prompt": {pair + " a"}, "with": {pair + " an"}, "off": {"L1"}},
		{"log": {x.Link}, "off": {"L1.H1"}, "heads": {"1"}},
		{"prompt": {"The capital of France is"}, "heads": {"1"}},
		{"off": {most}},
		{"off": {strings.Repeat("L1.", 25_000)}},
		{"off": {"pos:99999999999999999999,pos:-1"}},
		{"token": {strings.Repeat("é", 12_000)}},
		{"over": {"#99999999999999999999"}},
		{"prompt": {long + long}},
		{"prompt": {strings.Repeat("x", 70_000)}},
		{"with": {strings.Repeat("\xff", 20_000)}},
		{"cell": {strings.Repeat("9", 50_000)}},
		{"log": {strings.Repeat("A", 60_000)}},
		{"prompt": {strings.Repeat("too long for a header ", 10_000)}},
	} {
		list = append(list, "/why?"+q.Encode(), "/why.json?"+q.Encode())
	}
	return list
}

// TestLongestQuestionsAreAnswered: questions about the longest texts that the page accepts are
// answered.
func TestLongestQuestionsAreAnswered(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := newBattle(t)
	if n := len(testmodel.Target(t).Encode(strings.Repeat(" the", 255))); n != 256 {
		t.Fatalf("the longest text has %d tokens, want 256", n)
	}
	c := b.known("known", "127.0.0.1")
	defer c.close()
	for _, q := range questions(b.victim)[:4] {
		if status, text, err := c.get(t.Context(), q); err != nil || status != http.StatusOK {
			t.Errorf("%.40s: got %d, %s, %v; want %d, <nil>", q, status, headline(text), err, http.StatusOK)
		}
	}
}

// TestHostileClientAsksWhy: while one client sends the largest and the oddest questions from
// several addresses and does not read the long answers, others are served. Each of the client's own
// requests is answered, refused with a message, or cut off. Refusals reveal nothing unnecessary.
func TestHostileClientAsksWhy(t *testing.T) {
	fixture.Long(t)
	b := newBattle(t)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var asked atomic.Int64
	enough := make(chan struct{})
	for _, from := range flooded {
		for _, slow := range []bool{false, true} {
			all.Go(func() {
				c := newClient(b.server, from, "")
				defer c.close()
				for i := 0; ctx.Err() == nil; i++ {
					list := questions(b.victim)
					q := list[i%len(list)]
					if slow {
						b.unread(ctx, from, list[1])
					} else if err := c.odd(ctx, q); err != nil && ctx.Err() == nil {
						t.Errorf("odd question %.60s: got error %v, want none", q, err)
					}
					if asked.Add(1) == 60 {
						close(enough)
					}
				}
			})
		}
	}
	<-enough
	b.others("why")
	cancel()
	all.Wait()
}

// odd sends an odd question and checks that the response is one that the page may send.
func (c *client) odd(ctx context.Context, address string) error {
	one, done := context.WithTimeout(ctx, time.Second)
	defer done()
	status, text, err := c.get(one, address)
	if err != nil {
		return nil // abandoned, or closed by the server
	}
	switch status {
	case http.StatusOK:
	case http.StatusBadRequest, http.StatusServiceUnavailable, http.StatusTooManyRequests,
		http.StatusRequestHeaderFieldsTooLarge:
		if len(text) > 16<<10+2*len(address) || len(text) == 0 {
			return fmt.Errorf("status %d in %d bytes", status, len(text))
		}
	default:
		return fmt.Errorf("status %d: %s", status, headline(text))
	}
	return nil
}

// unread sends a question over its own connection, reads the first line of the response and leaves
// the rest unread until the attack is over.
func (b *battle) unread(ctx context.Context, from, address string) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	one, done := context.WithTimeout(ctx, time.Second)
	defer done()
	host := strings.TrimPrefix(b.server, "http://")
	conn, err := d.DialContext(one, "tcp", host)
	if err != nil {
		return
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", address, host)
	at, _ := one.Deadline()
	_ = conn.SetReadDeadline(at)
	_, _ = bufio.NewReaderSize(conn, 16).ReadString('\n')
}
