package room

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
)

// TestDamagedRoomsAreListedAndRemoved: the operator sees a room that was set aside and can
// delete it.
func TestDamagedRoomsAreListedAndRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	sound, lost := s.room(class.Options{}), s.room(class.Options{})
	owner := journal.Owner{Kind: journal.Room, Name: lost.Code()}
	if err := s.cfg.Logs.SetAside(t.Context(), owner, s.cfg.Now()); err != nil {
		t.Fatal(err)
	}
	s.end()
	s = begun(t, dir)
	listed := func() (codes, faulty []string) {
		t.Helper()
		list, err := records.List(t.Context(), s.cfg.Logs, s.cfg.Secrets)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			codes = append(codes, r.Code)
			if r.Fault != "" {
				faulty = append(faulty, r.Code)
			}
		}
		return codes, faulty
	}
	if all, faulty := listed(); len(all) != 2 || !slices.Equal(faulty, []string{lost.Code()}) {
		t.Errorf("the rooms are %v, damaged %v; want 2 rooms, with %s damaged", all, faulty, lost.Code())
	}
	if refused, ok := terms.AsRefusal(s.EndRoom(t.Context(), lost.Code())); !ok || refused.Code != class.CodeDamaged {
		t.Errorf("ending it: got %+v, want ok = true, Code = %q", refused, class.CodeDamaged)
	}
	if all, faulty := listed(); len(all) != 2 || len(faulty) != 1 {
		t.Errorf("after it could not be ended, the rooms are %v, damaged %v", all, faulty)
	}
	if err := s.RemoveRoom(t.Context(), lost.Code()); err != nil {
		t.Error(err)
	}
	if err := s.RemoveRoom(t.Context(), lost.Code()); !errors.Is(err, class.ErrNoRoom) {
		t.Errorf("removing it again: got error %v, want %v", err, class.ErrNoRoom)
	}
	if all, faulty := listed(); !slices.Equal(all, []string{sound.Code()}) || faulty != nil {
		t.Errorf("afterwards, the rooms are %v, damaged %v; want %v, nil", all, faulty, []string{sound.Code()})
	}
}

// TestUnreadRoomExpires: a room whose log can never be read expires like other unused
// rooms.
func TestUnreadRoomExpires(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	unread := s.room(class.Options{})
	s.end()
	s = begun(t, dir, func(c *Config) { c.Logs = oneUnread{c.Logs, unread.Code()} })
	if s.DamagedHere(unread.Code()) == nil {
		t.Fatal("the room was read")
	}
	s.clock.Pass(s.TTL() + time.Hour)
	s.Sweep(t.Context())
	if s.DamagedHere(unread.Code()) != nil {
		t.Error("the room has not expired")
	}
}
