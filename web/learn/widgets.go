package learn

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// widgetStyles and widgetScripts are the additional files of pages with experiments.
var (
	widgetStyles  = []string{"css/story.css", "css/guess.css", "css/widget.css", "css/attention.css", "css/carry.css"}
	widgetScripts = []string{"js/widget.js"} // it loads feed.js, which loads connection.js
)

// Time limits for an experiment: while a page is being loaded, and while a user who has changed
// an input is waiting.
const (
	firstTime = 8 * time.Second
	liveTime  = 45 * time.Second
)

// An experiment is a running widget. It caches what it can reuse (such as scores or a run) and is
// used by one goroutine at a time.
type experiment interface {
	// show computes the view for validated inputs. It can correct impossible inputs in place, such
	// as a position beyond the end of a text. The view is in the language of ctx. Errors are shown
	// as [terms.RefusalOf] describes them, except for a context's error, which is shown as a
	// timeout.
	show(ctx context.Context, in terms.Values) (templ.Component, error)
}

// A judge is an experiment whose result answers a question (lessons.Widget.Ask). After show, answer
// returns the key of the choice that the result confirms, and a text that describes the result. ok
// is false if the part of the result that is shown does not answer the question yet.
type judge interface {
	answer(w stage.Words, ask string) (key, say string, ok bool)
}

// A preparer is a judge whose answer needs more passes than its view. prepare runs before answer, and
// only if the inputs are the ones that the question is about.
type preparer interface {
	prepare(ctx context.Context) error
}

// An environment holds an experiment's models, the view in which it shows its results, its id, which
// begins the ids of its elements, and the lesson's own values of its inputs, by name. Its field draft
// can be nil.
type environment struct {
	target *infer.Model
	draft  func() (*pool.Slot, error)
	view   shell.View
	id     string
	lesson map[string]string
}

// A widgetKind is one kind of experiment.
type widgetKind struct {
	open  func(environment) experiment
	plays bool // it has a button to step forward that can run automatically
	views bool // it has a Story in addition to its Numbers
}

var widgetKinds = map[lessons.WidgetKind]widgetKind{
	lessons.WidgetTurn:         {newTurnWidget, true, true},
	lessons.WidgetTemperature:  {newTemperature, false, true},
	lessons.WidgetNucleus:      {newNucleus, false, false},
	lessons.WidgetGreedyLoop:   {newGreedy, false, false},
	lessons.WidgetBestSequence: {newBest, false, false},
	lessons.WidgetStopString:   {newStop, true, false},
	lessons.WidgetCache:        {newCache, true, false},
	lessons.WidgetSpeculate:    {newSpeculate, true, false},
	lessons.WidgetTokens:       {newTokens, false, false},
	lessons.WidgetLook:         {newLook, false, false},
	lessons.WidgetChat:         {newChat, false, false},
	lessons.WidgetHide:         {newHide, false, false},
	lessons.WidgetCounters:     {newCounters, false, false},
	lessons.WidgetSure:         {newSure, false, false},
}

// A spec is an experiment in a lesson.
type spec struct {
	lessons.Widget
	widgetKind
	Lesson *lessons.Lesson
}

// start opens the experiment with its lesson's values.
func (s *spec) start(d environment) experiment {
	d.id, d.lesson = s.ID, s.Params
	return s.open(d)
}

// specs returns all experiments of a course by id.
func (p *Pages) specs(c *lessons.Course) map[string]*spec {
	specs := map[string]*spec{}
	for l, w := range c.Experiments() {
		specs[w.ID] = &spec{w, p.kinds[w.Kind], l}
	}
	return specs
}

// experiment returns the experiment with the given id in the language of a context, or nil if there
// is none.
func (p *Pages) experiment(ctx context.Context, id string) *spec {
	return p.specs(p.Course.In(ctx))[id]
}

// environment returns the environment of an experiment. If the server has a pool, the target model
// runs in a slot of the pool, so that widgets do not delay runs.
func (p *Pages) environment(view shell.View) environment {
	d := environment{target: p.Model, draft: p.Draft, view: view}
	if p.Slot != nil {
		d.target = p.Slot().Model()
	}
	return d
}

func (p *Pages) widgetRoutes() shell.Routes {
	return shell.Routes{"GET /learn/widget/{id}": p.widgetAlone}
}

// widget lays out an experiment in its first state. The state is computed only while the page is
// being sent, because only then is a client waiting for it. own is the learner's sentence, or "".
func (p *Pages) widget(w lessons.Widget, view shell.View, own string) templ.Component {
	return deferred(func(ctx context.Context) templ.Component {
		s := p.experiment(ctx, w.ID)
		var html result
		var err error
		if s.Ask == "" {
			html, err = p.firstOf(ctx, s, view)
		} else {
			html, err = s.asking(ctx)
		}
		f := newFigure(terms.In(ctx), s, view, s.Inputs(terms.In(ctx)).Defaults(), html, err)
		return widgetBlock(f.offering(own))
	})
}

