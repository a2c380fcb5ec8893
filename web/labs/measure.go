package labs

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/chance"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// pageTime is the time limit of a measurement for a page without scripts. The page shows everything
// that was measured within this time.
const pageTime = 20 * time.Second

// slice is the time after which a measurement ends early if others are waiting. Only one
// measurement runs at a time, because two would distort each other's times.
const slice = time.Minute

// errFull is returned to users who would wait too long.
var errFull = terms.Refuse(terms.CodeBusy, "labs.refused.full")

// env returns the models for a measurement. If the server has pools, the models run in slots of
// these pools, so that no lab blocks other runs. Refusals are in the language of w.
func (p *Pages) env(w stage.Words) lab.Env {
	e := lab.Env{Target: p.Target, Language: w.Language}
	if p.Slot != nil {
		slot := p.Slot()
		e.Target, e.TargetRunner = slot.Model(), slot
	}
	return e
}

// envFor is like env, but adds the draft model if the lab needs one and the server has one.
func (p *Pages) envFor(w stage.Words, l lab.Lab) (lab.Env, error) {
	e := p.env(w)
	if p.Draft == nil || !l.Info(w.Language).Drafts {
		return e, nil
	}
	slot, err := p.Draft()
	if err != nil {
		return e, &terms.Refusal{Code: terms.CodeBusy, Message: shell.Sentence(w.Language, err)}
	}
	e.Draft, e.DraftRunner = slot.Model(), slot
	return e, nil
}

// estimate returns what a run of a lab would cost.
func (p *Pages) estimate(w stage.Words, l lab.Lab, v terms.Values) (lab.Estimate, error) {
	with, err := p.envFor(w, l)
	if err != nil {
		return lab.Estimate{}, err
	}
	return l.Estimate(with, v)
}

// measure waits for its turn in the queue, runs a lab, and stores the report. It reports the
// progress to tell, which can be nil.
func (p *Pages) measure(
	ctx context.Context, who admission.Caller, l lab.Lab, v terms.Values, tell func(lab.Progress),
) (r *lab.Report, err error) {
	err = fault.Do(p.Log, "the lab "+l.Info(terms.In(ctx)).Name, func() error {
		r, err = p.measureInTurn(ctx, who, l, v, tell)
		return err
	})
	return r, err
}

func (p *Pages) measureInTurn(
	ctx context.Context, who admission.Caller, l lab.Lab, v terms.Values, tell func(lab.Progress),
) (r *lab.Report, err error) {
	w := stage.In(ctx)
	e, err := p.estimate(w, l, v)
	if err != nil {
		return nil, err
	}
	turn, leave, err := p.queue.Enter(ctx, who, e.Took, func(before int) {
		if tell != nil {
			tell(lab.Progress{Say: lab.Text("labs.run.waiting", "n", before)})
		}
	})
	if errors.Is(err, admission.ErrQueueFull) {
		return nil, errFull
	}
	if err != nil {
		return nil, err
	}
	defer leave()
	if tell == nil {
		tell = func(lab.Progress) {}
	}
	with, err := p.envFor(w, l)
	if err != nil {
		return nil, err
	}
	r, err = l.Run(turn, with, v, tell)
	if err != nil {
		return nil, err
	}
	r.Yielded = r.Canceled && errors.Is(context.Cause(turn), admission.ErrYield)
	if r.Result != nil {
		p.kept.keep(who.Learner, l.Info(w.Language), r)
	}
	return r, nil
}

// A page is a lab with its form and the results so far.
type page struct {
	Form     form
	Link     string
	Trouble  string        // a sentence that explains why nothing was measured
	Estimate *lab.Estimate // set if the page must ask the user to confirm a long run
	Found    *found
	Running  *liveRun // a run still in progress, which the page's script connects to
}

