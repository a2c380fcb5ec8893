package learn

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/pages"
	"github.com/tokenbytoken/viz/web/progress"
)

// styles and scripts of the pages of Practise.
var (
	practiceStyles = []string{
		"css/learn.css", "css/pages.css", "css/practice.css", "css/practice-small.css", "css/quiz.css",
	}
	cardStyles  = append(slices.Clip(practiceStyles), "css/cards.css")
	paperStyles = []string{"css/learn.css", "css/pages.css", "css/paper.css"}
)

func (p *Pages) practiceRoutes() pages.Routes {
	return pages.Routes{
		"GET /practice":                p.practice,
		"GET /practice/{drill}":        p.drill,
		"POST /practice/{drill}/check": p.drillCheck,
		"GET /cards":                   p.cards,
		"POST /cards/review":           p.review,
		"GET /cards/print":             p.printCards,
		"GET /cards/fold":              p.foldCards,
		"GET /cards/export.txt":        p.exportAnki,
		"GET /cards/export.csv":        p.exportCSV,
		"GET /quiz":                    p.quiz,
		"POST /quiz/{id}":              p.quizAnswer,
		"GET /predict":                 p.predict,
		"POST /predict":                p.predictReveal,
	}
}

// practicePage is the list of everything to practise.
type practicePage struct {
	Drills []practiceDrill
	Deck   progress.Deck
	Tally  progress.Tally
	Asked  int // questions of the quiz
	Chart  calibrationChart
}

// practiceDrill is one drill of the list with how it went so far.
type practiceDrill struct {
	drill.Info
	Been string // "best 94%, 3 parts done"; "" where it was not tried
}

// practice answers GET /practice.
func (p *Pages) practice(w http.ResponseWriter, r *http.Request) {
	learner := p.Who(w, r)
	m, err := p.Progress.Map(r.Context(), learner)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	deck, err := p.Progress.Cards(r.Context(), learner)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	cal, err := p.Progress.Calibration(r.Context(), learner)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	v := practicePage{Deck: deck, Tally: m.All, Asked: len(p.Course.Questions), Chart: newCalibrationChart(cal)}
	for _, info := range drill.Kinds() {
		v.Drills = append(v.Drills, practiceDrill{info, been(m.Drills, info.Kind)})
	}
	p.HTML(w, r, http.StatusOK, practiceHTML(v))
}

// been says how a drill went so far.
func been(all []progress.DrillMap, kind drill.Kind) string {
	for _, d := range all {
		if d.Drill == string(kind) {
			return fmt.Sprintf("%s done, best %s", terms.Counted(d.Times, "step"), terms.Percent(d.Best))
		}
	}
	return ""
}
