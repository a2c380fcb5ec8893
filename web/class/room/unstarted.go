package room

import (
	"context"
	"crypto/sha256"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
)

// Unstarted is a room whose goroutine is not running yet.
type Unstarted struct{ core *core }

// Code returns the room's code. It is "" until [Hub.ChooseCode].
func (u *Unstarted) Code() string { return u.core.code }

// SecretHash returns the hash of the instructor's secret.
func (u *Unstarted) SecretHash() [sha256.Size]byte { return u.core.secret }

// Create saves a new room of a cluster, whose owner has the given host and epoch. The room's log
// begins with the given records.
func (u *Unstarted) Create(h Host, epoch uint64, first ...records.Entry) error {
	u.core.host, u.core.epoch = h, epoch
	return u.core.create(first...)
}

// ChooseCode gives a new room a code that is not used by any room known to this server. It returns
// an error if there are too many rooms.
func (h *Hub) ChooseCode(u *Unstarted, most int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.choose(u.core, most)
}

// RestoreOwned reads a room of which this server has become the owner with the given epoch. The
// parameter secret is the hash of the room's secret. It returns [ErrMoved] if there already is a
// newer owner.
func (h *Hub) RestoreOwned(
	ctx context.Context, log journal.Info, secret [sha256.Size]byte, as Host, epoch uint64,
) (*Unstarted, error) {
	var c *core
	if err := fault.Do(h.cfg.Log, "reading a room", func() (err error) {
		c, err = restoreRoom(ctx, &h.cfg, log, secret[:])
		return err
	}); err != nil {
		return nil, err
	}
	if c == nil {
		return nil, (&Damaged{SetAside: h.cfg.Now()}).Err()
	}
	if c.epoch != epoch {
		return nil, ErrMoved
	}
	c.host = as
	// The view's number is saved immediately, since the next owner's views must have higher
	// numbers.
	if err := c.saveSeq(); err != nil {
		return nil, err
	}
	c.keptSeq = c.seq
	return &Unstarted{c}, nil
}

// Start starts a room. Before anyone can find it, start calls begun, which returns a function to run
// in a goroutine that [Hub.Close] waits for. The hub is locked during begun.
func (h *Hub) Start(u *Unstarted, begun func(*Local) (watch func())) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return class.ErrGone
	}
	r := h.begin(u.core)
	h.rooms[r.code] = r
	h.wg.Go(begun(r))
	return nil
}

// Drop removes a room that this server no longer runs.
func (h *Hub) Drop(r *Local) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rooms[r.code] == r {
		delete(h.rooms, r.code)
	}
}
