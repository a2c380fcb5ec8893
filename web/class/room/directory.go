package room

import (
	"context"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
)

// hosted is a room as the hub sees it.
type hosted interface {
	class.Room

	// fits reports whether a secret is the room's.
	fits(secret class.Secret) bool
	// entering reports whether a learner is a member and, if they may not enter, why.
	entering(ctx context.Context, who admission.Caller) (entered, error)
	// ready opens the run of a room that someone is about to view.
	ready(ctx context.Context) error
	// replay returns the result of [Hub.Replay].
	replay(ctx context.Context) (*class.Summary, error)
	// endClass and removeAll are for the operator; see [Hub.EndRoom] and [Hub.RemoveRoom].
	endClass(ctx context.Context) error
	removeAll(ctx context.Context) error
	// forget removes a learner who has deleted their data; see [Hub.Forget].
	forget(ctx context.Context, learner string) error
}

// directory finds and creates the rooms of a hub. It is [single] or, in a cluster, [shared].
type directory interface {
	// lookup returns the room with a code, or nil if there is none.
	lookup(ctx context.Context, code string) (hosted, error)
	// findDamaged returns the unreadable room with a code, or nil if there is none. lookup must be
	// called first.
	findDamaged(ctx context.Context, code string) (*damagedRoom, error)
	// open chooses an unused code for a new room, saves the room and starts it. The parameter most
	// is the maximum number of rooms on a server.
	open(ctx context.Context, c *core, most int) (hosted, error)
	// forgetOthers removes a learner from the rooms that this server does not run, and returns an
	// error if some of them cannot be read.
	forgetOthers(ctx context.Context, learner string) error
	// sweepOthers deletes the unused rooms that this server does not run.
	sweepOthers(ctx context.Context)
	// stopServing stops serving requests from other servers.
	stopServing()
}

// host is a room's server, as the room's goroutine sees it: [single] or, in a cluster, a [relay].
type host interface {
	// append appends to the room's log. In a cluster, epoch is the owner's epoch. After errMoved,
	// nothing more may be confirmed.
	append(b journal.Batch, epoch uint64) ([]int64, error)
	// mayDelete returns an error if the room must not be deleted here. It can call try, which
	// appends to the log.
	mayDelete(try func() error) error
	// shown is called with each new view.
	shown(v *class.View)
}

// single is the directory and host of a server that does not share its rooms.
type single struct{ *Hub }

func (h single) lookup(_ context.Context, code string) (hosted, error) {
	if r := h.find(code); r != nil {
		return r, nil
	}
	return nil, nil
}

func (h single) findDamaged(_ context.Context, code string) (*damagedRoom, error) {
	return h.damagedHere(class.NormalCode(code)), nil
}

func (h single) open(ctx context.Context, c *core, most int) (hosted, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
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

func (h single) forgetOthers(context.Context, string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	unread := 0
	for _, d := range h.damaged {
		if d.at.IsZero() { // its log is unchanged and might contain the learner's name
			unread++
		}
	}
	return notForgotten(unread)
}

func (h single) sweepOthers(context.Context) {}

func (h single) stopServing() {}

func (h single) append(b journal.Batch, _ uint64) ([]int64, error) {
	return h.cfg.Logs.Append(context.Background(), b)
}

func (h single) mayDelete(func() error) error { return nil }

func (h single) shown(*class.View) {}
