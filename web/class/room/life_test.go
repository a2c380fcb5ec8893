package room

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/session"
)

// TestDeleteLeavesNothing: a deleted room disappears immediately for everyone, and leaves
// no trace on the disk.
// Promise: A deleted room leaves no trace on the disk.
func TestDeleteLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	l := s.room(class.Options{Title: "Zanzibar class", Nicknames: true})
	l.Start("Quetzalcoatl was a")
	l.Enroll(3)
	p := l.Does(class.AskNumber{Prompt: "Count of mangosteens?"}).Poll
	l.MustCast(1, class.Ballot{Choice: "271828"})
	notes, end := s.Broker().Subscribe(l.Code())
	defer end()
	if v, err := l.Do(t.Context(), class.Delete{}); err != nil || !v.Gone ||
		v.State != nil {
		t.Fatalf("deleting: got %+v, %v; want no error, Gone = true, State = nil", v, err)
	}
	if n := <-notes; n.Seq != l.View().Seq {
		t.Errorf("followers are notified of view %d, want %d", n.Seq, l.View().Seq)
	}
	<-l.Done()
	_, e1 := l.Vote(t.Context(), "p1", class.Ballot{Poll: p.ID, Choice: "1"})
	_, e2 := l.Join(t.Context(), classtest.Caller("p1"), "")
	_, e3 := l.Do(t.Context(), class.Lock{On: true})
	if e1 != class.ErrGone || e2 != class.ErrGone || e3 != class.ErrGone {
		t.Errorf("after the deletion: got %v, %v, %v; want %v, %v, %v", e1, e2, e3, class.ErrGone, class.ErrGone,
			class.ErrGone)
	}
	if !s.driver.Last().Closed {
		t.Error("its run has not ended")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("the folder has %v, %v; want at least 2 elements, <nil>", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, trace := range []string{"Zanzibar", "Quetzal", "Pupil 2", "mangosteens", "271828", l.Code()} {
			if strings.Contains(string(data), trace) {
				t.Errorf("%s is still in %s", trace, filepath.Base(file))
			}
		}
	}
}

// leaving is a driver whose Open cancels the caller's request and fails.
type leaving struct {
	class.Driver
	leave func()
}

func (d leaving) Open(ctx context.Context, _, _ string) (class.Run, error) {
	d.leave()
	return nil, ctx.Err()
}

// TestCreateCutShortLeavesNoRoom: if creating a room is interrupted, the room is deleted, because
// nobody would have its secret.
func TestCreateCutShortLeavesNoRoom(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	s := begun(t, t.TempDir(), func(c *Config) { c.Driver = leaving{leave: leave} })
	if _, _, err := s.Create(ctx, classtest.Caller(classtest.Instructor), class.Options{}); !errors.Is(err,
		context.Canceled) {
		t.Fatalf("creating the room: got error %v, want %v", err, context.Canceled)
	}
	logs, err := s.logs.Owners(t.Context(), journal.Room)
	if err != nil || len(logs) != 0 || len(s.all()) != 0 {
		t.Errorf("got rooms %v, logs %v, %v; want 0 elements, 0 elements, <nil>", s.all(), logs, err)
	}
}

// dropping is a journal that calls a function before it drops a log.
type dropping struct {
	journal.Journal
	before func()
}

func (d dropping) Drop(ctx context.Context, o journal.Owner) error {
	d.before()
	return d.Journal.Drop(ctx, o)
}

// TestDeleteCompletesWithoutTheCaller: a deletion completes even if the page that requested
// it is closed.
func TestDeleteCompletesWithoutTheCaller(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	s := begun(t, t.TempDir(), func(c *Config) { c.Logs = dropping{c.Logs, leave} })
	l := s.room(class.Options{})
	if _, err := l.Do(ctx, class.Delete{}); err != nil {
		t.Errorf("deleting: %v", err)
	}
	if s.find(l.Code()) != nil {
		t.Error("the deleted room is still listed")
	}
}

