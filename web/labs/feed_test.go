package labs

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/wire"
)

// A conn is a [wire.Conn] that is always ready and passes messages to a function.
type conn func(wire.Message) error

func (c conn) Send(m wire.Message) error { return c(m) }
func (conn) Ready() error                { return nil }

// A visitor is a page connected to a lab's feed.
type visitor struct {
	t    *testing.T
	in   chan wire.Command
	out  chan wire.Message
	stop context.CancelFunc
	end  chan error
	n    uint64
}

func (s *site) open(name string) *visitor { return s.openFor("someone", name) }

func (s *site) openFor(learner, name string) *visitor {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f, err := s.pages.Feeds()["lab"](
		ctx, wire.Visit{Caller: admission.Caller{Learner: learner}, Query: url.Values{"name": {name}}},
	)
	if err != nil {
		s.t.Fatal(err)
	}
	w := &visitor{
		t: s.t, in: make(chan wire.Command, wire.Waiting), out: make(chan wire.Message, 4096), stop: cancel,
		end: make(chan error, 1),
	}
	go func() {
		w.end <- f.Serve(ctx, w.in, conn(func(m wire.Message) error { w.out <- m; return nil }))
	}()
	s.t.Cleanup(func() {
		cancel()
		if err := <-w.end; err != nil && !errors.Is(err, context.Canceled) {
			s.t.Error(err)
		}
	})
	return w
}

// ask sends a command and returns the next message, which is the response.
func (w *visitor) ask(name string, values map[string]string) wire.Message {
	w.t.Helper()
	fields := []byte("{}")
	if values != nil {
		var err error
		if fields, err = json.Marshal(map[string]any{"values": values}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.n++
	w.in <- wire.Command{Name: name, N: w.n, Fields: fields}
	return w.until("the answer", func(m wire.Message) bool { return m.Ack == w.n })
}

func (w *visitor) until(what string, is func(wire.Message) bool) wire.Message {
	w.t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case m := <-w.out:
			if is(m) {
				return m
			}
		case <-late:
			w.t.Fatalf("timed out waiting for %s", what)
		}
	}
}

func (w *visitor) done() wire.Message {
	w.t.Helper()
	return w.until("the end of the run", func(m wire.Message) bool { return m.Done })
}

// panelOf returns the HTML of a panel in a message, or "" if the message does not have the panel.
func panelOf(m wire.Message, id string) string {
	at := slices.IndexFunc(m.Panels, func(p wire.Panel) bool { return p.ID == id })
	if at < 0 {
		return ""
	}
	return m.Panels[at].HTML
}

// values returns a lab's settings for a quick run, with more values added.
func values(name string, more ...string) map[string]string {
	v := map[string]string{}
	q, _ := url.ParseQuery(small[name])
	for k := range q {
		v[k] = q.Get(k)
	}
	for i := 0; i < len(more); i += 2 {
		v[more[i]] = more[i+1]
	}
	return v
}

// TestFeedRunsEveryLab: each lab can be run through its feed. Its report is kept and is still shown
// after a reload.
// Promise: Every lab runs on your own machine, and its report survives a reload.
func TestFeedRunsEveryLab(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	s := newSite(t)
	for _, l := range lab.All() {
		i := l.Info(terms.English)
		t.Run(i.Name, func(t *testing.T) {
			s.t = t
			w := s.open(i.Name)
			guessed, asks := guess.Choice{Key: guess.None}, len(faces[i.Name].Choices) > 0
			if asks {
				guessed = faces[i.Name].Choices[1]
			}
			m := w.ask("set", values(i.Name, "run", "1", "sure", "1", "guess", guessed.Key))
			if m.Error != nil || !strings.Contains(panelOf(m, "lab-run"), "Measuring") {
				t.Fatalf("the run did not begin: %+v", m)
			}
			data, ok := m.Data.(feedData)
			if !ok || !strings.HasPrefix(data.Link, "/labs/"+i.Name) {
				t.Fatalf("the message has no link: %+v", m.Data)
			}
			end := w.done()
			results := panelOf(end, "lab-results")
			if strings.Contains(results, "You said") != asks || !strings.Contains(results,
				stage.English.T(guessed.Text)) ||
				!strings.Contains(results, `class="part"`) {
				t.Errorf("got results %s, want the guess in words next to the report", results[:min(len(results), 800)])
			}
			if page := s.get(data.Link, 200); page.Find(".about").Length() != 1 {
				t.Error("the report was not kept")
			}
		})
	}
}

