package loop

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/wire"
)

// received is a message as a client sees it.
type received struct {
	Seq, Ack uint64
	More     bool
	Rest     bool
	Run      string
	Again    bool
	Error    *terms.Refusal
	Panels   []wire.Panel
	Data     *pageData
	Cut      *cut
	Stages   []json.RawMessage
	Cursor   *cursor
	Playing  bool
	Stopped  string
	Link     string
	Branches []branch
	WhatIf   *whatIf
	Find     *foundAnswer
	Found    *foundAnswer
	Pieces   []struct {
		ID   int
		Text string
	}
}

// client is one connection, together with everything that the client has received over it.
type client struct {
	t    testing.TB
	conn *websocket.Conn
	n    uint64
	run  string
	last received       // the last message with a state
	told *terms.Refusal // an error sent before the first state

	stages []json.RawMessage // viz.json.v1: all stages that are still valid
	html   map[string]string // viz.html.v1: panels by id
	bytes  int               // size of all messages
	tokens []string          // viz.html.v1: HTML of the generated tokens, in order
	got    []received        // all messages
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

// read reads the next message and updates the client.
func (c *client) read() received {
	c.t.Helper()
	c.conn.SetReadDeadline(time.Now().Add(browser.Patience))
	kind, b, err := c.conn.ReadMessage()
	if err != nil {
		c.t.Fatalf("reading: %v", err)
	}
	if kind != websocket.TextMessage {
		c.t.Fatalf("message of type %d, want text", kind)
	}
	var m received
	if err := json.Unmarshal(b, &m); err != nil {
		c.t.Fatalf("message %s: %v", b, err)
	}
	c.got = append(c.got, m)
	c.bytes += len(b)
	if m.Seq < c.last.Seq {
		c.t.Fatalf("seq went from %d back to %d, want increasing numbers", c.last.Seq, m.Seq)
	}
	if m.Run != "" {
		c.run = m.Run
	}
	c.follow(m)
	if m.Cursor != nil || m.Data != nil {
		c.last = m
	}
	if m.More {
		for !c.read().Rest { // answers to queries may come first
		}
	}
	return m
}

func (c *client) follow(m received) {
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
			c.t.Fatalf("panel %s: got op %q, want a known one", p.ID, p.Op)
		}
	}
}

// send sends a command, given as JSON without its number.
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

// do sends a command and reads until its answer, which must not be an error.
func (c *client) do(command string) received {
	c.t.Helper()
	n := c.send(command)
	for {
		m := c.read()
		if m.Error != nil {
			c.t.Fatalf("command %s: got error %+v, want none", command, *m.Error)
		}
		if m.Ack == n {
			return m
		}
	}
}

// refused sends a command and returns the error that answers it.
func (c *client) refused(command string) terms.Refusal {
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

// closed reads messages until the close frame, and returns the frame's code and reason.
func (c *client) closed() (int, string) {
	c.t.Helper()
	return closeOf(c.t, c.conn)
}

func closeOf(t testing.TB, conn *websocket.Conn) (int, string) {
	t.Helper()
	conn.SetReadDeadline(time.Now().Add(browser.Patience))
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

// head contains the first fields of a stage's JSON object.
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

// stageAt returns a stage that the client has received, decoded.
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
	c.t.Fatalf("the client has no stage %s of step %d", stage, step)
	return v
}
