package room

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/session"
)

// breaks makes the room panic.
func breaks(l *classtest.Lesson) error {
	return ask(l.T.Context(), l, func(c *core) error { panic("a simulated bug in the room") })
}

// TestRoomSurvivesAPanic: the room restarts from its saved state, with the same people,
// votes, stage and presenter. Other rooms are not affected.
func TestRoomSurvivesAPanic(t *testing.T) {
	t.Parallel()
	s := begun(t, t.TempDir())
	other := s.room(class.Options{})
	other.Start("The capital of")
	untouched := other.View()
	l := s.room(class.Options{Nicknames: true})
	closed, err := l.OpenPresenter(t.Context(), classtest.Instructor, l.Secret)
	if err != nil {
		t.Fatal(err)
	}
	l.Start("The capital of")
	l.Enroll(3)
	poll := l.Does(class.Drive{Do: session.StepToken{}}, class.AskQuestion{ID: "q-order"}).Poll
	l.MustCast(1, class.Ballot{Choice: "a"})
	before := l.Settled("three are here", func(v *class.View) bool { return v.Here == 3 })

	if err := breaks(l); !errors.Is(err, class.ErrBroken) {
		t.Fatalf("the request that panics: got error %v, want %v", err, class.ErrBroken)
	}
	after := l.Settled("the run is back", func(v *class.View) bool {
		return v.State != nil &&
			v.Notice == brokenNotice
	})
	if after.Seq <= before.Seq || after.Here != 3 || after.Members != 3 || after.Leading != 1 ||
		after.Link() != before.Link() || after.Poll == nil || after.Poll.ID != poll.ID || after.Poll.Votes != 1 {
		t.Errorf("before %+v, afterwards %+v", before, after)
	}
	l.MustCast(2, class.Ballot{Choice: "b"})
	l.Does(class.Close{}, class.Reveal{}, class.Dismiss{}, class.Drive{Do: session.StepToken{}})
	closed()
	l.Leave(classtest.Learner(1))
	l.Settled("one has left", func(v *class.View) bool { return v.Here == 2 && v.Leading == 0 })
	if other.View() != untouched {
		t.Error("the other room changed")
	}
}

// TestRepeatedlyPanickingRoomIsClosed: a room that keeps panicking is closed until the
// server restarts; other rooms continue.
func TestRepeatedlyPanickingRoomIsClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	other, l := s.room(class.Options{}), s.room(class.Options{Title: "Broken"})
	l.Start("The capital of")
	for range mostFaults {
		if err := breaks(l); !errors.Is(err, class.ErrBroken) {
			t.Fatalf("breaks(l) = %v, want %v", err, class.ErrBroken)
		}
	}
	<-l.Done()
	_, err := s.Enter(t.Context(), l.Code(), classtest.Caller("p1"))
	if terms.RefusalOf(err).Code != class.CodeDamaged {
		t.Errorf("entering the room: got %v, want code = %q", err, class.CodeDamaged)
	}
	other.Start("The capital of")
	s.end()
	s = begun(t, dir)
	if r, err := s.Enter(t.Context(), l.Code(), classtest.Caller("p1")); err != nil || r.View().Title != "Broken" {
		t.Errorf("after a restart: got %v, want no error, r.View().Title = %q", err, "Broken")
	}
}

// TestJoinSurvivesAPanic: someone who joined just before the room panicked is still a
// member, although the join had not been saved yet.
func TestJoinSurvivesAPanic(t *testing.T) {
	t.Parallel()
	s := begun(t, t.TempDir())
	l := s.room(class.Options{})
	err := ask(t.Context(), l, func(c *core) error {
		if _, err := c.join(classtest.Caller("late")); err != nil {
			return err
		}
		panic("a simulated bug in the room")
	})
	if !errors.Is(err, class.ErrBroken) {
		t.Fatalf("got error %v, want %v", err, class.ErrBroken)
	}
	if _, err := l.Standing(t.Context(), "late"); err != nil {
		t.Errorf("the member's standing afterwards: got error %v, want none", err)
	}
}

