package practice

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/store"
)

// A progressPage shows all saved data of one learner.
type progressPage struct {
	Map     *coursework.Map
	Drills  []drillLine
	Chart   calibrationChart
	Notices []progress.Notice
	Keeping Keeping
	Done    string // the last action
	Trouble string // why nothing can be saved right now
	Damaged string // what quarantined damaged files may contain
	Refused string // why an import was refused
}

// A drillLine holds the results of one drill.
type drillLine struct{ Href, Title, Times, Best, Last string }

func drillLines(l *terms.Language, list []progress.DrillMap) []drillLine {
	var lines []drillLine
	for _, d := range list {
		info, ok := drill.Find(l, d.Drill)
		if !ok {
			continue // the result was imported from another version
		}
		lines = append(lines, drillLine{
			"/practice/" + string(info.Kind), info.Title, terms.Count(d.Times), terms.Percent(d.Best),
			terms.Percent(d.Last),
		})
	}
	return lines
}

// progress handles GET /progress.
func (p *Pages) progress(w http.ResponseWriter, r *http.Request) {
	p.showProgress(w, r, http.StatusOK, "")
}

// showProgress sends the progress page. If an import was refused, refused is the reason.
func (p *Pages) showProgress(w http.ResponseWriter, r *http.Request, status int, refused string) {
	learner, ctx := p.Who(w, r), r.Context()
	words := stage.In(ctx)
	m, err := p.Progress.Map(ctx, learner)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	c, err := p.Progress.Calibration(ctx, learner)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	notices, err := p.Progress.Notices(ctx, learner)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	aside, err := p.Progress.DamagedFiles()
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	p.HTML(w, r, status, progressHTML(progressPage{
		Trouble: p.Progress.Trouble(ctx), Damaged: damagedText(words, aside),
		Map: coursework.NewMap(p.Course.In(ctx), m), Drills: drillLines(words.Language, m.Drills),
		Chart:   newCalibrationChart(words, c),
		Notices: notices, Keeping: p.Keeping, Done: doneText(words, r.URL.Query(), len(aside) > 0), Refused: refused,
	}))
}

// export handles GET /progress/export. It sends all saved data as one file.
func (p *Pages) export(w http.ResponseWriter, r *http.Request) {
	data, err := p.Progress.Export(r.Context(), p.Who(w, r))
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", `attachment; filename="token-by-token-progress.json"`)
	w.Header().Set("Cache-Control", "no-store")
	w.Write(data)
}

// deleteAll handles POST /progress/delete. The form has a checkbox that must be checked first.
func (p *Pages) deleteAll(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	words := stage.In(r.Context())
	if r.PostForm.Get("sure") != "yes" {
		p.Refuse(w, r, http.StatusBadRequest, words.T("practice.delete.none"), words.T("practice.delete.none.say"))
		return
	}
	learner := p.Who(w, r)
	err := p.Progress.Delete(r.Context(), learner)
	if p.Forget != nil { // do this even if some other data could not be deleted
		inClasses := p.Forget(r.Context(), learner)
		if refused, ok := terms.AsRefusal(inClasses); err == nil && ok && refused.Code == class.CodeDamaged {
			p.Refuse(w, r, http.StatusServiceUnavailable, words.T("practice.delete.part"),
				words.T("practice.delete.part.say", "why", refused.In(words.Language)))
			return
		}
		err = errors.Join(err, inClasses)
	}
	if err != nil {
		p.Log.Error("failed to delete a learner's data", "err", err)
		p.Refuse(w, r, http.StatusServiceUnavailable, words.T("practice.delete.failed"), notErased(words, err))
		return
	}
	http.Redirect(w, r, "/progress?done=deleted", http.StatusSeeOther)
}

// notErased explains why some data was not erased, and what may be left.
func notErased(w stage.Words, err error) string {
	if why := store.WhyIn(w.Language, err); why != "" {
		return w.T("practice.delete.failed.why", "why", why)
	}
	if errors.Is(err, store.ErrReading) {
		return w.T("practice.delete.failed.reading")
	}
	return w.T("practice.delete.failed.say")
}

// doneQuery encodes an import's counts as the query string of the page to which the form redirects.
func doneQuery(n progress.Imported) url.Values {
	return url.Values{
		"done": {"imported"}, "visits": {strconv.Itoa(n.Visits)}, "answers": {strconv.Itoa(n.Answers)},
		"reviews": {strconv.Itoa(n.Reviews)}, "guesses": {strconv.Itoa(n.Predictions)},
	}
}

// doneText describes the completed action that a query names, such as one from doneQuery. damaged
// reports whether there are quarantined files.
func doneText(w stage.Words, q url.Values, damaged bool) string {
	switch q.Get("done") {
	case "deleted":
		if damaged {
			return w.T("practice.deleted.damaged")
		}
		return w.T("practice.deleted")
	case "imported":
		var parts []string
		for _, f := range []struct{ field, key string }{
			{"visits", "practice.count.sections"},
			{"answers", "practice.count.answers"},
			{"reviews", "practice.count.reviews"},
			{"guesses", "practice.count.guesses"},
		} {
			if n, err := strconv.Atoi(q.Get(f.field)); err == nil && n > 0 {
				parts = append(parts, w.T(f.key, "n", n))
			}
		}
		if len(parts) == 0 {
			return w.T("practice.imported.nothing")
		}
		return w.T("practice.imported", "list", strings.Join(parts, ", "))
	}
	return ""
}

// damagedText describes the damaged files from which a deletion does not delete data. It returns ""
// if there are none.
func damagedText(w stage.Words, aside []store.DamagedFile) string {
	if len(aside) == 0 {
		return ""
	}
	var days []string
	for _, a := range aside {
		if d := w.Date(a.Since); !slices.Contains(days, d) {
			days = append(days, d)
		}
	}
	list := days[0]
	for _, d := range days[1:] {
		list = w.T("practice.damaged.days", "days", list, "day", d)
	}
	return w.T("practice.damaged", "days", list, "until", w.Date(aside[len(aside)-1].Until()))
}
