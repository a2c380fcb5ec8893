package room

import (
	"context"
	"errors"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
)

// ErrMoved means that this server does not own the room and has not executed the request.
var ErrMoved = errors.New("the room is on another server")

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
	// EndClass and removeAll are for the operator; see [Hub.EndRoom] and [Hub.RemoveRoom].
	EndClass(ctx context.Context) error
	RemoveAll(ctx context.Context) error
	// Forget removes a learner who has deleted their data; see [Hub.Forget].
	Forget(ctx context.Context, learner string) error
}

// Directory finds and creates the rooms of a hub. It is [single] or, in a cluster, [remote.shared].
type Directory interface {
	// Lookup returns the room with a code, or nil if there is none.
	Lookup(ctx context.Context, code string) (Hosted, error)
	// FindDamaged returns the unreadable room with a code, or nil if there is none. lookup must be
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

// Host is a room's server, as the room's goroutine sees it: [single] or, in a cluster, a
// [remote.relay].
type Host interface {
	// Append appends to the room's log. In a cluster, epoch is the owner's epoch. After errMoved,
	// nothing more may be confirmed.
	Append(b journal.Batch, epoch uint64) ([]int64, error)
	// MayDelete returns an error if the room must not be deleted here. It can call try, which
	// appends to the log.
	MayDelete(try func() error) error
	// Shown is called with each new view.
	Shown(v *class.View)
}

// single is the directory and host of a server that does not share its rooms.
type single struct{ *Hub }

func (h single) Lookup(_ context.Context, code string) (Hosted, error) {
	if r := h.find(code); r != nil {
		return r, nil
	}
	return nil, nil
}

func (h single) FindDamaged(_ context.Context, code string) (*Damaged, error) {
	return h.DamagedHere(class.NormalCode(code)), nil
}

func (h single) Open(ctx context.Context, u *Unstarted, most int) (Hosted, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := u.core
	if err := h.choose(c, most); err != nil {
		return nil, err
	}
	c.host = h
	err := h.cfg.Secrets.KeepSecret(ctx, c.code, c.secret[:])
	if err == nil {
		err = c.create()
	}
	if err != nil {
		h.cfg.Log.Error("a new room could not be saved", "error", err)
		return nil, records.NotKept(err)
	}
	r := h.begin(c)
	h.rooms[c.code] = r
	return r, nil
}

func (h single) ForgetOthers(context.Context, string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	unread := 0
	for _, d := range h.damaged {
		if d.SetAside.IsZero() { // its log is unchanged and might contain the learner's name
			unread++
		}
	}
	return NotForgotten(unread)
}

func (h single) SweepOthers(context.Context) {}

func (h single) StopServing() {}

func (h single) Append(b journal.Batch, _ uint64) ([]int64, error) {
	return h.cfg.Logs.Append(context.Background(), b)
}

func (h single) MayDelete(func() error) error { return nil }

func (h single) Shown(*class.View) {}
