package room

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/store"
)

// Create creates a room and its run. The given caller is the first presenter. Only Create returns
// the secret: the hub stores just its hash.
func (h *Hub) Create(ctx context.Context, who admission.Caller, o class.Options) (class.Room, class.Secret, error) {
	title, err := class.CleanTitle(o.Title)
	if err != nil {
		return nil, class.Secret{}, err
	}
	if o.Walk != "" && h.cfg.Course.Walk(o.Walk) == nil {
		return nil, class.Secret{}, terms.Refuse(class.CodeWalk, "class.refused.no_such_walk", "name",
			strconv.Quote(o.Walk))
	}
	if h.cfg.NewRooms.Allow(who) > 0 {
		return nil, class.Secret{}, terms.Refuse(terms.CodeBusy, "class.refused.rooms_fast")
	}
	if h.cfg.Space(ctx) >= store.SpaceForKnown {
		return nil, class.Secret{}, records.NotKept(store.ErrScarce)
	}
	most := h.mostRooms(who)
	h.makeSpace(ctx, most)
	return h.create(ctx, who, o, title, most)
}

// create is [Hub.Create] after the limits have been checked.
func (h *Hub) create(
	ctx context.Context, who admission.Caller, o class.Options, title string, most int,
) (class.Room, class.Secret, error) {
	secret := class.NewSecret()
	c := &core{cfg: &h.cfg, secret: secret.Hash(), begun: h.cfg.Now(), used: h.cfg.Now()}
	c.data = records.Data{
		Title: title, Language: terms.In(ctx).Tag, Walk: o.Walk,
		Nicknames: o.Nicknames, NamesFall: o.Nicknames && o.NamesFall, Alone: o.Alone,
		Seed: newSeed(),
	}
	c.presenter = who.Learner
	c.empty()
	u := &Unstarted{core: c}
	r, err := h.dir.Open(ctx, u, most)
	if err != nil {
		return nil, class.Secret{}, err
	}
	if err := u.running.Wake(ctx); err != nil {
		// The caller does not get the secret, so nobody could use the room.
		return nil, class.Secret{}, errors.Join(err, u.running.RemoveAll(ctx))
	}
	return r, secret, r.Ready(ctx)
}

// choose gives a new room a code that is not used by any room known to this server. It returns an
// error if there are too many rooms. The caller holds the hub's lock.
func (h *Hub) choose(c *core, most int) error {
	if h.ctx.Err() != nil {
		return class.ErrGone
	}
	if len(h.rooms) >= most {
		return terms.Refuse(terms.CodeFull, "class.refused.rooms", "n", len(h.rooms))
	}
	for c.code = class.NewCode(); h.rooms[c.code] != nil || h.damaged[c.code] != nil; c.code = class.NewCode() {
	}
	return nil
}

// unusedAfter is how long a full server keeps a room that has had no activity.
const unusedAfter = 10 * time.Minute

// mostRooms returns the maximum number of rooms on the server, including the one that the caller is
// about to create.
func (h *Hub) mostRooms(who admission.Caller) int {
	l := h.cfg.Limits.Rooms
	if l.Newcomers > 0 && !who.Known(h.cfg.Now()) {
		return min(l.Newcomers, l.Most)
	}
	return l.Most
}

// makeSpace deletes the oldest unused room if the number of rooms has reached most.
func (h *Hub) makeSpace(ctx context.Context, most int) {
	all := h.all()
	if len(all) < most {
		return
	}
	var oldest *Local
	var begun time.Time
	for _, r := range all {
		since, err := get(ctx, r, func(c *core) (time.Time, error) {
			if c.unused() && h.cfg.Now().Sub(c.used) > unusedAfter {
				return c.begun, nil
			}
			return time.Time{}, nil
		})
		if err == nil && !since.IsZero() && (oldest == nil || since.Before(begun)) {
			oldest, begun = r, since
		}
	}
	if oldest == nil {
		return
	}
	if err := oldest.RemoveAll(ctx); err != nil {
		h.cfg.Log.Error("failed to delete an unused room", "error", err)
	}
}

// ChooseCode gives a new room a code that is not used by any room known to this server. It returns
// an error if there are too many rooms.
func (h *Hub) ChooseCode(u *Unstarted, most int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.choose(u.core, most)
}
