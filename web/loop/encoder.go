package loop

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// encoder turns states into messages for one connection. It remembers what it has sent and
// puts only the differences into the next message. It keeps no state, so an evicted run's
// memory is free even while it is watched.
type encoder interface {
	// encode adds to m what has changed since the last call; at the first call
	// that is everything.
	encode(m *wire.Message, next *session.State) error
	// pieces and answer may be called while encode is running. pieces adds to m how a
	// prompt splits into tokens; answer adds the answer to a query, which has been checked.
	pieces(m *wire.Message, model *infer.Model, text chat.Text) error
	answer(m *wire.Message, name string, q *query, st *session.State) error
}

// encoders by subprotocol. Only pages have a view.
var encoders = map[string]func(view) encoder{
	wire.ProtocolHTML: func(v view) encoder { return &htmlEncoder{view: v} },
	wire.ProtocolJSON: func(view) encoder { return &jsonEncoder{} },
}

// cursor is a [session.Cursor] as JSON; step 0 and stage "none" before a start.
type cursor struct {
	Step  int    `json:"step"`
	Stage string `json:"stage"`
}

func cursorJSON(c session.Cursor) cursor { return cursor{c.Step, c.Stage.String()} }
