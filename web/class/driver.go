package class

import (
	"context"

	"github.com/tokenbytoken/viz/web/session"
)

// Driver opens the runs of rooms.
type Driver interface {
	// Open opens the run of a room: a new one if link is "", otherwise the paused run that
	// the session link describes.
	Open(ctx context.Context, room, link string) (Run, error)
}

// Run is one run of the model. Its methods can be called from any goroutine, but calls to Do must
// not overlap.
type Run interface {
	// Do executes a command and returns the state after it. If it returns a
	// [*terms.Refusal], nothing has changed.
	Do(ctx context.Context, c session.Command) (*session.State, error)
	// State returns the newest state, or nil if the run has released its memory.
	State() *session.State
	// Watch calls f after every state change until stop is called. f must return quickly and must
	// not call the run.
	Watch(f func()) (stop func())
	// Done is closed when the run has ended, whether or not Close was called.
	Done() <-chan struct{}
	// Close ends the run. It can be called while Do is running.
	Close()
}

// Do executes a command on a run, like [Run.Do].
type Do func(ctx context.Context, c session.Command) (*session.State, error)
