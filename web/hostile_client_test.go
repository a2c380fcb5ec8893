package web_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// A client sends requests from one address. It does not follow redirects.
type client struct {
	http.Client
	server, from string
	cookie       string
	held         []*websocket.Conn // connections kept open by attacks
}

func newClient(server, from, cookie string) *client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	return &client{server: server, from: from, cookie: cookie, Client: http.Client{
		Transport:     &http.Transport{DialContext: d.DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// send sends a request and, if the client has no cookie yet, keeps the one from the response.
func (c *client) send(ctx context.Context, method, path, kind string, body io.Reader) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.server+path, body)
	if err != nil {
		return 0, "", err
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if c.cookie != "" {
		r.Header.Set("Cookie", c.cookie)
	}
	answer, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	for _, set := range answer.Cookies() {
		if c.cookie == "" && strings.HasPrefix(set.Name, "viz-learner") {
			c.cookie = set.Name + "=" + set.Value
		}
	}
	return answer.StatusCode, string(text), err
}

func (c *client) get(ctx context.Context, path string) (int, string, error) {
	return c.send(ctx, http.MethodGet, path, "", nil)
}

func (c *client) post(ctx context.Context, path string, form url.Values) (int, string, error) {
	return c.send(ctx, http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

// upload imports a file.
func (c *client) upload(ctx context.Context, file []byte) (int, string, error) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	f, err := m.CreateFormFile("file", "progress.json")
	if err != nil {
		return 0, "", err
	}
	f.Write(file)
	m.Close()
	return c.send(ctx, http.MethodPost, "/progress/import", m.FormDataContentType(), &b)
}

// mostHeld is the maximum number of connections that one goroutine of an attack keeps open.
const mostHeld = 150

// hold opens a connection, sends a message and keeps the connection open. If too many are open, it
// closes the oldest.
func (c *client) hold(ctx context.Context, query, protocol, message string) {
	d := websocket.Dialer{
		NetDialContext: c.Transport.(*http.Transport).DialContext, Subprotocols: []string{protocol},
	}
	header := http.Header{}
	if c.cookie != "" {
		header.Set("Cookie", c.cookie)
	}
	conn, _, err := d.DialContext(ctx, "ws"+strings.TrimPrefix(c.server, "http")+"/ws"+query, header)
	if err != nil {
		return
	}
	_ = conn.WriteMessage(websocket.TextMessage, []byte(message))
	if c.held = append(c.held, conn); len(c.held) > mostHeld {
		c.held[0].Close()
		c.held = c.held[1:]
	}
}

// someoneNew turns the client into a new learner, with a new cookie or, if the server refuses to
// issue one, without a cookie.
func (c *client) someoneNew(ctx context.Context) {
	c.cookie = ""
	_, _, _ = c.get(ctx, "/join")
}

// close closes the connections that the client holds.
func (c *client) close() {
	for _, conn := range c.held {
		conn.Close()
	}
	c.CloseIdleConnections()
}

// A target is what the attackers know about the class that they attack.
type target struct {
	Room, Poll, Choice string
	Link               string // to a long text
}

// link returns a link to a generated text with the given number of tokens.
func link(t testing.TB, tokens int) string {
	t.Helper()
	run := session.New(testmodel.Target(t), session.DefaultLimits())
	for _, c := range []session.Command{
		session.SetKnob("max_tokens", float64(tokens)), session.Start{Prompt: "Once upon a time"},
	} {
		if _, err := run.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for range tokens {
		if _, err := run.Apply(t.Context(), session.StepToken{}); err != nil {
			break // the text has ended
		}
	}
	return session.LinkOf(run.State())
}

// badForms are invalid schemas; most are rejected late.
var badForms = func() []string {
	var words, properties []string
	for i := range 3000 {
		words = append(words, fmt.Sprintf(`"w%d"`, i))
	}
	for i := range 200 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"string","pattern":"^[a-z]{%d}.*(x|yy)*$"}`, i, i))
	}
	return []string{
		`{"type":"array","items":{"enum":[` + strings.Join(words, ",") + `]},"maxItems":50}`,
		strings.Repeat(`{"type":"object","properties":{"a":`, 60) + `{}` + strings.Repeat(`}}`, 60),
		`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`,
		`{"type":"string","maxLength":20000}`,
		`{"maxItems":999999,"items":{"type":"string","pattern":"^(a|b)*$","minLength":9,"maxLength":300}}`,
	}
}()

// attacks are the named attacks that a hostile client repeats, ignoring all errors.
var attacks = map[string]func(ctx context.Context, c *client, x target){
	"sockets": func(ctx context.Context, c *client, _ target) {
		c.cookie = ""
		c.hold(ctx, "", wire.ProtocolJSON, `{"cmd":"start","n":1,"prompt":"Hello"}`)
	},
	"feeds": func(ctx context.Context, c *client, x target) {
		c.someoneNew(ctx)
		c.hold(ctx, "?feed=class&room="+x.Room, wire.ProtocolHTML, `{"cmd":"inside","n":1}`)
		c.hold(ctx, "?feed=lab&name=draw", wire.ProtocolHTML, `{"cmd":"set","n":1,"values":{"run":"1"}}`)
	},
	"rooms": func(ctx context.Context, c *client, _ target) {
		c.someoneNew(ctx)
		_, _, _ = c.post(ctx, "/teach", url.Values{"title": {"Mine"}})
	},
	"names": func(ctx context.Context, c *client, x target) {
		c.someoneNew(ctx)
		_, _, _ = c.post(ctx, "/class/"+x.Room+"/name", url.Values{"nick": {"Nobody"}})
	},
	"votes": func(ctx context.Context, c *client, x target) {
		c.cookie = ""
		_, _, _ = c.post(ctx, "/class/"+x.Room+"/vote", url.Values{"poll": {x.Poll}, "choice": {x.Choice}})
	},
	"codes": func(ctx context.Context, c *client, _ target) {
		_, _, _ = c.get(ctx, "/join?code=333333")
	},
	"imports": func(ctx context.Context, c *client, _ target) {
		_, _, _ = c.upload(ctx, make([]byte, 4<<20))
	},
	"labs": func(ctx context.Context, c *client, _ target) {
		c.someoneNew(ctx)
		_, _, _ = c.get(ctx, "/labs/cache?tokens=400&repeats=49&run=1&sure=1&guess=none")
	},
	"links": func(ctx context.Context, c *client, x target) {
		c.cookie = ""
		_, _, _ = c.get(ctx, "/loop?log="+x.Link)
	},
	"why": func(ctx context.Context, c *client, x target) {
		c.cookie = ""
		for _, q := range questions(x) {
			_, _, _ = c.get(ctx, q)
		}
	},
	"grammars": func(ctx context.Context, c *client, _ target) {
		var all sync.WaitGroup
		for _, form := range slices.Concat(badForms, badForms) {
			all.Go(func() {
				body := strings.NewReader(`{"model":"tiny-5M","prompt":"A","max_tokens":9,"json_schema":` + form + `}`)
				_, _, _ = c.send(ctx, http.MethodPost, "/v1/completions", "application/json", body)
			})
		}
		all.Wait()
	},
	"long texts": func(ctx context.Context, c *client, _ target) {
		text := strings.Repeat("q7 ", 1000)
		c.hold(ctx, "", wire.ProtocolHTML, `{"cmd":"start","n":1,"prompt":"Hello"}`)
		if len(c.held) == 0 {
			return
		}
		conn := c.held[len(c.held)-1]
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // the server may stop reading
		for n := range 100 {
			for _, m := range []string{
				fmt.Sprintf(`{"cmd":"pieces","n":%d,"prompt":%q}`, 3*n+2, text),
				fmt.Sprintf(`{"cmd":"start","n":%d,"prompt":%q}`, 3*n+3, text),
				fmt.Sprintf(`{"cmd":"zoom","n":%d,"block":1}`, 3*n+4),
			} {
				if ctx.Err() != nil || conn.WriteMessage(websocket.TextMessage, []byte(m)) != nil {
					return
				}
			}
		}
	},
	"messages": func(ctx context.Context, c *client, _ target) {
		c.hold(ctx, "", wire.ProtocolJSON, `{"cmd":"set","n":1,"temperature":1.5}`)
		if len(c.held) == 0 {
			return
		}
		conn := c.held[len(c.held)-1]
		for n := range 1000 {
			m := fmt.Appendf(nil, `{"cmd":"set","n":%d,"temperature":%d.5}`, n+2, n%2)
			if ctx.Err() != nil || conn.WriteMessage(websocket.TextMessage, m) != nil {
				return
			}
			_ = conn.WriteMessage(websocket.PingMessage, nil)
		}
	},
}
