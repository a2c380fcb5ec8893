package labs

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/wire"
)

// Feeds returns the live parts of these pages by name. The part lab?name=NAME is the feed of one
// lab, which accepts two commands. The values of the set command are the form's fields by name, all
// as text. If they include run, the feed runs the lab; otherwise, it only sends an estimate. The
// cancel command ends the run and keeps its results so far. A run's progress and results are sent
// as panels. In the message that follows the end of a run, done is true.
func (p *Pages) Feeds() map[string]wire.Open {
	return map[string]wire.Open{"lab": p.openFeed}
}

func (p *Pages) openFeed(ctx context.Context, v wire.Visit) (wire.Part, error) {
	l, ok := lab.Find(v.Query.Get("name"))
	if !ok {
		refused := terms.Refuse(terms.CodeUnknown, "labs.refused.unknown")
		refused.Field = "name"
		return nil, refused
	}
	w := stage.In(ctx)
	return &feed{p: p, l: l, i: l.Info(w.Language), w: w, caller: v.Caller}, nil
}

// showEvery is the interval at which a server renders a run in progress. It is long because
// rendering competes with the work that is being timed.
const showEvery = 400 * time.Millisecond

// quick is the maximum duration of runs that are started automatically when a control changes.
const quick = 1500 * time.Millisecond

// A feed is a lab that is open on a page.
type feed struct {
	p      *Pages
	l      lab.Lab
	i      lab.Info
	w      stage.Words
	caller admission.Caller

	run  *liveRun     // the run on display until its end has been shown, or nil
	seen int          // the last version of the run's progress that was shown
	last *lab.Report  // the newest report
	want terms.Values // the form's last valid values
}

// feedData is sent with a lab's panels.
type feedData struct {
	Link   string            `json:"link,omitempty"`
	Inputs map[string]string `json:"inputs,omitempty"`
}

