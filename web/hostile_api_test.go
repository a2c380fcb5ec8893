package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// calls returns the requests that a hostile client sends to the API: many long answers at the same
// time, with schemas that are hard to satisfy, and schemas that cannot be compiled.
func calls() (list []string) {
	form := func(schema string) string {
		return `{"model":"tiny-5M","prompt":"A","max_tokens":400,"temperature":2,"n":16,"json_schema":` + schema + `}`
	}
	wide := strings.Repeat(`{"type":"string","pattern":"(a|b|[^c]){0,60}"},`, 40)
	properties := strings.Builder{}
	for i := range 300 {
		fmt.Fprintf(&properties, `"p%d":{"type":["string","number","null"]},`, i)
	}
	return []string{
		`{"model":"tiny-5M","prompt":"A","max_tokens":1000000,"n":16,"logprobs":20,"stream":true}`,
		form(`{"type":"array","items":{"type":"string","pattern":"[^x]*"}}`),
		form(`{"type":"object","properties":{` + strings.TrimSuffix(properties.String(), ",") + `}}`),
		form(`{"enum":["` + strings.Repeat("a", 60_000) + `"]}`),
		form(strings.Repeat(`{"type":"array","items":`, 200) + `{}` + strings.Repeat(`}`, 200)),
		form(`{"type":"array","items":[` + strings.TrimSuffix(wide, ",") + `]}`),
		`{"model":"tiny-5M","prompt":"A","regex":"((a{1,50}){1,50}){1,50}"}`,
		`{"model":"tiny-5M","prompt":"A","regex":"(.*a.*b.*c.*){1,40}","temperature":2,"max_tokens":400}`,
		`{"model":"tiny-5M","prompt":"` + strings.Repeat("a ", 100_000) + `"}`,
		`{"model":"tiny-5M","messages":[` + strings.Repeat(`{"role":"user","content":"a"},`, 8000) + `{}]}`,
	}
}

// TestHostileAPIClient: while one client sends the largest and the oddest requests from several
// addresses, and abandons most of them after a second, others are served. Each of the client's
// requests is answered, refused with an API error, or abandoned.
func TestHostileAPIClient(t *testing.T) {
	fixture.Long(t)
	b := newBattle(t)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var asked atomic.Int64
	enough := make(chan struct{})
	page := "/api?" + url.Values{"prompt": {"A"}, "temperature": {"2"}, "max_tokens": {"48"}}.Encode()
	// Check that the server does return the page and does refuse bad requests.
	first := b.known("known", "127.0.0.1")
	defer first.close()
	if status, text, err := first.get(ctx, page); err != nil || status != http.StatusOK {
		t.Fatalf("the page: got %d %s, %v; want %d, <nil>", status, headline(text), err, http.StatusOK)
	}
	for i, want := range map[int]int{4: http.StatusBadRequest, 8: http.StatusBadRequest} {
		body := strings.NewReader(calls()[i])
		status, text, err := first.send(ctx, http.MethodPost, "/v1/completions", "application/json", body)
		if err != nil || status != want {
			t.Fatalf("%.80s: got %d, %s, %v; want %d, <nil>", calls()[i], status, headline(text), err, want)
		}
	}
	for _, from := range flooded {
		for range 2 {
			all.Go(func() {
				c := newClient(b.server, from, "")
				defer c.close()
				for i, list := 0, calls(); ctx.Err() == nil; i++ {
					if err := c.odd(ctx, page); err != nil {
						t.Errorf("the page: %v", err)
					}
					if err := c.call(ctx, list[i%len(list)]); err != nil {
						t.Errorf("%.80s: %v", list[i%len(list)], err)
					}
					if asked.Add(1) == 60 {
						close(enough)
					}
				}
			})
		}
	}
	<-enough
	b.others("api")
	cancel()
	all.Wait()
}

// call sends a request to the API, waits up to a second for the response, and checks that the
// response is valid.
func (c *client) call(ctx context.Context, body string) error {
	one, done := context.WithTimeout(ctx, time.Second)
	defer done()
	path := "/v1/completions"
	if strings.Contains(body, `"messages"`) {
		path = "/v1/chat/completions"
	}
	status, text, err := c.send(one, http.MethodPost, path, "application/json", strings.NewReader(body))
	if err != nil {
		return nil // abandoned, or closed by the server
	}
	switch status {
	case http.StatusOK:
		return nil
	case http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
		http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if strings.Contains(text, `"error"`) && len(text) < 4<<10 {
			return nil
		}
	}
	return fmt.Errorf("status %d: %s", status, headline(text))
}