// TestForgetKeepsTheVote: learners who delete their data are removed from classes too; their
// votes still count, anonymously.
func TestForgetKeepsTheVote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	l := s.room(class.Options{Nicknames: true})
	if _, err := l.Join(t.Context(), classtest.Caller("rumpelstiltskin"), "Rumpel"); err != nil {
		t.Fatal(err)
	}
	l.Enroll(1)
	p := l.Does(class.AskQuestion{ID: "q-order"}).Poll
	if _, err := l.Vote(t.Context(), "rumpelstiltskin", class.Ballot{Poll: p.ID, Choice: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Forget(t.Context(), "rumpelstiltskin"); err != nil {
		t.Fatal(err)
	}
	if v := l.View(); v.Here != 1 || v.Members != 2 || v.Poll.Votes != 1 {
		t.Errorf("got %d present, %d members, %d votes; want 1, 2, 1", v.Here, v.Members, v.Poll.Votes)
	}
	if _, err := l.Standing(t.Context(), "rumpelstiltskin"); err != class.ErrStranger {
		t.Errorf("the learner is still known: got %v, want %v", err, class.ErrStranger)
	}
	l.Leave("rumpelstiltskin") // until now, this page was open
	if m, err := l.Join(t.Context(), classtest.Caller("rumpelstiltskin"), ""); err != nil || m.ID != 3 || m.Name != "" {
		t.Errorf(`joining again: got %+v, %v; want no error, ID = 3, Name = ""`, m, err)
	}
	l.Settled("two are here", func(v *class.View) bool { return v.Here == 2 })
	if err := s.Forget(t.Context(), "rumpelstiltskin"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"viz.db", "viz.db-wal"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || strings.Contains(string(data), "umpel") {
			t.Errorf("%s still contains their name (%v); want no error, data without %q", name, err, "umpel")
		}
	}
}

// TestSweepDeletesUnusedRooms: unused rooms are deleted when their time is up, but a room
// with an open page counts as used. A run without viewers is closed and later restored
// unchanged. Rooms do not age while the clock might be ahead.
// Promise: Unused rooms are deleted after their time, and never because a clock might be wrong.
func TestSweepDeletesUnusedRooms(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64 // by how much the clock is ahead, a time.Duration
	s := begun(t, "", func(c *Config) {
		c.Limits = Limits{TTL: time.Hour, Rest: time.Minute, Rooms: admission.Share{Most: 2}}
		now := c.Now
		c.Aged = func() time.Time { return now().Add(-time.Duration(ahead.Load())) }
	})
	old, used := s.room(class.Options{}), s.room(class.Options{})
	if _, _, err := s.Create(t.Context(), classtest.Caller(classtest.Instructor), class.Options{}); err == nil ||
		err.(*terms.Refusal).Code != terms.CodeFull {
		t.Errorf("a third room where two are allowed: got %v, want an error, err.(*terms.Refusal).Code = %q",
			err, terms.CodeFull)
	}
	old.Start("The capital of")
	used.Enroll(1)
	before := old.Does(class.Drive{Do: session.StepToken{}})
	s.clock.Pass(2 * time.Minute)
	s.Sweep(t.Context())
	if old.View().State != nil || used.View().State == nil {
		t.Error("the wrong runs are suspended")
	}
	if _, err := s.Enter(t.Context(), old.Code(), classtest.Caller("p1")); err != nil ||
		old.View().Link() != before.Link() {
		t.Errorf("the restored run differs: %v", err)
	}
	s.clock.Pass(2 * time.Hour)
	ahead.Store(int64(2 * time.Hour))
	s.Sweep(t.Context())
	if old.View().Gone {
		t.Error("a room was deleted because of a clock that might be ahead")
	}
	ahead.Store(0)
	s.Sweep(t.Context())
	if !old.View().Gone || used.View().Gone {
		t.Error("the wrong room was deleted")
	}
	s.room(class.Options{})
}

// TestRoomWithoutItsModelSaysSo: if the room's model is missing or has been replaced, the
// room still works and explains what happened.
func TestRoomWithoutItsModelSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	l := s.room(class.Options{})
	l.Start("The capital of")
	l.Enroll(1)
	l.Does(class.AskNext{Where: class.Here})
	if err := ask(t.Context(), l, func(c *core) error {
		c.link = "damaged"
		c.replaceRun(nil)
		c.publish()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Enter(t.Context(), l.Code(), classtest.Caller("p1")); err != nil {
		t.Fatal(err)
	}
	v := l.View()
	if v.State == nil || v.State.Started() || v.Poll != nil || v.Notice == nil ||
		!strings.Contains(v.Notice.Error(), "could not be restored") {
		t.Errorf("the room is %+v, want an empty stage with a notice that it could not be restored", v)
	}
	l.Start("A new text")
	if v := l.View(); v.Notice != nil || !v.State.Started() {
		t.Errorf("after the start, the room is %+v, want a started stage without a notice", v)
	}
	s.driver.Fail(errors.New("no memory"))
	if _, _, err := s.Create(t.Context(), classtest.Caller(classtest.Instructor), class.Options{}); err == nil ||
		len(s.all()) != 1 {
		t.Errorf("a room without a run: %v, %d rooms", err, len(s.all()))
	}
}

// TestPlayingRunIsShownAndSaved: a playing run is shown live, and saved every linkEvery.
func TestPlayingRunIsShownAndSaved(t *testing.T) {
	testmodel.Target(t) // loaded outside the bubble, since time is simulated in it
	synctest.Test(t, testPlaying)
}

func testPlaying(t *testing.T) {
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Start("The capital of")
	before := l.Does(class.Drive{Do: session.Play{}}).Seq
	run := s.driver.Last()
	for range 3 {
		if err := run.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	v := l.Settled("the run has moved", func(v *class.View) bool { return v.State.Cursor == run.State().Cursor })
	if v.Seq <= before {
		t.Error("the view is not the newest")
	}
	fixture.Pass(linkEvery)
	link, err := get(t.Context(), l.Room.(*Local), func(c *core) (string, error) { return c.link, nil })
	if err != nil || link != v.Link() {
		t.Errorf("the stage is not saved: %v", err)
	}
}

// TestCanceledCommandChangesNothing: a command whose sender disconnects halfway leaves the
// stage unchanged.
func TestCanceledCommandChangesNothing(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{Walk: "cache"})
	before := l.Does(class.GoTo{Step: 1})
	ctx, cancel := context.WithCancel(t.Context())
	run := s.driver.Last()
	n := 0
	stop := run.Watch(func() {
		if n++; n == 3 {
			cancel()
		}
	})
	_, err := l.Do(ctx, class.GoTo{Step: 7})
	stop()
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the command ended with %v, want %v", err, context.Canceled)
	}
	l.Does(class.Lock{On: true}) // the room still works
	if v := l.View(); v.Link() != before.Link() || v.Walk.Step != 1 {
		t.Errorf("the stage is at %v, step %d; want it unchanged, at step 1", v.State.Cursor, v.Walk.Step)
	}
}

// TestBrokenRunIsRebuilt: when a run fails, the room survives and restores the run at the
// same stage.
func TestBrokenRunIsRebuilt(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{Walk: "cache"})
	l.Start("The capital of")
	before := l.Does(class.Drive{Do: session.StepToken{}}).Link()
	s.driver.Last().Broken = errors.New("this run has ended")
	if _, err := l.Do(t.Context(), class.GoTo{Step: 1}); err == nil {
		t.Error("a failed run accepts a command")
	}
	if l.View().Link() != before {
		t.Error("the run is not restored at once")
	}
	if v := l.Does(class.Drive{Do: session.Pause{}}); v.Link() != before || v.State.Prompt != "The capital of" {
		t.Errorf("the restored run is %+v", v.State.Cursor)
	}
	if v := l.Does(class.GoTo{Step: 1}); v.Walk.Step != 1 {
		t.Errorf("the class is at %+v, want Step = 1", v.Walk)
	}
}
