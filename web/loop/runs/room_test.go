package runs

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

// openRoom opens a room's run as a hub does.
func openRoom(t *testing.T, rs *Registry, code, link string) *RoomRun {
	t.Helper()
	r, err := rs.OpenRoom(context.Background(), code, link)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func do(t *testing.T, r *RoomRun, c session.Command) *session.State {
	t.Helper()
	st, err := r.Do(context.Background(), c)
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	return st
}

// TestRoomRunIsNeverDropped: a room's run belongs to no learner. As long as the room has the run
// open, the run is never evicted, never expires, and is never dropped in favor of another run. Its
// memory counts like that of any other run.
func TestRoomRunIsNeverDropped(t *testing.T) {
	testmodel.Target(t) // loaded outside the bubble, in real time
	synctest.Test(t, roomRunStays)
}

func roomRunStays(t *testing.T) {
	probe, _ := join(t, registry(t, Limits{}), "a", "")
	must(t, probe, session.Start{Prompt: "Once upon a time"})
	must(t, probe, session.StepStage{})
	// There is only enough memory for one run.
	rs := registry(t, Limits{MemoryBytes: probe.bytes.Load() + 1, IdleExpiry: time.Nanosecond})
	rs.cfg.Places = admission.NewPool(admission.Share{Most: 2}, nil)
	room := openRoom(t, rs, "ABC234", "")
	do(t, room, session.Start{Prompt: "Once upon a time"})
	if rs.memory.total.Load() == 0 {
		t.Error("the memory of the room's run is not counted")
	}
	own := room.run
	if rs.Find("a", own.id) != nil || rs.Find("room ABC234", own.id) != own {
		t.Error("a learner finds the room's run by its id")
	}
	if r, v := join(t, rs, "a", own.id); r == own {
		t.Error("a learner joins the room's run by its id")
	} else {
		rs.Leave(r, v)
	}
	for range 4 { // fill the registry and use up its memory several times
		r, v := join(t, rs, "a", "")
		must(t, r, session.Start{Prompt: "The dog ran"})
		rs.Leave(r, v)
	}
	fixture.Pass(time.Hour) // the registry looks for expired runs every second
	if st := room.State(); st.Step() == nil || own.latest.Load() == nil {
		t.Error("the run was evicted")
	}
	do(t, room, session.StepStage{})
	room.Close()
	<-own.done
	if _, err := room.Do(context.Background(), session.StepStage{}); !errors.Is(err, ErrGone) {
		t.Errorf("a command after the run's end: got %v, want ErrGone", err)
	}
	if st := room.State(); st == nil || st.Prompt != "Once upon a time" {
		t.Errorf("after the run's end, its state is %+v, want a state with Prompt = %q", st, "Once upon a time")
	}
}

// TestRoomRunRestoredFromLink: a run that was closed is rebuilt from its link, bit for bit, with
// the same cursor.
func TestRoomRunRestoredFromLink(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	room := openRoom(t, rs, "ABC234", "")
	do(t, room, session.Start{Prompt: "Once upon a time"})
	do(t, room, session.StepToken{})
	st := do(t, room, session.StepStage{})
	for range 3 {
		st = do(t, room, session.StepStage{})
	}
	link := session.LinkOf(st)
	room.Close()
	again := openRoom(t, rs, "ABC234", link).State()
	if again.Cursor != (session.Cursor{Step: 2, Stage: infer.KindFilter}) || again.Cursor != st.Cursor ||
		session.LinkOf(again) != link {
		t.Errorf("the rebuilt run is at %v, want %v", again.Cursor, st.Cursor)
	}
	for i, z := range st.Step().Logits {
		if again.Step().Logits[i] != z {
			t.Fatalf("logit %d is %v, want %v", i, again.Step().Logits[i], z)
		}
	}
	var damaged *terms.Refusal
	if r, err := rs.OpenRoom(context.Background(), "ABC234", link[:20]); !errors.As(err, &damaged) || r != nil {
		t.Errorf("a damaged link gives %v, %v; want nil, an error of type *terms.Refusal", r, err)
	}
}

// TestRoomRunIsWatched: a watcher is called after every change until it is stopped. Changes made
// together cause a single call.
func TestRoomRunIsWatched(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	room := openRoom(t, rs, "ABC234", "")
	calls := make(chan uint64, 1000)
	stop := room.Watch(func() { calls <- room.State().Version })
	st := do(t, room, session.Start{Prompt: "Once upon a time"})
	for v := uint64(0); v != st.Version; {
		select {
		case v = <-calls:
		case <-time.After(browser.Patience):
			t.Fatalf("no call for version %d", st.Version)
		}
	}
	stop()
	stop()                                                            // a second call has no effect
	browser.Eventually(t, func() bool { return !room.run.watched() }) // the last call has returned
	for len(calls) > 0 {
		<-calls
	}
	do(t, room, session.StepStage{})
	if room.run.watched() || len(calls) > 0 {
		t.Error("the watcher was called after it was stopped")
	}
}
