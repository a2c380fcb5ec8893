package loop

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/wire"
)

// encoder turns states into messages for one connection. It remembers what it has sent and puts
// only the differences into the next message. It does not reference any state, so the memory of
// an evicted run is freed even while a client watches the run.
type encoder interface {
	// encode adds the changes since the last call to m. The first call adds the whole state. If
	// some changes can be shown after the others, encode leaves them to rest, which adds them to
	// another message. rest is called before the next call of encode.
	encode(m *wire.Message, next *session.State) (rest func(m *wire.Message) error, err error)
	// pieces adds the tokens of a prompt to m. answer adds the answer to a query that has already
	// been validated. Both may be called while encode is running.
	pieces(m *wire.Message, model *infer.Model, text chat.Text) error
	answer(m *wire.Message, name string, q *query, st *session.State) error
}

// encoders maps each subprotocol to a function that makes its encoder. Only pages have a view and a
// language.
var encoders = map[string]func(stage.Words, view) encoder{
	wire.ProtocolHTML: func(w stage.Words, v view) encoder { return &htmlEncoder{words: w, view: v} },
	wire.ProtocolJSON: func(stage.Words, view) encoder { return &jsonEncoder{} },
}

// encodeAll adds to m all changes since the last call of encode.
func encodeAll(e encoder, m *wire.Message, next *session.State) error {
	rest, err := e.encode(m, next)
	if err != nil || rest == nil {
		return err
	}
	return rest(m)
}

// cursor is a [session.Cursor] as JSON. Before a text begins, the step is 0 and the stage is
// "none".
type cursor struct {
	Step  int    `json:"step"`
	Stage string `json:"stage"`
}

func cursorJSON(c session.Cursor) cursor { return cursor{c.Step, c.Stage.String()} }
