package remote

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
)

// TestQuarantinedClusterRoomIsReported: if a room in a cluster was set aside, every server says so,
// even a server that had the room open. No server claims that the room never existed. The room's
// code is not reused, and the room is deleted like any other: by the operator, or when it has
// expired.
func TestQuarantinedClusterRoomIsReported(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b, c := u.server("a"), u.server("b"), u.server("c")
	l, old := a.teach(class.Options{}), a.teach(class.Options{})
	b.enters(l, 1)
	room := func(l *classtest.Lesson) journal.Owner { return journal.Owner{Kind: journal.Room, Name: l.Code()} }
	for _, x := range []*classtest.Lesson{l, old} {
		if err := u.logs.SetAside(t.Context(), room(x), u.clock.Now()); err != nil {
			t.Fatal(err)
		}
		u.lapse(x.Code())
		for f, tick := a.shared().relayOf(x.Code()), time.NewTicker(quick.Beat); f.owned(); <-tick.C {
		} // until the owner has noticed the damage
	}
	day := u.clock.Now().Format("January 2, 2006")
	for _, p := range []*post{c, b, a} {
		p.refuses(l, day)
	}
	if taken, err := c.shared().taken(t.Context(), l.Code()); err != nil || !taken {
		t.Errorf("the code can be reused: %v, %v", taken, err)
	}
	if taken, err := c.shared().taken(t.Context(), "AAAAAA"); err != nil || taken {
		t.Errorf("an unused code is reported as taken: %v, %v", taken, err)
	}
	if err := b.EndRoom(t.Context(), l.Code()); !saysDamaged(err) {
		t.Errorf("ending the room: got error %v, want CodeDamaged", err)
	}

	for _, p := range []*post{b, c} {
		if err := p.RemoveRoom(t.Context(), l.Code()); (err == nil) != (p == b) {
			t.Errorf("removing the room on %s: got error %v, want one only on the server that does not own it",
				p.name, err)
		}
	}
	if _, err := c.Enter(t.Context(), l.Code(), classtest.Caller("p9")); !errors.Is(err, class.ErrNoRoom) {
		t.Errorf("a room that was removed: got error %v, want %v", err, class.ErrNoRoom)
	}
	c.sweepsAside(t)
	c.refuses(old, day)
	u.clock.Pass(c.Config().Limits.TTL + time.Hour)
	c.sweepsAside(t)
	if _, err := c.Enter(t.Context(), old.Code(), classtest.Caller("p9")); !errors.Is(err, class.ErrNoRoom) {
		t.Errorf("a room that was set aside long ago: got error %v, want %v", err, class.ErrNoRoom)
	}
}

// owned reports whether this server owns the room.
func (f *relay) owned() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.here != nil
}

// refuses checks that a server reports that a room was set aside on the given day.
func (p *post) refuses(l *classtest.Lesson, day string) {
	t := p.u.t
	t.Helper()
	_, entering := p.Enter(t.Context(), l.Code(), classtest.Caller("p9"))
	_, teaching := p.Instruct(t.Context(), l.Code(), l.Secret, classtest.Caller(classtest.Instructor))
	for _, err := range []error{entering, teaching} {
		if !saysDamaged(err) || !strings.Contains(err.Error(), "was set aside on "+day) {
			t.Errorf("%s on a room that was set aside: %v", p.name, err)
		}
	}
}

func (p *post) sweepsAside(t *testing.T) {
	t.Helper()
	logs, err := p.Config().Logs.Owners(t.Context(), journal.Room)
	if err == nil {
		err = p.shared().sweepAside(t.Context(), logs)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestClusterRoomWithoutSecretIsDamaged: in a cluster, a room whose log has no readable secret
// counts as damaged. People who delete their data see a notice that this room could not be read, and
// the room's data is not changed.
func TestClusterRoomWithoutSecretIsDamaged(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a := u.server("a")
	const code = "QQQQQQ"
	begun := records.New(records.TypeBegun, "1", records.TypeBegun, records.Begun{At: u.clock.Now()}).Record
	batch := journal.Batch{
		Owner: journal.Owner{Kind: journal.Room, Name: code}, At: u.clock.Now(), Records: []journal.Record{begun},
	}
	if _, err := u.logs.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	_, err := a.Enter(t.Context(), code, classtest.Caller("p9"))
	if !saysDamaged(err) || !strings.Contains(err.Error(), "at the moment") {
		t.Errorf("entering: got error %v, want CodeDamaged with \"at the moment\"", err)
	}
	if taken, err := a.shared().taken(t.Context(), code); err != nil || !taken {
		t.Errorf("taken() = %v, %v; want true, <nil>", taken, err)
	}
	if left, err := u.logs.Owners(t.Context(), journal.Room); err != nil || len(left) != 1 {
		t.Errorf("the logs left are %v, %v; want 1, <nil>", left, err)
	}
}

// saysDamaged reports whether an error means that a room's data could not be read.
func saysDamaged(err error) bool {
	refused, ok := terms.AsRefusal(err)
	return ok && refused.Code == class.CodeDamaged
}
