package room

import (
	"context"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
)

// Entered reports whether a learner is a member and, if they may not enter, why.
type Entered struct {
	Known   bool
	Refused *terms.EncodedRefusal
}

// Hosted is a room as the hub sees it.
type Hosted interface {
	class.Room

	// Fits reports whether a secret is the room's.
	Fits(secret class.Secret) bool
	// Entering reports whether a learner is a member and, if they may not enter, why.
	Entering(ctx context.Context, who admission.Caller) (Entered, error)
	// Ready opens the run of a room that someone is about to view.
	Ready(ctx context.Context) error
	// Replay returns the result of [Hub.Replay].
	Replay(ctx context.Context) (*class.Summary, error)
	// EndClass and RemoveAll are for the operator; see [Hub.EndRoom] and [Hub.RemoveRoom].
	EndClass(ctx context.Context) error
	RemoveAll(ctx context.Context) error
	// Forget removes a learner who has deleted their data; see [Hub.Forget].
	Forget(ctx context.Context, learner string) error
}

// Directory finds and creates the rooms of a hub. A single server finds the rooms that it runs; in a
// cluster, the directory of package remote also finds the rooms of other servers.
type Directory interface {
	// Lookup returns the room with a code, or nil if there is none.
	Lookup(ctx context.Context, code string) (Hosted, error)
	// FindDamaged returns the unreadable room with a code, or nil if there is none. Lookup must be
	// called first.
	FindDamaged(ctx context.Context, code string) (*Damaged, error)
	// Open chooses an unused code for a new room, saves the room and starts it. The parameter most
	// is the maximum number of rooms on a server.
	Open(ctx context.Context, u *Unstarted, most int) (Hosted, error)
	// ForgetOthers removes a learner from the rooms that this server does not run, and returns an
	// error if some of them cannot be read.
	ForgetOthers(ctx context.Context, learner string) error
	// SweepOthers deletes the unused rooms that this server does not run.
	SweepOthers(ctx context.Context)
	// StopServing stops serving requests from other servers.
	StopServing()
}