// TestPredictionComesFirst: nothing runs before the user makes or declines a prediction.
func TestPredictionComesFirst(t *testing.T) {
	t.Parallel()
	w := newSite(t).open("draw")
	for _, guess := range []string{"", "nonsense"} {
		m := w.ask("set", values("draw", "run", "1", "guess", guess))
		if !strings.Contains(panelOf(m, "guess-error"), "First say what you expect") || panelOf(m, "lab-run") != "" {
			t.Errorf("guess %q: got message %+v, want the page to ask for a guess and to run nothing", guess, m)
		}
	}
	if m := w.ask("set", values("draw", "run", "1", "guess", guess.None)); panelOf(m, "lab-run") == "" {
		t.Errorf("declining to guess: got %+v, want a run", m)
	}
	if html := panelOf(w.done(), "lab-results"); strings.Contains(html, "You said") ||
		!strings.Contains(html, "The distance falls from") {
		t.Error("without a prediction, got a verdict, want only the finding")
	}
}

// TestPredictionIsFixedDuringTheRun: a choice made during a measurement does not change the
// prediction made before the measurement.
func TestPredictionIsFixedDuringTheRun(t *testing.T) {
	t.Parallel()
	w := newSite(t).open("draw")
	before, later := faces["draw"].Choices[0], faces["draw"].Choices[3]
	run, change := values("draw", "run", "1", "sure", "1", "guess", before.Key), values("draw", "guess", later.Key)
	for _, v := range []map[string]string{run, change} { // the second is sent during the run that the first starts
		fields, err := json.Marshal(map[string]any{"values": v})
		if err != nil {
			t.Fatal(err)
		}
		w.n++
		w.in <- wire.Command{Name: "set", N: w.n, Fields: fields}
	}
	results := panelOf(w.done(), "lab-results")
	if !strings.Contains(results, stage.English.T(before.Text)) || strings.Contains(results,
		stage.English.T(later.Text)) {
		t.Errorf(
			"the results are compared with another prediction: got %.800s, want it with %q and without %q",
			results, stage.English.T(before.Text), stage.English.T(later.Text),
		)
	}
}

// TestLargeRunAsksFirst: before a long run, the feed sends an estimate, and the lab runs only after
// the user confirms. If the run is canceled, its results are kept.
func TestLargeRunAsksFirst(t *testing.T) {
	t.Parallel()
	w := newSite(t).open("cache")
	large := map[string]string{"tokens": "400", "repeats": "50", "guess": guess.None, "run": "1"}
	m := w.ask("set", large)
	if html := panelOf(m, "lab-note"); !strings.Contains(html, "This takes about") ||
		!strings.Contains(html, "Run it anyway") || panelOf(m, "lab-run") != "" {
		t.Fatalf("the page did not ask for confirmation: %s", html)
	}
	large["sure"] = "1"
	delete(large, "run")
	if m = w.ask("set", large); !strings.Contains(panelOf(m, "lab-run"), "Measuring") {
		t.Fatalf("the run did not begin: %+v", m)
	}
	w.until(
		"first rows",
		func(m wire.Message) bool { return strings.Contains(panelOf(m, "lab-results"), "Cost of each token") },
	)
	w.ask("cancel", nil)
	end := w.done()
	if html := panelOf(end, "lab-run"); !strings.Contains(html, "Canceled after") {
		t.Errorf("the run's status is %s, want it to contain %q", html, "Canceled after")
	}
	if html := panelOf(end, "lab-results"); !strings.Contains(html, "ended early") || !strings.Contains(html, "<svg") {
		t.Error("the measured results were not kept")
	}
}

