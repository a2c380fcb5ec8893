package web

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// The socket's subprotocols.
const (
	ProtocolHTML = "viz.html.v1" // panels for the page
	ProtocolJSON = "viz.json.v1" // typed stages for programs
)

// encoder turns states into messages for one connection. It remembers what it
// has sent and puts only what differs into the next message. It holds on to no
// state, so that an evicted run's memory is free even while someone watches.
type encoder interface {
	// encode adds to m what has changed since the last call; at the first call
	// that is everything.
	encode(m *message, next *session.State) error
	// pieces and answer may be called while encode is at work. pieces adds to
	// m how a prompt falls into tokens, answer what a query asks, which has
	// been checked.
	pieces(m *message, model *infer.Model, prompt string) error
	answer(m *message, name string, q *query, st *session.State) error
}

// encoders by subprotocol.
var encoders = map[string]func() encoder{
	ProtocolHTML: func() encoder { return &htmlEncoder{} },
	ProtocolJSON: func() encoder { return &jsonEncoder{} },
}

// message is what the server sends: always Seq and Ack, and the parts that
// there is something to say about.
type message struct {
	Seq uint64 `json:"seq"`           // version of the last state sent on this connection
	Ack uint64 `json:"ack"`           // number of the last command answered
	Run string `json:"run,omitempty"` // id of the run, in the first message
	// beside Run: this page has watched the run before, and Ack is its last command
	// carried out
	Again bool           `json:"again,omitempty"`
	Error *terms.Refusal `json:"error,omitempty"` // why a command was refused

	// viz.html.v1
	Panels []panel   `json:"panels,omitempty"`
	Data   *pageData `json:"data,omitempty"`

	// viz.json.v1
	*runData
	*answers
	Pieces []infer.Token `json:"pieces,omitempty"`
}

// cursor is a [session.Cursor] as JSON; step 0 and stage "none" before a start.
type cursor struct {
	Step  int    `json:"step"`
	Stage string `json:"stage"`
}

func cursorJSON(c session.Cursor) cursor { return cursor{c.Step, c.Stage.String()} }

// bytes is the message as one text frame. HTML is not escaped a second time:
// the frame is never part of a page.
func (m *message) bytes() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("encoding a message: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
