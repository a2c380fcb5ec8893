package web

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/store"
)

// suite ends the browser before leaks are looked for.
type suite struct{ *testing.M }

func (s suite) Run() int {
	defer func() { closeChromium() }() // as it is then
	return s.M.Run()
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(suite{m}) }

var loadModel = sync.OnceValues(func() (*infer.Model, error) {
	c, err := bundled.Target()
	if err != nil {
		return nil, err
	}
	return infer.Load(c)
})

func bundledModel(t testing.TB) *infer.Model {
	t.Helper()
	m, err := loadModel()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var loadCourse = sync.OnceValues(lessons.Load)

// learning is the course, and a record of progress in memory that ends with the
// test.
func learning(t testing.TB) (*lessons.Course, *progress.Store) {
	t.Helper()
	course, err := loadCourse()
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return course, progress.New(db, course, time.Now)
}

// site is a running server, and the browser (its cookies) of one learner.
type site struct {
	*Server
	t    testing.TB
	http *httptest.Server
	jar  http.CookieJar

	conns *sync.Map // every TCP connection that the server has taken
	stop  func()    // ends the server, once
}

func newSite(t testing.TB, limits Limits) *site {
	t.Helper()
	return newSiteAt(t, limits, "127.0.0.1:0")
}

// newSiteAt starts a server at an address, which may be that of one stopped.
func newSiteAt(t testing.TB, limits Limits, addr string) *site {
	t.Helper()
	return newSiteOn(t, limits, addr, nil)
}

// newSiteOn starts a server with the secret of a data folder, by which one that
// starts anew knows its learners; or with none.
func newSiteOn(t testing.TB, limits Limits, addr string, secret []byte) *site {
	t.Helper()
	h := httptest.NewUnstartedServer(nil)
	h.Listener.Close()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	h.Listener = l
	course, progress := learning(t)
	s, err := New(Config{
		Model:        bundledModel(t),
		Course:       course,
		Progress:     progress,
		AllowedHosts: LoopbackHosts(h.Listener.Addr().String()),
		Limits:       limits,
		Secret:       secret,
		Logger:       slog.New(slog.NewTextHandler(io.Discard, nil)),
		Storybook:    true,
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Config.Handler = s.Handler()
	conns := &sync.Map{}
	// Small buffers in the kernel, so that a slow reader is noticed at once.
	h.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if err := c.(*net.TCPConn).SetWriteBuffer(32 << 10); err != nil {
			t.Error(err)
		}
		conns.Store(c, true)
		return ctx
	}
	h.Start()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
		h.Close()
	})
	t.Cleanup(stop)
	return &site{s, t, h, jar, conns, stop}
}

// stranger is the same site seen from another browser.
func (x *site) stranger() *site {
	y := *x
	y.jar, _ = cookiejar.New(nil)
	return &y
}