// TestErrorNextToField: an error message appears next to a field with an out-of-range value, and a
// valid value removes the message.
func TestErrorNextToField(t *testing.T) {
	t.Parallel()
	w := newSite(t).open("cache")
	m := w.ask("set", values("cache", "tokens", "0"))
	if m.Error == nil || m.Error.Field != "tokens" || m.Error.Code != terms.CodeRange {
		t.Fatalf("got %+v, want an error, Field = %q, Code = %q", m.Error, "tokens", terms.CodeRange)
	}
	if got := panelOf(m, "err-tokens"); !strings.Contains(
		got, "Tokens to write is 0; it must be a whole number from 1 to 2048 tokens.",
	) {
		t.Errorf("next to the field: got %s, want the range, 1 to 2048 tokens", got)
	}
	if got := panelOf(m, "err-prompt"); !strings.Contains(got, "></p>") {
		t.Errorf("next to another field: got %s, want it to contain %q", got, "></p>")
	}
	m = w.ask("set", values("cache"))
	if got := panelOf(m, "err-tokens"); m.Error != nil || !strings.Contains(got, "></p>") {
		t.Errorf("the message is still shown: %s", got)
	}
	if m = w.ask("jump", nil); m.Error == nil || m.Error.Code != terms.CodeUnknown {
		t.Errorf("an unknown command: got %+v, want an error, Error.Code = %q", m, terms.CodeUnknown)
	}
}

// TestBillJSONFollowsFields: the bill's fields and its JSON stay in sync, whichever of them is
// changed.
func TestBillJSONFollowsFields(t *testing.T) {
	t.Parallel()
	w := newSite(t).open("bill")
	first := w.ask("set", map[string]string{}).Data.(feedData).Inputs
	if first["max_tokens"] != "96" || !strings.Contains(first["request"], `"max_tokens": 96`) {
		t.Fatalf("the first message has the inputs %v, want 96 for max_tokens, as a field and in the request", first)
	}
	byField := w.ask(
		"set", map[string]string{"max_tokens": "12", "request": first["request"], "was": first["was"]},
	).Data.(feedData).Inputs
	if !strings.Contains(byField["request"], `"max_tokens": 12`) {
		t.Errorf("the JSON did not follow: got %s, want it to contain %q", byField["request"], `"max_tokens": 12`)
	}
	edited := strings.Replace(byField["request"], `"max_tokens": 12`, `"max_tokens": 7`, 1)
	byJSON := w.ask(
		"set", map[string]string{"max_tokens": "12", "request": edited, "was": byField["was"]},
	).Data.(feedData).Inputs
	if byJSON["max_tokens"] != "7" || byJSON["request"] != edited {
		t.Errorf("the fields did not change with the JSON: %v", byJSON)
	}
	for bad, say := range map[string]string{
		`{"prompt": `:            "request is",
		`{"max_tokens": 0}`:      "max_tokens is 0",
		`{"color": "blue"}`:      `Unknown input "color"`,
		`{"temperature": "hot"}`: `temperature is "hot"`,
	} {
		m := w.ask("set", map[string]string{"request": bad, "was": byJSON["was"]})
		if m.Error == nil || m.Error.Field != "request" || !strings.Contains(
			panelOf(m, "err-request"), strings.ReplaceAll(say, `"`, "&#34;"),
		) {
			t.Errorf(
				"request %s: got error %+v, message %s; want an error at the field request with %q", bad, m.Error,
				panelOf(m, "err-request"), say,
			)
		}
	}
}

// TestStaleResultsAreMarked: results on the page are marked if the form's values have changed since
// the run.
func TestStaleResultsAreMarked(t *testing.T) {
	t.Parallel()
	w := newSite(t).open("cache")
	run := values("cache", "run", "1", "guess", guess.None)
	w.ask("set", run)
	if html := panelOf(w.done(), "lab-run"); strings.Contains(html, "the old ones") ||
		!strings.Contains(html, "Done in") {
		t.Errorf("at the end of the run: got %s, want it without %q, containing %q", html, "the old ones", "Done in")
	}
	// With these values, the lab is too slow to run automatically.
	other := map[string]string{"tokens": "400", "repeats": "50", "guess": guess.None}
	if html := panelOf(w.ask("set", other), "lab-run"); !strings.Contains(html, "the old ones") {
		t.Errorf("after a change: got %s, want it to contain %q", html, "the old ones")
	}
	w.ask("set", map[string]string{"tokens": "400", "repeats": "49", "guess": guess.None, "run": "1", "sure": "1"})
	w.until("first rows", func(m wire.Message) bool { return panelOf(m, "lab-results") != "" })
	w.ask("set", other)
	w.ask("cancel", nil)
	if html := panelOf(w.done(), "lab-run"); !strings.Contains(html, "Canceled after") ||
		!strings.Contains(html, "the old ones") {
		t.Errorf(
			"changed during the run: got %s, want it to contain %q and %q", html, "Canceled after", "the old ones",
		)
	}
}

