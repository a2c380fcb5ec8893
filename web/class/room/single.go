package room

import (
	"context"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
)

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
		h.cfg.Log.Error("failed to save a new room", "error", err)
		return nil, records.NotKept(err)
	}
	r := h.begin(u)
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

// NewShared returns a hub that shares its rooms with other servers. The function connect returns the
// directory of the rooms.
func NewShared(cfg Config, connect func(*Hub) (Directory, error)) (*Hub, error) {
	h := newHub(cfg)
	var err error
	if h.dir, err = connect(h); err != nil {
		h.cancel()
		return nil, err
	}
	h.wg.Go(h.sweepOften)
	return h, nil
}

// NewHub returns a hub with the saved rooms. Their runs are opened when someone joins. Rooms that
// nobody has used for [Limits.TTL] are deleted at startup and periodically after that.
func NewHub(ctx context.Context, cfg Config) (*Hub, error) {
	h := newHub(cfg)
	h.dir = single{h}
	kept, err := restore(ctx, &h.cfg)
	if err != nil {
		h.cancel()
		return nil, err
	}
	h.damaged = kept.damaged
	for _, c := range kept.rooms {
		err := fault.Do(h.cfg.Log, "starting a room", func() error {
			c.host = single{h}
			h.rooms[c.code] = h.begin(&Unstarted{core: c})
			return nil
		})
		if err != nil {
			h.damaged[c.code] = &Damaged{Hash: c.secret[:], Used: c.used}
		}
	}
	h.Sweep(ctx)
	h.wg.Go(h.sweepOften)
	return h, nil
}
