package labs

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/web/live"
)

// Feeds are the live parts of these pages, by name: lab?name=NAME is one lab.
// It takes two commands. set has values: the form's fields by name, all as text;
// with run among them the lab runs, else only what a run would take is told.
// cancel ends the run and keeps what it has. A run's progress and results come
// as panels; the message after its end says done.
func (p *Pages) Feeds() map[string]live.Open {
	return map[string]live.Open{"lab": p.openFeed}
}

func (p *Pages) openFeed(_ context.Context, learner string, q url.Values) (live.Feed, error) {
	l, ok := lab.Find(q.Get("name"))
	if !ok {
		return nil, &live.Error{Code: live.Unknown, Field: "name", Message: "There is no such lab. The program may have changed; load the page again."}
	}
	return &feed{p: p, l: l, i: l.Info(), learner: learner}, nil
}

// showEvery is how often a run in progress is drawn: drawing takes time from
// what is being timed.
const showEvery = 400 * time.Millisecond

// quick is how long a run may have taken for its results to follow the
// controls by themselves.
const quick = 1500 * time.Millisecond

// feed is one lab that somebody has before them.
type feed struct {
	p       *Pages
	l       lab.Lab
	i       lab.Info
	learner string

	run  *liveRun    // in progress, or nil
	last *lab.Report // the newest
}

// liveRun is a run in progress. Its goroutine leaves the newest progress here.
type liveRun struct {
	guess  string
	values lab.Values
	cancel context.CancelFunc
	wake   chan struct{} // of capacity 1: there is something newer
	done   chan struct{} // closed at the end, when report or err is set

	mu       sync.Mutex
	progress lab.Progress
	partial  *lab.Report

	report *lab.Report
	err    error
}

// feedData goes with a lab's panels.
type feedData struct {
	Link   string            `json:"link,omitempty"`
	Inputs map[string]string `json:"inputs,omitempty"`
}