// Serve implements [wire.Part].
func (f *feed) Serve(ctx context.Context, in <-chan wire.Command, out wire.Conn) error {
	defer f.look(nil)
	tick := time.NewTicker(f.p.every)
	defer tick.Stop()
	for {
		var err error
		select {
		case c, ok := <-in:
			if !ok {
				return nil
			}
			m := f.handle(ctx, c)
			m.Ack = c.N
			err = out.Send(m)
		case <-f.done():
			err = out.Send(f.finish(ctx))
		case <-tick.C:
			if m, news := f.news(ctx); news {
				err = out.Send(m)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// done returns a channel that is closed when the run in progress ends. It returns nil if there is
// no run.
func (f *feed) done() <-chan struct{} {
	if f.run == nil {
		return nil
	}
	return f.run.done
}

// look switches the feed to another run, or to none if r is nil.
func (f *feed) look(r *liveRun) {
	if f.run != nil {
		f.run.leave(grace)
	}
	f.run, f.seen = r, 0
}

// handle executes one command.
func (f *feed) handle(ctx context.Context, c wire.Command) wire.Message {
	switch c.Name {
	case "cancel":
		if _, err := c.Read(nil); err != nil {
			return wire.Message{Error: terms.RefusalOf(err)}
		}
		if f.run != nil {
			f.run.cancel()
		}
		return wire.Message{}
	case "set":
		sent, err := c.Read(terms.Inputs{wire.FormInput})
		if err != nil {
			return wire.Message{Error: terms.RefusalOf(err)}
		}
		return f.set(ctx, read(wire.FormOf(sent)))
	}
	refused := terms.Refuse(terms.CodeUnknown, "labs.refused.command")
	refused.Field, refused.Want = "cmd", "set or cancel"
	return wire.Message{Error: refused}
}

// set checks the form, shows what a run would cost, and runs the lab if a run was requested or
// would be quick enough to start automatically.
func (f *feed) set(ctx context.Context, a asked) wire.Message {
	v, err := f.p.parse(f.w, f.i, a)
	var e lab.Estimate
	if err == nil {
		e, err = f.p.estimate(f.w, f.l, v)
	}
	if err != nil {
		return f.refused(ctx, err)
	}
	f.want = v
	guessed := f.p.guessText(f.w, f.i, a)
	m := wire.Message{Panels: f.errors(ctx, "", "")}
	ask := a.run && guessed == "" && e.Large && !a.sure
	if faces[f.i.Name].Ask != "" {
		m.Panels = append(m.Panels, panel(ctx, "guess-error", fieldError("guess-error", guessed)))
	}
	m.Panels = append(m.Panels,
		panel(ctx, "lab-trouble", trouble("")),
		panel(ctx, "lab-note", note(&e, ask, f.p.sharedOf(f.i, v))))
	m.Data = feedData{Link: linkOf(f.i, v), Inputs: f.inputs(v)}
	if f.resumes(a, v) { // if the run has ended, Serve then sends its results
		progress, _, _ := f.run.newest()
		m.Panels = append(m.Panels, f.progressPanel(ctx, progress))
		return m
	}
	if f.run == nil && !a.run {
		if r := lab.Again(f.l, f.p.env(f.w), f.last, v); r != nil { // only values such as prices have changed
			f.last = r
			f.p.kept.keep(f.caller.Learner, f.i, r)
			m.Panels = append(m.Panels, panel(ctx, "lab-run", runEnded(r, false)))
			m.Panels = append(m.Panels, f.resultPanels(ctx, f.p.newFound(f.w, f.i, a.guess, r, false))...)
			return m
		}
		if found := f.p.calculated(f.w, f.l, a.guess, v); found != nil && faces[f.i.Name].ahead == nil {
			if f.last == nil || len(found.below()) > 0 {
				f.last = nil
				m.Panels = append(m.Panels, panel(ctx, "lab-run", runEnded(nil, false)))
				m.Panels = append(m.Panels, f.resultPanels(ctx, found)...)
				return m
			}
			// Only the first screen depends on nothing but the values; the rest of the page stays
			// until the next measurement.
			m.Panels = append(m.Panels, f.firstPanels(ctx, found)...)
		}
	}
	if found := f.p.drawn(f.w, f.i, f.last, f.run, a.guess, v); found != nil {
		m.Panels = append(m.Panels, panel(ctx, "lab-lead", leadView(found)))
	}
	follows := f.last != nil && f.last.Took < quick && !e.Large && f.run == nil
	if a.run && guessed == "" && (!e.Large || a.sure) || !a.run && follows {
		f.start(a, v)
		m.Panels = append(m.Panels, f.progressPanel(ctx, lab.Progress{Say: beginning}))
	} else if f.run == nil && f.last != nil {
		m.Panels = append(m.Panels, panel(ctx, "lab-run", runEnded(f.last, f.stale())))
	}
	return m
}

// stale reports whether the form's values have changed since the results on the page were measured.
func (f *feed) stale() bool { return f.last != nil && !maps.Equal(f.last.Values, f.want) }

// resumes switches to the run that was started by the same press of the button, if this feed has
// not shown that run yet. This is the case after the page has reconnected.
func (f *feed) resumes(a asked, v terms.Values) bool {
	if a.press == "" || f.run != nil || f.last != nil {
		return false
	}
	r := f.p.runs.find(a.press, keyOf(f.caller.Learner, f.i, v))
	if r == nil {
		return false
	}
	r.watch()
	f.look(r)
	return true
}

func (p *Pages) guessText(w stage.Words, i lab.Info, a asked) string {
	if a.run && !hasGuess(faces[i.Name].Question, a.guess) {
		return w.T("labs.guess.missing")
	}
	return ""
}

// refused returns a message that shows, next to the rejected field or JSON, why it was rejected.
func (f *feed) refused(ctx context.Context, err error) wire.Message {
	e := terms.RefusalOf(err)
	var inJSON requestError
	if errors.As(err, &inJSON) {
		say := requestText(f.w, err)
		return wire.Message{
			Error:  &terms.Refusal{Code: terms.CodeRange, Field: fieldRequest, Message: say},
			Panels: f.errors(ctx, fieldRequest, say),
		}
	}
	if r := refusedOf(err); r != nil {
		if p, ok := f.i.Inputs.Find(r.Field); ok {
			return wire.Message{Error: e, Panels: f.errors(ctx, r.Field, errorText(f.w, p, r))}
		}
	}
	f.p.Log.Warn("rejected values sent to a lab", "lab", f.i.Name, "err", err)
	return wire.Message{Panels: append(f.errors(ctx, "", ""), panel(ctx, "lab-trouble", trouble(e.In(f.w.Language))))}
}

// errors returns panels that show an error at one field and clear the errors of all others.
func (f *feed) errors(ctx context.Context, field, say string) []wire.Panel {
	names := make([]string, 0, len(f.i.Inputs)+1)
	for _, p := range f.i.Inputs {
		names = append(names, p.Key)
	}
	if hasRequest(f.i) {
		names = append(names, fieldRequest)
	}
	list := make([]wire.Panel, len(names))
	for i, name := range names {
		words := ""
		if name == field {
			words = say
		}
		list[i] = panel(ctx, "err-"+name, fieldError("err-"+name, words))
	}
	return list
}

// start runs the lab, after ending any older run of this feed.
func (f *feed) start(a asked, v terms.Values) {
	if f.run != nil {
		f.run.cancel()
		<-f.run.done
	}
	f.look(f.p.begin(f.w, f.caller, a.press, a.guess, f.l, v))
}

// news returns a message with the run's progress if it has changed.
func (f *feed) news(ctx context.Context) (wire.Message, bool) {
	if f.run == nil {
		return wire.Message{}, false
	}
	progress, partial, version := f.run.newest()
	if version == f.seen || f.run.ended() {
		return wire.Message{}, false
	}
	f.seen = version
	m := wire.Message{Panels: []wire.Panel{f.progressPanel(ctx, progress)}}
	if partial != nil && partial.Result != nil {
		m.Panels = append(m.Panels, f.resultPanels(ctx, f.p.newFound(f.w, f.i, f.run.guess, partial, true))...)
	}
	return m, true
}

// finish returns the message with the results of the run.
func (f *feed) finish(ctx context.Context) wire.Message {
	r := f.run
	f.look(nil)
	m := wire.Message{Done: true}
	ended := runEnded(nil, false)
	switch {
	case errors.Is(r.err, context.Canceled):
		m.Panels = append(
			m.Panels, panel(ctx, "lab-trouble", trouble(f.w.T("labs.canceled.waiting"))),
		)
	case errors.Is(r.err, errFull):
		m.Panels = append(m.Panels, panel(ctx, "lab-trouble", trouble(sentence(f.w, r.err))))
	case r.err != nil:
		f.p.Log.Error("lab failed", "lab", f.i.Name, "err", r.err, slog.Any("values", len(r.values)))
		m.Panels = append(m.Panels, panel(ctx, "lab-trouble", trouble(sentence(f.w, r.err))))
	case r.report.Result == nil:
		m.Panels = append(m.Panels, panel(ctx, "lab-trouble", trouble(f.w.T("labs.canceled"))))
	default:
		f.last = r.report
		ended = runEnded(r.report, f.stale())
		m.Panels = append(m.Panels, panel(ctx, "lab-trouble", trouble("")))
		m.Panels = append(m.Panels, f.resultPanels(ctx, f.p.newFound(f.w, f.i, r.guess, r.report, false))...)
	}
	m.Panels = append(m.Panels, panel(ctx, "lab-run", ended))
	return m
}

// resultPanels returns the panels of the results.
func (f *feed) resultPanels(ctx context.Context, found *found) []wire.Panel {
	list := append([]wire.Panel{panel(ctx, "lab-results", results(found))}, f.firstPanels(ctx, found)...)
	if q := faces[f.i.Name].Question; len(q.Choices) > 0 {
		list = append(list, panel(ctx, "guess-found", guess.Found(q, found.Verdict)))
	}
	return list
}

// firstPanels returns the panels of the first screen: the chart, and the result of the tiles'
// equation.
func (f *feed) firstPanels(ctx context.Context, found *found) []wire.Panel {
	list := []wire.Panel{panel(ctx, "lab-lead", leadView(found))}
	for _, t := range faces[f.i.Name].tiles {
		if t.input == "" && t.fixed == "" {
			list = append(list, panel(ctx, "lab-follows", followsView(t.name, found)))
		}
	}
	if len(faces[f.i.Name].tiles) > 0 {
		list = append(list, panel(ctx, "lab-sum", sumView(found)))
	}
	return list
}

// inputs returns the new values of the fields outside the panels.
func (f *feed) inputs(v terms.Values) map[string]string {
	own := f.p.ownOf(f.w, f.i, v)
	if own == nil {
		return inputs(f.i, v)
	}
	fields := map[string]string{fieldOwn: v[fieldPreset]}
	for name, n := range own {
		fields[name] = cmp.Or(v[name], n)
	}
	return fields
}

func (f *feed) progressPanel(ctx context.Context, p lab.Progress) wire.Panel {
	return panel(ctx, "lab-run", running(p))
}

func panel(ctx context.Context, id string, c templ.Component) wire.Panel {
	var b strings.Builder
	if err := c.Render(ctx, &b); err != nil {
		b.Reset()
	}
	return wire.Panel{ID: id, Op: wire.Morph, HTML: b.String()}
}
