package room

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/store"
)

// TestNothingCountsWithoutTheDatabase: if the database is deleted during a class, the server
// confirms nothing from then on and tells everyone why.
// Promise: If the database is lost during a class, no vote is confirmed, and everyone sees the reason.
func TestNothingCountsWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be deleted on Windows")
	}
	dir := t.TempDir()
	s := begun(t, dir)
	l := s.room(class.Options{Nicknames: true})
	l.Enroll(2)
	l.Does(class.AskQuestion{ID: "q-order"})
	l.MustCast(1, class.Ballot{Choice: "a"})
	l.Settled("the vote", func(v *class.View) bool { return v.Poll.Votes == 1 })
	if err := os.Remove(filepath.Join(dir, "viz.db")); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, class.ErrKept) || !strings.Contains(err.Error(), "deleted, moved or replaced") {
			t.Errorf("%s: got %v, want ErrKept with the reason", what, err)
		}
	}
	_, err := l.Cast(2, class.Ballot{Choice: "b"})
	refused("a vote", err)
	_, err = l.Join(t.Context(), classtest.Caller(classtest.Learner(2)), "Ada")
	refused("another nickname", err)
	_, err = l.Do(t.Context(), class.Remove{Member: 2})
	refused("a command", err)
	_, _, err = s.Create(t.Context(), classtest.Caller("another"), class.Options{})
	refused("a new room", err)
	refused("forgetting", s.Forget(t.Context(), classtest.Learner(1)))
	if v := l.View(); v.Poll.Votes != 1 {
		t.Errorf("the class has %d votes, want 1", v.Poll.Votes)
	}
	list, err := l.Attendees(t.Context(), l.Secret)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range list {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	classtest.Same(t, "names that the instructor sees", names, "Pupil 1", "Pupil 2")
}

// TestNoNewRoomsWithoutSpace: when space is low, new rooms are refused, and existing rooms
// continue.
func TestNoNewRoomsWithoutSpace(t *testing.T) {
	t.Parallel()
	space := store.SpaceForSmall
	s := begun(t, "", func(c *Config) { c.Space = func(context.Context) store.Space { return space } })
	l := s.room(class.Options{})
	l.Enroll(1)
	space = store.SpaceForKnown
	_, _, err := s.Create(t.Context(), classtest.Caller("another"), class.Options{})
	if !errors.Is(err, class.ErrKept) || !strings.Contains(err.Error(), "little space") {
		t.Errorf("a new room: got error %v, want %v containing %q", err, class.ErrKept, "little space")
	}
	l.Enroll(2)
	l.Does(class.AskQuestion{ID: "q-order"})
	l.MustCast(2, class.Ballot{Choice: "a"})
}