// Serve implements [live.Feed].
func (f *feed) Serve(ctx context.Context, in <-chan live.Command, send func(live.Message) error) error {
	defer f.stop()
	tick := time.NewTicker(showEvery)
	defer tick.Stop()
	for {
		var err error
		select {
		case c, ok := <-in:
			if !ok {
				return nil
			}
			m := f.hear(ctx, c)
			m.Ack = c.N
			err = send(m)
		case <-f.done():
			err = send(f.finish())
		case <-tick.C:
			if m, news := f.news(ctx); news {
				err = send(m)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// done is the end of the run in progress; of none, it never comes.
func (f *feed) done() <-chan struct{} {
	if f.run == nil {
		return nil
	}
	return f.run.done
}

// stop ends the run in progress and waits for it.
func (f *feed) stop() {
	if f.run != nil {
		f.run.cancel()
		<-f.run.done
		f.run = nil
	}
}

func (f *feed) hear(ctx context.Context, c live.Command) live.Message {
	switch c.Name {
	case "cancel":
		if f.run != nil {
			f.run.cancel()
		}
		return live.Message{}
	case "set":
		var sent struct {
			Values map[string]string `json:"values"`
		}
		if err := c.Decode(&sent); err != nil {
			return live.Message{Error: live.ErrorOf(err)}
		}
		return f.set(ctx, read(sent.Values))
	}
	return live.Message{Error: &live.Error{Code: live.Unknown, Field: "cmd", Want: "set or cancel", Message: "A lab takes the commands set and cancel."}}
}

// set checks the form, tells what a run would take, and runs where that was
// asked for or is quick enough to follow the controls.
func (f *feed) set(ctx context.Context, a asked) live.Message {
	v, err := f.p.parse(f.i, a)
	var e lab.Estimate
	if err == nil {
		e, err = f.l.Estimate(f.p.env(), v)
	}
	if err != nil {
		return f.refused(ctx, err)
	}
	guessed := f.p.guessSay(f.i, a)
	m := live.Message{Panels: f.errors(ctx, "", "")}
	ask := a.run && guessed == "" && e.Large && !a.sure
	m.Panels = append(m.Panels,
		panel(ctx, "guess-error", fieldError("guess-error", guessed)),
		panel(ctx, "lab-trouble", trouble("")),
		panel(ctx, "lab-note", note(&e, ask, linkOf(f.i, v))))
	m.Data = feedData{Link: linkOf(f.i, v), Inputs: inputs(f.i, v)}
	follows := f.last != nil && f.last.Took < quick && !e.Large && f.run == nil
	if a.run && guessed == "" && (!e.Large || a.sure) || !a.run && follows {
		f.start(ctx, a.guess, v)
		m.Panels = append(m.Panels, f.progressPanel(ctx, lab.Progress{Say: "beginning"}))
	}
	return m
}

func (p *Pages) guessSay(i lab.Info, a asked) string {
	if a.run && !guesses[i.Name].has(a.guess) {
		return noGuess
	}
	return ""
}

// refused tells of values that were refused, beside their field.
func (f *feed) refused(ctx context.Context, err error) live.Message {
	e := live.ErrorOf(err)
	var inJSON requestError
	if errors.As(err, &inJSON) {
		return live.Message{
			Error:  &live.Error{Code: live.Range, Field: fieldRequest, Message: requestSay(err)},
			Panels: f.errors(ctx, fieldRequest, requestSay(err)),
		}
	}
	if r := refusedOf(err); r != nil {
		if p, ok := f.i.Param(r.Field); ok {
			return live.Message{Error: e, Panels: f.errors(ctx, r.Field, errorSay(p, r))}
		}
	}
	f.p.Log.Warn("a lab's values were refused", "lab", f.i.Name, "err", err)
	return live.Message{Panels: append(f.errors(ctx, "", ""), panel(ctx, "lab-trouble", trouble(e.Message)))}
}

// errors clear all fields' errors but one.
func (f *feed) errors(ctx context.Context, field, say string) []live.Panel {
	names := make([]string, 0, len(f.i.Params)+1)
	for _, p := range f.i.Params {
		names = append(names, p.Name)
	}
	if hasRequest(f.i) {
		names = append(names, fieldRequest)
	}
	list := make([]live.Panel, len(names))
	for i, name := range names {
		words := ""
		if name == field {
			words = say
		}
		list[i] = panel(ctx, "err-"+name, fieldError("err-"+name, words))
	}
	return list
}

// start runs the lab in a goroutine of its own; an older run ends.
func (f *feed) start(ctx context.Context, guessed string, v lab.Values) {
	f.stop()
	ctx, cancel := context.WithCancel(ctx)
	r := &liveRun{guess: guessed, values: v, cancel: cancel, wake: make(chan struct{}, 1), done: make(chan struct{})}
	f.run = r
	go func() {
		defer close(r.done)
		defer cancel()
		r.report, r.err = f.p.measure(ctx, f.learner, f.l, v, r.tell)
	}()
}

func (r *liveRun) tell(p lab.Progress) {
	r.mu.Lock()
	if r.progress = p; p.Partial != nil {
		r.partial = p.Partial
	}
	r.progress.Partial = nil
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// news draws how far the run has come, where it has come further.
func (f *feed) news(ctx context.Context) (live.Message, bool) {
	if f.run == nil {
		return live.Message{}, false
	}
	select {
	case <-f.run.wake:
	default:
		return live.Message{}, false
	}
	f.run.mu.Lock()
	progress, partial := f.run.progress, f.run.partial
	f.run.partial = nil
	f.run.mu.Unlock()
	m := live.Message{Panels: []live.Panel{f.progressPanel(ctx, progress)}}
	if partial != nil && partial.Result != nil {
		m.Panels = append(m.Panels, panel(ctx, "lab-results", results(newFound(f.i, f.run.guess, partial, true))))
	}
	return m, true
}

// finish shows what the run has found.
func (f *feed) finish() live.Message {
	r := f.run
	f.run = nil
	ctx := context.Background()
	m := live.Message{Done: true, Panels: []live.Panel{panel(ctx, "lab-run", runEnded(r.report))}}
	switch {
	case errors.Is(r.err, context.Canceled):
		m.Panels = append(m.Panels, panel(ctx, "lab-trouble", trouble("Cancelled while it waited. Nothing was measured.")))
	case errors.Is(r.err, errFull):
		m.Panels = append(m.Panels, panel(ctx, "lab-trouble", trouble(sentence(r.err))))
	case r.err != nil:
		f.p.Log.Error("a lab failed", "lab", f.i.Name, "err", r.err, slog.Any("values", len(r.values)))
		m.Panels = append(m.Panels, panel(ctx, "lab-trouble", trouble(sentence(r.err))))
	case r.report.Result == nil:
		m.Panels = append(m.Panels, panel(ctx, "lab-trouble", trouble("Cancelled before anything was measured.")))
	default:
		f.last = r.report
		m.Panels = append(m.Panels, panel(ctx, "lab-trouble", trouble("")),
			panel(ctx, "lab-results", results(newFound(f.i, r.guess, r.report, false))))
	}
	return m
}

func (f *feed) progressPanel(ctx context.Context, p lab.Progress) live.Panel {
	return panel(ctx, "lab-run", running(p))
}

func panel(ctx context.Context, id string, c templ.Component) live.Panel {
	var b strings.Builder
	if err := c.Render(ctx, &b); err != nil {
		b.Reset()
	}
	return live.Panel{ID: id, Op: live.Morph, HTML: b.String()}
}