// TestClassSeesThatItsRunFailed: when its run fails, the class sees a notice even if nobody
// sends a command, and the stage continues from the saved state. If the run cannot be
// restored, the notice explains what to do, and the instructor's next command works.
func TestClassSeesThatItsRunFailed(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Start("The capital of")
	before := l.Does(class.Drive{Do: session.StepToken{}})

	failed := s.driver.Last()
	failed.Fail()
	after := l.Settled("the run is back", func(v *class.View) bool {
		return v.Notice == brokenNotice && s.driver.Last() != failed && v.State != before.State
	})
	if after.Link() != before.Link() {
		t.Errorf("the stage is %s, want %s", after.Link(), before.Link())
	}
	if v := l.Does(class.Drive{Do: session.StepToken{}}); v.Notice != nil || len(v.State.Steps) != 2 {
		t.Errorf(`after the next command: notice %v, %d steps; want none, 2`, v.Notice, len(v.State.Steps))
	}

	s.driver.Fail(errors.New("no run can be made"))
	s.driver.Last().Fail()
	if v := l.Settled("it stopped", func(v *class.View) bool { return v.Notice == stoppedNotice }); v.State == nil {
		t.Error("the stage is empty")
	}
	s.driver.Fail(nil)
	if v := l.Does(class.Drive{Do: session.StepToken{}}); v.Notice != nil || len(v.State.Steps) != 3 {
		t.Errorf(`after the command: notice %v, %d steps; want none, 3`, v.Notice, len(v.State.Steps))
	}
}

// unreadable is a journal in which reading one room panics.
type unreadable struct {
	journal.Journal
	room string
}

func (u unreadable) Read(
	ctx context.Context, o journal.Owner, after int64, f func(journal.Record) error,
) error {
	if o.Name == u.room {
		panic("a simulated bug while a room is read")
	}
	return u.Journal.Read(ctx, o, after, f)
}

// TestRoomThatPanicsOnLoadIsDamaged: a room that panics while it is loaded is reported as
// damaged, and the others are loaded.
func TestRoomThatPanicsOnLoadIsDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	bad, good := s.room(class.Options{}), s.room(class.Options{})
	s.end()
	s = begun(t, dir, func(c *Config) { c.Logs = unreadable{c.Logs, bad.Code()} })
	if _, err := s.Enter(t.Context(), good.Code(), classtest.Caller("p1")); err != nil {
		t.Errorf("the other room: %v", err)
	}
	_, err := s.Enter(t.Context(), bad.Code(), classtest.Caller("p1"))
	if terms.RefusalOf(err).Code != class.CodeDamaged {
		t.Errorf("the room: got %v, want code = %q", err, class.CodeDamaged)
	}
}

// heldRun is a run whose commands block until the run is closed or the command is canceled.
type heldRun struct {
	*classtest.Run
	held, closed chan struct{}
}

func (r *heldRun) Do(ctx context.Context, c session.Command) (*session.State, error) {
	if _, held := c.(session.Finish); !held {
		return r.Run.Do(ctx, c)
	}
	close(r.held)
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.closed:
		return nil, errors.New("this run has ended")
	}
}

func (r *heldRun) Close() {
	close(r.closed)
	r.Run.Close()
}

// heldDriver opens heldRuns.
type heldDriver struct {
	class.Driver
	run *heldRun
}

func (d heldDriver) Open(ctx context.Context, room, link string) (class.Run, error) {
	run, err := d.Driver.Open(ctx, room, link)
	if err == nil {
		d.run.Run = run.(*classtest.Run)
	}
	return d.run, err
}

// TestStopInMidCommand: when the server stops while it executes a presenter's command, sent
// by a form or over a connection, the command is refused and no error is logged.
func TestStopInMidCommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		connection bool
		want       error
	}{"a form": {false, class.ErrGone}, "a connection": {true, context.Canceled}} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			run := &heldRun{held: make(chan struct{}), closed: make(chan struct{})}
			s := begun(t, "", func(cfg *Config) {
				cfg.Driver, cfg.Log = heldDriver{cfg.Driver, run}, slog.New(slog.NewTextHandler(&log, nil))
			})
			l := s.room(class.Options{})
			l.Start("The capital of")
			ctx, cut := context.WithCancel(t.Context())
			defer cut()
			done := make(chan error)
			go func() {
				_, err := l.Do(ctx, class.Drive{Do: session.Finish{}})
				done <- err
			}()
			<-run.held
			var err error
			if c.connection { // connections end first
				cut()
				err = <-done
				s.end()
			} else {
				s.end()
				err = <-done
			}
			if !errors.Is(err, c.want) {
				t.Errorf("the command: got error %v, want %v", err, c.want)
			}
			if strings.Contains(log.String(), "level=ERROR") {
				t.Errorf("the log has %s, want no error", &log)
			}
		})
	}
}