// lab handles GET /labs/NAME.
func (p *Pages) lab(out http.ResponseWriter, r *http.Request) {
	w := stage.In(r.Context())
	l, ok := lab.Find(r.PathValue("name"))
	if !ok {
		p.Refuse(out, r, http.StatusNotFound, w.T("labs.unknown"), w.T("labs.unknown.say"))
		return
	}
	who, i := p.caller(out, r), l.Info(w.Language)
	a := read(fieldsOf(r.URL.Query()))
	v, err := p.parse(w, i, a)
	if err != nil {
		pg := page{Form: badForm(w, i, a, err), Link: "/labs/" + i.Name, Trouble: sentence(w, err)}
		p.HTML(out, r, http.StatusBadRequest, labPage(pg))
		return
	}
	pg := page{
		Form: p.form(w, i, v, a.guess, nil), Link: p.sharedOf(i, v),
		Found: p.newFound(w, i, a.guess, p.kept.find(who.Learner, i, v), false),
	}
	// A page that is rendered once for everyone omits the chart for the guess, because the chart's
	// scale depends on a measured time.
	if pg.Found == nil && (faces[i.Name].ahead == nil || !chance.IsSteady(r.Context())) {
		pg.Found = p.calculated(w, l, a.guess, v)
	}
	if pg.Found == nil {
		pg.Found = p.guessAhead(w, i, v, a.guess)
	}
	if a.model != "" && a.model != p.modelMark() {
		pg.Trouble = w.T("labs.link.model", "model", p.Target.Name())
	}
	p.goesOn(w, &pg, p.runs.find("", keyOf(who.Learner, i, v)))
	status := http.StatusOK
	if a.run && !elsewhere(r) {
		status = p.runPage(r.Context(), &pg, l, who, a, v)
	}
	p.HTML(out, r, status, labPage(pg))
}

// elsewhere reports whether the request comes from another site's page. Other sites can link here,
// but cannot make this server run a lab.
func elsewhere(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Site") == "cross-site" }

// goesOn makes the page show r, a run in progress. It does nothing if r is nil or was not started
// by a press of the button.
func (p *Pages) goesOn(w stage.Words, pg *page, r *liveRun) {
	if r == nil || r.press == "" {
		return
	}
	_, partial, _ := r.newest()
	pg.Running, pg.Form.Press = r, r.press
	pg.Form.guessed(r.guess)
	if f := p.newFound(w, pg.Form.Info, r.guess, partial, true); f != nil {
		pg.Found = f
	}
}

// badForm returns the form with the rejected values.
func badForm(w stage.Words, i lab.Info, a asked, err error) form {
	bad := refusedOf(err)
	var inJSON requestError
	if errors.As(err, &inJSON) {
		f := newForm(w, i, a.raw, a.guess, nil)
		f.Request, f.Was, f.RequestErr = a.request, a.was, requestText(w, err)
		return f
	}
	return newForm(w, i, a.raw, a.guess, bad)
}

// parse validates the request.
func (p *Pages) parse(w stage.Words, i lab.Info, a asked) (terms.Values, error) {
	if err := a.adopt(w, i); err != nil {
		return nil, err
	}
	v, err := i.Inputs.Read(a.raw)
	if err != nil {
		return nil, err
	}
	// Omit numbers that are the chosen model's anyway, or that belong to the previously chosen
	// model.
	for name, own := range p.ownOf(w, i, v) {
		if v[name] == own || a.own != "" && a.own != v[fieldPreset] {
			v[name] = ""
		}
	}
	return v, nil
}

// ownOf returns the chosen model's numbers for the inputs that can be omitted.
func (p *Pages) ownOf(w stage.Words, i lab.Info, v terms.Values) terms.Values {
	l, ok := lab.Find(i.Name)
	if !ok || v[fieldPreset] == "" {
		return nil
	}
	return lab.OwnNumbers(l, p.env(w), v)
}

// form lays out a lab's inputs. It fills in the chosen model's numbers where the inputs omit them.
func (p *Pages) form(
	w stage.Words, i lab.Info, v terms.Values, guessed string, bad *terms.RangeError,
) form {
	f := newForm(w, i, v, guessed, bad)
	own := p.ownOf(w, i, v)
	if own == nil {
		return f
	}
	f.Own = v[fieldPreset]
	fill := func(c *shell.Control) {
		if c.Own && c.Value == "" {
			c.Value = own[c.Key]
		}
	}
	for k := range f.Tiles {
		fill(&f.Tiles[k].Control)
	}
	for _, list := range [][]shell.Control{f.Main, f.More} {
		for k := range list {
			fill(&list[k])
		}
	}
	return f
}

// runPage runs a lab for a page without scripts, or makes the page explain why it cannot run.
func (p *Pages) runPage(ctx context.Context, pg *page, l lab.Lab, who admission.Caller, a asked, v terms.Values) int {
	w := stage.In(ctx)
	i := l.Info(w.Language)
	if !hasGuess(pg.Form.Guess, a.guess) {
		pg.Form.GuessError = w.T("labs.guess.missing")
		return http.StatusBadRequest
	}
	e, err := p.estimate(w, l, v)
	if err != nil {
		pg.Form = p.form(w, i, v, a.guess, refusedOf(err))
		pg.Trouble = sentence(w, err)
		return http.StatusBadRequest
	}
	if e.Large && !a.sure {
		pg.Estimate = &e
		return http.StatusOK
	}
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	report, err := p.measure(ctx, who, l, v, nil)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		pg.Trouble = w.T("labs.trouble.busy")
		return http.StatusServiceUnavailable
	case errors.Is(err, errFull):
		pg.Trouble = sentence(w, err)
		return http.StatusServiceUnavailable
	case err != nil:
		return p.broken(w, pg, i.Name, err)
	case report.Result == nil:
		pg.Trouble = w.T("labs.trouble.slow")
	}
	pg.Found = p.newFound(w, i, a.guess, report, false)
	return http.StatusOK
}

