package room

import (
	"context"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
)

// Stats contains statistics about all rooms at one point in time.
type Stats struct {
	Rooms   int
	Members int // of all rooms
	Here    int // members with an open page
}

// Stats returns the hub's statistics.
func (h *Hub) Stats() Stats {
	var s Stats
	for _, r := range h.all() {
		v := r.View()
		s.Rooms, s.Members, s.Here = s.Rooms+1, s.Members+v.Members, s.Here+v.Here
	}
	return s
}

// EndRoom lets the operator end a class, like the command [class.End]. The code no longer works;
// the instructor can open the room again. A damaged room is left unchanged: nobody can join
// it, and its data might still be repaired.
//
// Errors: [class.ErrNoRoom], [class.CodeDamaged], [class.ErrKept].
func (h *Hub) EndRoom(ctx context.Context, code string) error {
	r, err := h.dir.Lookup(ctx, code)
	if err != nil {
		return err
	}
	if r == nil {
		if d, err := h.dir.FindDamaged(ctx, code); err != nil {
			return err
		} else if d != nil {
			code = class.NormalCode(code)
			return terms.Refuse(class.CodeDamaged, "class.refused.damaged", "code", code)
		}
		return class.ErrNoRoom
	}
	return r.EndClass(ctx)
}

// RemoveRoom lets the operator delete a room and all its data, even if the room is damaged.
//
// Errors: [class.ErrNoRoom], [class.CodeKept].
func (h *Hub) RemoveRoom(ctx context.Context, code string) error {
	r, err := h.dir.Lookup(ctx, code)
	if err != nil {
		return err
	}
	if r != nil {
		if err := r.RemoveAll(ctx); !isDamaged(err) {
			return err
		}
	}
	d, err := h.dir.FindDamaged(ctx, code)
	switch {
	case err != nil:
		return err
	case d == nil:
		return class.ErrNoRoom
	}
	return h.RemoveDamaged(ctx, class.NormalCode(code))
}
