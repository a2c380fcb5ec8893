package class

import (
	"context"

	"github.com/tokenbytoken/viz/web/session"
)

// Driver makes the runs of rooms.
type Driver interface {
	// Open makes the run of a room: a new one where link is "", else the one
	// that the session link describes, which does not play.
	Open(ctx context.Context, room, link string) (Run, error)
}

// Run is one run of the model. Its methods may be called from any goroutine,
// but for Do, which is called by one at a time.
type Run interface {
	// Do has a command carried out and returns the state after it. A refusal is
	// a [*terms.Refusal]; nothing has changed then.
	Do(ctx context.Context, c session.Command) (*session.State, error)
	// State returns the newest state; nil where the run has given up its memory.
	State() *session.State
	// Watch has f called after every change of the state, until stop is called.
	// f returns at once and calls nothing of the run.
	Watch(f func()) (stop func())
	// Close ends the run. It may come while Do is under way.
	Close()
}
