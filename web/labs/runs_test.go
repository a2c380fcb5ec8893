package labs

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/wire"
)

// cut ends a connection as a network failure would.
func (w *visitor) cut() {
	w.t.Helper()
	w.stop()
	err := <-w.end
	w.end <- err
}

// long returns the values of a run that continues until it is canceled.
func long(press string) map[string]string {
	return map[string]string{"tokens": "400", "repeats": "50", "guess": guess.None, "sure": "1", "press": press}
}

// TestReconnectDuringARun: a page that has lost its connection sends its command again with the
// same press number, and returns to the same run.
func TestReconnectDuringARun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.open("cache")
	w.ask("set", long("7"))
	w.until(
		"first rows",
		func(m wire.Message) bool { return strings.Contains(panelOf(m, "lab-results"), "Cost of each token") },
	)
	w.cut()
	first := s.pages.runs.list[0]

	again := s.open("cache")
	if m := again.ask("set", long("7")); !strings.Contains(panelOf(m, "lab-run"), "Measuring") {
		t.Fatalf("the run was not resumed: %+v", m)
	}
	if n := len(s.pages.runs.list); n != 1 || first.ended() {
		t.Fatalf("got %d runs, the first ended: %v; want 1, false", n, first.ended())
	}
	again.ask("cancel", nil)
	end := again.done()
	if html := panelOf(end, "lab-results"); !strings.Contains(html, "ended early") || first.report == nil ||
		!first.report.Canceled {
		t.Error("the canceled run is not the one that was resumed")
	}

	// Another press starts another run.
	w = s.open("cache")
	w.ask("set", long("8"))
	if n := len(s.pages.runs.list); n != 2 {
		t.Errorf("%d runs after a second press, want 2", n)
	}
	w.ask("cancel", nil)
	w.done()
}

// TestReconnectAfterARun: a result that was measured while no page was connected is shown and not
// measured again, whether the page repeats the command or reconnects later without it.
func TestReconnectAfterARun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.open("draw")
	w.ask("set", values("draw", "run", "1", "guess", "10", "press", "7"))
	w.cut()
	<-s.pages.runs.list[0].done
	draw, _ := lab.Find("draw")
	for _, partial := range []bool{false, true} {
		f := s.pages.newFound(stage.English, draw.Info(terms.English), "10", s.pages.runs.list[0].report, partial)
		if (f.Verdict == nil) != partial {
			t.Errorf("partial report %v, judged %v; want only a finished run judged", partial, f.Verdict != nil)
		}
	}
	for _, command := range []map[string]string{
		values("draw", "run", "1", "guess", "10", "press", "7"),
		values("draw", "guess", "10", "press", "7"),
	} {
		again := s.open("draw")
		again.ask("set", command)
		if html := panelOf(again.done(), "lab-results"); !strings.Contains(html, "You said") ||
			!strings.Contains(html, "to about a tenth") {
			t.Error("the result is not shown")
		}
	}
	if n := len(s.pages.runs.list); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
	// The press does not cover changed values: running the lab with them needs a new press.
	again := s.open("draw")
	if m := again.ask("set", values("draw", "seed", "5", "press", "7")); panelOf(m, "lab-run") != "" {
		t.Error("other values resumed the same run")
	}
}

// TestReloadDuringARun: a reloaded page shows the run's progress. It contains the prediction, and
// the press number that its script uses to reconnect to the run.
func TestReloadDuringARun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.open("cache")
	begun := long("7")
	begun["guess"], begun[fieldAgain], begun[fieldCached] = "", "40", "5"
	w.ask("set", begun)
	w.until("first rows", func(m wire.Message) bool { return panelOf(m, "lab-results") != "" })
	page := s.get("/labs/cache?tokens=400&repeats=50", 200)
	if got := text(page.Find("#lab-run")); !strings.Contains(got, "Measuring: token") {
		t.Errorf("the run's status is %q, want it to contain %q", got, "Measuring: token")
	}
	if got := page.Find("[name=press]").AttrOr("value", ""); got != "7" {
		t.Errorf("press %q, want %q", got, "7")
	}
	if page.Find("#f-guess-again").AttrOr("value", "") != "40" || page.Find("#s-each svg").Length() != 1 {
		t.Error("the prediction or the first rows are missing")
	}
	// The run is not shown for other values or to other learners.
	if s.get("/labs/cache?tokens=12", 200).Find("[name=press]").AttrOr("value", "") != "" {
		t.Error("a page with other values shows the run")
	}
	l, _ := lab.Find("cache")
	v, err := l.Info(terms.English).Inputs.Read(terms.Values{"tokens": "400", "repeats": "50"})
	if err != nil || s.pages.runs.find("", keyOf("someone else", l.Info(terms.English), v)) != nil ||
		s.pages.runs.find("", keyOf("someone", l.Info(terms.English), v)) == nil {
		t.Errorf("the run was found for the wrong learner: %v", err)
	}
	w.ask("cancel", nil)
	w.done()
	if s.get("/labs/cache?tokens=400&repeats=50", 200).Find("[name=press]").AttrOr("value", "") != "" {
		t.Error("a run that has ended is still shown as in progress")
	}
}

// TestAbandonedRunIsCanceled: a run without viewers is canceled after the grace period, and a run
// with viewers is not.
func TestAbandonedRunIsCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r := &liveRun{cancel: cancel, done: make(chan struct{}), watching: 1}
	r.watch()
	r.leave(0)
	if r.alone != nil {
		t.Fatal("the run ended when one of two viewers left")
	}
	r.leave(time.Hour)
	r.watch()
	if r.alone != nil || ctx.Err() != nil {
		t.Fatal("the run ended although a viewer returned")
	}
	r.leave(0)
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("the run continued without viewers")
	}
}

// TestShutdownEndsRuns: when the server shuts down, runs end, whether or not they are being
// watched.
func TestShutdownEndsRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx, down := context.WithCancel(t.Context())
	s.pages.Context = ctx
	w := s.open("cache")
	w.ask("set", long("7"))
	w.until("first rows", func(m wire.Message) bool { return panelOf(m, "lab-results") != "" })
	w.cut()
	r := s.pages.runs.list[0]
	if r.ended() {
		t.Fatal("the run ended with its connection")
	}
	down()
	<-r.done
	if r.report == nil || !r.report.Canceled {
		t.Errorf("got %+v, %v; want r.report not nil, Canceled = true", r.report, r.err)
	}
}

// TestOldRunsAreDropped: the oldest ended runs are dropped, and runs in progress are kept.
func TestOldRunsAreDropped(t *testing.T) {
	t.Parallel()
	var s runs
	over := make(chan struct{})
	close(over)
	s.add(&liveRun{press: "going", done: make(chan struct{})})
	for range keptRuns + 5 {
		s.add(&liveRun{press: "over", done: over})
	}
	if len(s.list) != keptRuns || s.find("going", "") == nil || s.find("", "") == nil {
		t.Errorf("got %d runs, want %d, including the one in progress", len(s.list), keptRuns)
	}
}