// get asks for a page.
func (x *site) get(path string, header ...string) (*http.Response, string) {
	x.t.Helper()
	req, err := http.NewRequest(http.MethodGet, x.http.URL+path, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	return x.do(req, header...)
}

func (x *site) do(req *http.Request, header ...string) (*http.Response, string) {
	x.t.Helper()
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{Jar: x.jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return resp, string(b)
}

// wire is a message as a client sees it.
type wire struct {
	Seq, Ack uint64
	Run      string
	Again    bool
	Error    *wireError
	Panels   []panel
	Data     *pageData
	Cut      *cut
	Stages   []json.RawMessage
	Cursor   *cursor
	Playing  bool
	Stopped  string
	Pieces   []struct {
		ID   int
		Text string
	}
}

// client is one connection, and what a client knows from its messages.
type client struct {
	t    testing.TB
	conn *websocket.Conn
	n    uint64
	run  string
	last wire       // the last message with a state
	told *wireError // an error that came before the first state

	stages []json.RawMessage // viz.json.v1: all that is valid
	html   map[string]string // viz.html.v1: panels by id
	bytes  int               // of all messages
	tokens []string          // and the HTML of the generated tokens, in order
	got    int               // messages
}

func (x *site) url(query string) string {
	return "ws" + strings.TrimPrefix(x.http.URL, "http") + "/ws" + query
}

// dial opens a socket and reads the first message.
func (x *site) dial(protocol, query string) *client {
	x.t.Helper()
	d := websocket.Dialer{Subprotocols: []string{protocol}, Jar: x.jar}
	conn, _, err := d.Dial(x.url(query), nil)
	if err != nil {
		x.t.Fatal(err)
	}
	c := &client{t: x.t, conn: conn, html: map[string]string{}}
	x.t.Cleanup(func() { conn.Close() })
	for c.run == "" {
		if m := c.read(); m.Error != nil {
			c.told = m.Error
		}
	}
	return c
}

// read takes the next message and updates what is known.
func (c *client) read() wire {
	c.t.Helper()
	c.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	kind, b, err := c.conn.ReadMessage()
	if err != nil {
		c.t.Fatalf("reading: %v", err)
	}
	if kind != websocket.TextMessage {
		c.t.Fatalf("message of type %d, want text", kind)
	}
	var m wire
	if err := json.Unmarshal(b, &m); err != nil {
		c.t.Fatalf("message %s: %v", b, err)
	}
	c.got++
	c.bytes += len(b)
	if m.Seq < c.last.Seq {
		c.t.Fatalf("seq went back from %d to %d", c.last.Seq, m.Seq)
	}
	if m.Run != "" {
		c.run = m.Run
	}
	c.follow(m)
	if m.Cursor != nil || m.Data != nil {
		c.last = m
	}
	return m
}

func (c *client) follow(m wire) {
	if m.Cut != nil {
		kept := c.stages[:0:0]
		for _, st := range c.stages {
			if h := headOf(c.t, st); h.Step < m.Cut.Step && (m.Cut.Step > 0) {
				kept = append(kept, st)
			}
		}
		c.stages = kept
	}
	c.stages = append(c.stages, m.Stages...)
	for _, p := range m.Panels {
		switch {
		case p.Op == "append" && p.ID == genID:
			c.tokens = append(c.tokens, p.HTML)
		case p.Op == "remove" && p.ID == tokenID(len(c.tokens)):
			c.tokens = c.tokens[:len(c.tokens)-1]
		case p.Op == "morph" && strings.HasPrefix(p.ID, "t-"):
			found := false
			for i := range c.tokens {
				if tokenID(i+1) == p.ID {
					c.tokens[i], found = p.HTML, true
				}
			}
			if !found {
				c.t.Fatalf("morph of %s, which is not on the page", p.ID)
			}
		case p.Op == "morph" && p.ID == genID:
			c.tokens = tokensIn(c.t, p.HTML)
		case p.Op == "morph":
			c.html[p.ID] = p.HTML
		default:
			c.t.Fatalf("panel %s: unexpected op %q", p.ID, p.Op)
		}
	}
}

// send sends a command, JSON without its number.
func (c *client) send(command string) uint64 {
	c.t.Helper()
	c.n++
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(command), &m); err != nil {
		c.t.Fatalf("%s: %v", command, err)
	}
	m["n"], _ = json.Marshal(c.n)
	b, _ := json.Marshal(m)
	if err := c.conn.WriteMessage(websocket.TextMessage, b); err != nil {
		c.t.Fatal(err)
	}
	return c.n
}

// do sends a command and reads on to its answer, which must not be an error.
func (c *client) do(command string) wire {
	c.t.Helper()
	n := c.send(command)
	for {
		m := c.read()
		if m.Error != nil {
			c.t.Fatalf("%s: %+v", command, *m.Error)
		}
		if m.Ack == n {
			return m
		}
	}
}

// refused sends a command and returns the error that answers it.
func (c *client) refused(command string) wireError {
	c.t.Helper()
	n := c.send(command)
	for {
		if m := c.read(); m.Ack == n {
			if m.Error == nil {
				c.t.Fatalf("%s was carried out", command)
			}
			return *m.Error
		}
	}
}

// closed reads on to the close frame and returns its code and reason.
func (c *client) closed() (int, string) {
	c.t.Helper()
	return closeOf(c.t, c.conn)
}

func closeOf(t testing.TB, conn *websocket.Conn) (int, string) {
	t.Helper()
	conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	for {
		_, _, err := conn.ReadMessage()
		if ce, ok := err.(*websocket.CloseError); ok {
			return ce.Code, ce.Text
		}
		if err != nil {
			t.Fatalf("connection ended without a close frame: %v", err)
		}
	}
}

// head is the beginning of a stage's object.
type head struct {
	Step  int
	Stage string
}

func headOf(t testing.TB, raw json.RawMessage) (h head) {
	t.Helper()
	if err := json.Unmarshal(raw, &h); err != nil {
		t.Fatal(err)
	}
	return h
}

// stage returns a stage that the client knows, as a value.
func stageAt[T any](c *client, step int, stage string) (v T) {
	c.t.Helper()
	for _, raw := range c.stages {
		if headOf(c.t, raw) == (head{step, stage}) {
			if err := json.Unmarshal(raw, &v); err != nil {
				c.t.Fatal(err)
			}
			return v
		}
	}
	c.t.Fatalf("the client knows no stage %s of step %d", stage, step)
	return v
}

// eventually waits until something is true of the server.
func eventually(t testing.TB, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never true on the server")
		}
	}
}

// runOf is the run with an id, or nil.
func (x *site) runOf(id string) *run {
	x.runs.mu.Lock()
	defer x.runs.mu.Unlock()
	return x.runs.byID[id]
}
