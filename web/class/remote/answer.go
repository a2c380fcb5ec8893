package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class/room"
)

// answer executes a request from another server and returns the encoded reply.
func (h *shared) answer(ctx context.Context, data []byte) []byte {
	var out reply
	var q request
	err := fault.Do(h.Config().Log, "a request from another server", func() error {
		if len(data) > MaxRequest {
			return fmt.Errorf("a request has %d bytes; the limit is %d", len(data), MaxRequest)
		}
		if err := json.Unmarshal(data, &q); err != nil {
			return err
		}
		r, ok := h.ownedIn(q.Room, q.Term)
		do := served[q.Op]
		if !ok || do == nil || h.Config().Driver == nil { // a hub without a driver serves no pages and ends soon
			return room.ErrMoved
		}
		value, err := do(ctx, r, q.Args)
		if err != nil {
			return r.WhyMoved(err)
		}
		out.Value, err = json.Marshal(value)
		return err
	})
	if err != nil {
		out.Value = nil
		if e, ok := terms.AsRefusal(err); ok {
			out.Refusal = e.Encode()
		} else if out.Moved = errors.Is(err, room.ErrMoved); !out.Moved {
			out.Failed = true
			if ctx.Err() == nil {
				h.Config().Log.Error("request from another server failed", "op", q.Op, "error", err)
			}
		}
	}
	text, err := json.Marshal(out)
	if err != nil || len(text) > MaxReply {
		text = []byte(`{"failed":true}`)
	}
	return text
}

// ownedIn returns a room that this server owns under the lease with the given term.
func (h *shared) ownedIn(code string, term uint64) (o owned, ok bool) {
	f := h.relayOf(code)
	if f == nil {
		return o, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.here == nil || f.lease.Term != term || f.here.IsLost() {
		return o, false
	}
	return owned{f.here, f}, true
}
