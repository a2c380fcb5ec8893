package remote

import (
	"context"
	"encoding/json"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/room"
)

// op is an operation that the owner of a room executes for pages on any server. Unless once is set,
// the operation is idempotent, and a request without a reply is resent.
type op[A, B any] struct {
	name string
	once bool
	do   func(ctx context.Context, r owned, a A) (B, error)
}

// request is the request to the owner to execute an op.
type request struct {
	Room string          `json:"room"`
	Term uint64          `json:"term"` // term of the owner's lease
	Op   string          `json:"op"`
	Args json.RawMessage `json:"args"`
}

// reply is the answer to a request.
type reply struct {
	Moved   bool                  `json:"moved,omitempty"` // the room has moved, and the op was not executed
	Refusal *terms.EncodedRefusal `json:"refusal,omitempty"`
	Failed  bool                  `json:"failed,omitempty"` // the owner has logged an error
	Value   json.RawMessage       `json:"value,omitempty"`
}

// read decodes a reply's result.
func (p reply) read(into any) error {
	switch {
	case p.Moved:
		return room.ErrMoved
	case p.Refusal != nil:
		return p.Refusal.Decode()
	case p.Failed:
		return class.ErrBroken
	}
	return json.Unmarshal(p.Value, into)
}

// The arguments of ops.
type (
	nothing struct{}
	whoArgs struct{ Who admission.Caller }
	joining struct {
		Who    admission.Caller
		Nick   string
		Server string // the server that has the page open
	}
	balloting struct {
		Learner string
		Ballot  class.Ballot
	}
	asking     struct{ Learner, Text string }
	presenting struct {
		Who    string
		Secret class.Secret
		Server string     // the server that has the page open
		Do     class.Form // for present
	}
	handing struct {
		Who  admission.Caller
		Name string
		Work class.Work
	}
	placed struct{ Epoch, Seq uint64 } // of a view
)

// owned is a room that this server runs for pages on all servers.
type owned struct {
	*room.Local
	relay *relay
}
