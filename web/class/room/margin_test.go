package room

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/journal"
)

// TestMarginIncludesItsEnds: answers at the ends of the margin count as right, although 0.65
// − 0.6 is more than 0.05 in binary floating point.
func TestMarginIncludesItsEnds(t *testing.T) {
	t.Parallel()
	right := 0.6
	p := &poll{Kind: class.Number, Right: &right, Within: 0.05}
	for choice, want := range map[string]bool{"0.65": true, "0.55": true, "0.6": true, "0.651": false, "0.549": false} {
		if got := p.isRight(choice); got != want {
			t.Errorf("%s is right: %v, want %v", choice, got, want)
		}
	}
}

// TestRestartKeepsNumbersBehindAGap: a member who was never saved leaves a gap in the
// numbers. Later members keep their numbers, and the next member to join gets a new one.
func TestRestartKeepsNumbersBehindAGap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	l := s.room(class.Options{Nicknames: true})
	l.class(4)
	s.end()

	again := begun(t, dir)
	room := journal.Owner{Kind: journal.Room, Name: l.Code()}
	var second []journal.Key
	if err := again.logs.Read(t.Context(), room, 0, func(r journal.Record) error {
		if strings.Contains(string(r.Data), `"member":2`) {
			second = append(second, r.Key())
		}
		return nil
	}); err != nil || len(second) != 2 { // one record for the member and one for the member's name
		t.Fatalf("the records of the second member are %v, %v; want 2, <nil>", second, err)
	}
	if err := again.logs.Compact(t.Context(), room, second); err != nil {
		t.Fatal(err)
	}
	again.end()

	last := begun(t, dir)
	r, err := last.Instruct(t.Context(), l.Code(), l.secret, caller("here"))
	if err != nil {
		t.Fatal(err)
	}
	for who, want := range map[string]int{"p1": 1, "p3": 3, "p4": 4} {
		if m, err := r.Join(t.Context(), caller(who), ""); err != nil || m.ID != want {
			t.Errorf("after the restart, %s is %+v, %v; want number %d", who, m, err, want)
		}
	}
	if m, err := r.Join(t.Context(), caller("p2"), ""); err != nil || m.ID != 5 {
		t.Errorf("the member who was never saved joins as %+v, %v; want number 5", m, err)
	}
}