// TestMeasurementsRunOneAtATime: a second measurement reports that it is waiting, and a canceled
// measurement leaves the queue.
func TestMeasurementsRunOneAtATime(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, leave, err := s.pages.queue.Enter(context.Background(), admission.Caller{Learner: "someone"}, time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, second := s.open("draw"), s.open("draw")
	first.ask("set", values("draw", "run", "1", "guess", guess.None))
	first.until(
		"its place", func(m wire.Message) bool { return strings.Contains(panelOf(m, "lab-run"), "yours is next") },
	)
	second.ask("set", values("draw", "run", "1", "guess", guess.None))
	second.until("its place", func(m wire.Message) bool {
		return strings.Contains(panelOf(m, "lab-run"), "2 measurements are ahead of yours")
	})
	first.ask("cancel", nil)
	if html := panelOf(first.done(), "lab-trouble"); !strings.Contains(html, "Canceled while it waited") {
		t.Errorf("the canceled measurement's status is %s, want it to contain %q", html, "Canceled while it waited")
	}
	second.until(
		"its new place", func(m wire.Message) bool { return strings.Contains(panelOf(m, "lab-run"), "yours is next") },
	)
	leave()
	if html := panelOf(second.done(), "lab-results"); !strings.Contains(html, "10 draws") {
		t.Error("the waiting measurement did not run")
	}
	if n := s.pages.queue.Len(); n != 0 {
		t.Errorf("%d measurements run or wait, want 0", n)
	}
}

// TestHeavyUserYieldsAfterOneRun: a user who starts many measurements delays another user by only
// one of them, which ends early and keeps its results.
func TestHeavyUserYieldsAfterOneRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pages.queue = admission.NewQueue(admission.DefaultLimits().Labs, time.Millisecond)
	long := s.open("draw")
	long.ask("set", values("draw", "run", "1", "guess", guess.None, "draws", "100000", "repeats", "200"))
	long.until("first rows", func(m wire.Message) bool { return panelOf(m, "lab-results") != "" })
	short := s.openFor("another", "draw")
	short.ask("set", values("draw", "run", "1", "guess", guess.None))
	if html := panelOf(short.done(), "lab-results"); !strings.Contains(html, "10 draws") {
		t.Error("the short measurement did not run")
	}
	if html := panelOf(long.done(), "lab-run"); !strings.Contains(html, "Ended after") {
		t.Errorf("the long measurement's status is %s, want it to contain %q", html, "Ended after")
	}
}

// TestUnknownLabIsRefused: unknown labs are refused, both as a feed and as a page.
func TestUnknownLabIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, err := s.pages.Feeds()["lab"](context.Background(), wire.Visit{Query: url.Values{"name": {"alchemy"}}})
	if e := new(terms.Refusal); !errors.As(err, &e) || e.Code != terms.CodeUnknown {
		t.Errorf("got %v, want an error of type *terms.Refusal, e.Code = %q", err, terms.CodeUnknown)
	}
	for _, path := range []string{"/labs/alchemy", "/labs/alchemy/rows.csv", "/labs/cache/deep"} {
		s.get(path, 404)
	}
	s.get("/labs/cache/rows.csv?table=none&"+small["cache"], 404)
	if w := s.do("POST", "/labs/cache"); w.Code != 405 || w.Header().Get("Allow") == "" {
		t.Errorf("POST: got status %d, want 405 with Allow", w.Code)
	}
}