// broken makes the page explain that a run failed and why.
func (p *Pages) broken(w stage.Words, pg *page, name string, err error) int {
	pg.Trouble = sentence(w, err)
	if refusedOf(err) != nil {
		return http.StatusBadRequest
	}
	p.Log.Error("lab failed", "lab", name, "err", err)
	return http.StatusInternalServerError
}

// sentence returns a sentence that describes an error to users.
func sentence(w stage.Words, err error) string {
	if r := refusedOf(err); r != nil {
		return w.T("labs.refused.range", "field", r.Field, "got", r.Got, "want", r.Want)
	}
	return terms.RefusalOf(err).In(w.Language)
}

// estimateText describes what a run would cost.
func estimateText(w stage.Words, e lab.Estimate) string {
	key := "labs.estimate"
	switch {
	case e.MultAdds > 0 && e.Bytes > 0:
		key = "labs.estimate.work.memory"
	case e.MultAdds > 0:
		key = "labs.estimate.work"
	case e.Bytes > 0:
		key = "labs.estimate.memory"
	}
	return w.T(
		key, "took", w.Took(max(e.Took, time.Millisecond)), "work", w.MultAdds(e.MultAdds), "memory", w.Bytes(e.Bytes),
	)
}

// rows handles GET /labs/NAME/rows.csv, which returns one table of a run with these values. If the
// server no longer has the run's report, it runs the lab again.
func (p *Pages) rows(out http.ResponseWriter, r *http.Request) {
	w := stage.In(r.Context())
	l, ok := lab.Find(r.PathValue("name"))
	if !ok {
		p.Refuse(out, r, http.StatusNotFound, w.T("labs.unknown"), w.T("labs.unknown.say"))
		return
	}
	who, i := p.caller(out, r), l.Info(w.Language)
	q := r.URL.Query()
	v, err := p.parse(w, i, read(fieldsOf(q)))
	if err != nil {
		p.Refuse(out, r, http.StatusBadRequest, w.T("labs.rows.none"), sentence(w, err))
		return
	}
	report := p.kept.find(who.Learner, i, v)
	if report == nil && elsewhere(r) {
		p.Refuse(out, r, http.StatusForbidden, w.T("labs.rows.none"), w.T("labs.rows.run"))
		return
	}
	if report == nil {
		ctx, cancel := context.WithTimeout(r.Context(), pageTime)
		defer cancel()
		if report, err = p.measure(ctx, who, l, v, nil); err != nil || report.Result == nil {
			p.Refuse(
				out, r, http.StatusServiceUnavailable, w.T("labs.rows.none"),
				w.T("labs.rows.slow"),
			)
			return
		}
	}
	p.sendRows(out, r, i, report, q.Get(fieldTable))
}

func (p *Pages) sendRows(w http.ResponseWriter, r *http.Request, i lab.Info, report *lab.Report, name string) {
	if name == "" && len(report.Tables) > 0 {
		name = report.Tables[0].Name
	}
	t, ok := report.Table(name)
	if !ok {
		l := stage.In(r.Context())
		p.Refuse(w, r, http.StatusNotFound, l.T("labs.rows.unknown"), l.T("labs.rows.unknown.say"))
		return
	}
	w.Header().Set("Content-Type", terms.SheetType)
	w.Header().Set("Content-Disposition", `attachment; filename="`+i.Name+"-"+t.Name+`.csv"`)
	w.Header().Set("Cache-Control", "no-store")
	if err := t.WriteCSV(w, terms.SheetFormOf(r.URL.Query().Get(fieldDecimal)), terms.In(r.Context())); err != nil {
		p.Log.Warn("failed to send a lab's CSV file", "lab", i.Name, "err", err)
	}
}