// widgetAlone handles GET /learn/widget/ID?t=0.5&…, which shows an experiment on its own page
// with other inputs, for pages without scripts.
func (p *Pages) widgetAlone(w http.ResponseWriter, r *http.Request) {
	s := p.experiment(r.Context(), r.PathValue("id"))
	if s == nil {
		words := stage.In(r.Context())
		p.Refuse(w, r, http.StatusNotFound, words.T("learn.widget.none"), words.T("learn.widget.none.say"))
		return
	}
	asked := map[string]string{}
	for name, list := range r.URL.Query() {
		asked[name] = list[len(list)-1]
	}
	l := terms.In(r.Context())
	view := shell.ViewOf(r)
	learner, _ := p.Learner(r)
	own := p.sentenceOf(r.Context(), learner)
	if len(asked) == 0 && s.Ask != "" {
		html, err := s.asking(r.Context())
		p.HTML(w, r, http.StatusOK, widgetPage(newFigure(l, s, view, s.Inputs(l).Defaults(), html, err).offering(own)))
		return
	}
	in, bad := s.Inputs(l).Read(asked)
	if bad != nil {
		// Show the rejected input next to the lesson's own result.
		html, err := s.asking(r.Context())
		if s.Ask == "" {
			html, err = p.firstOf(r.Context(), s, view)
		}
		values := s.Inputs(l).Defaults()
		maps.Copy(values, asked)
		f := newFigure(l, s, view, values, html, errors.Join(bad, err))
		p.HTML(w, r, http.StatusBadRequest, widgetPage(f.offering(own)))
		return
	}
	if err := p.experiments.turn.Acquire(r.Context(), 1); err != nil {
		return // the client has disconnected
	}
	html, err := p.work(r.Context(), s, view, in)
	p.experiments.turn.Release(1)
	p.HTML(w, r, http.StatusOK, widgetPage(newFigure(l, s, view, in, html, err).offering(own)))
}

// work runs an experiment for one response.
func (p *Pages) work(ctx context.Context, s *spec, view shell.View, in terms.Values) (html result, err error) {
	ctx, cancel := context.WithTimeout(ctx, firstTime)
	defer cancel()
	html, err = workOut(ctx, s.start(p.environment(view)), s, in, nil)
	fault.Log(p.Log, "the experiment "+s.ID, err)
	return html, err
}

// workOut runs an experiment and renders the result. If the experiment panics, workOut returns an
// error, so that the rest of the page is not affected. earlier is the verdict on an earlier result, or
// nil; it stays if this result does not answer the question.
func workOut(
	ctx context.Context, e experiment, s *spec, in terms.Values, earlier *guess.Verdict,
) (html result, err error) {
	var body, ask strings.Builder
	err = fault.Try(func() error {
		c, err := e.show(ctx, in)
		if err != nil {
			return err
		}
		if err := widgetBody(s, c).Render(ctx, &body); err != nil || s.Ask == "" {
			return err
		}
		if html.verdict, html.found, err = s.judge(ctx, e, in); err != nil {
			return err
		}
		if html.verdict == nil {
			html.verdict = earlier
		}
		return widgetAsk(s, in["guess"], html.verdict, s.hasDefaults(terms.In(ctx), in)).Render(ctx, &ask)
	})
	if err != nil {
		return result{}, err
	}
	html.Ask, html.Body = ask.String(), body.String()
	return html, nil
}

// firstOf returns the first state of an experiment, which is the same for everyone.
func (p *Pages) firstOf(ctx context.Context, s *spec, view shell.View) (result, error) {
	key := s.ID + "/" + string(view) + "/" + terms.In(ctx).Tag
	return p.experiments.get(ctx, key, func(ctx context.Context) (html result, err error) {
		err = fault.Do(p.Log, "an experiment", func() (err error) {
			html, err = p.work(ctx, s, view, s.Inputs(terms.In(ctx)).Defaults())
			return err
		})
		if err != nil {
			p.Log.Warn("failed to compute the first state of an experiment", "id", s.ID, "err", err)
		}
		return html, err
	})
}

// troubleOf returns a message that explains why an experiment shows nothing.
func troubleOf(err error) *terms.Refusal {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return terms.Refuse(terms.CodeBusy, "learn.widget.slow")
	}
	return terms.RefusalOf(err)
}

// deferred returns a component that is created when it is rendered.
func deferred(make func(context.Context) templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w templWriter) error { return make(ctx).Render(ctx, w) })
}
