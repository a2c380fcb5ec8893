package practice

import (
	"context"
	"net/http"
	"slices"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// Deps holds the dependencies of the pages. [coursework.Deps] and Model must be set.
type Deps struct {
	coursework.Deps
	// Model generates the texts in which learners guess the next token.
	Model *infer.Model
	// Forget, if not nil, is called when a learner deletes everything. It deletes the data that
	// other packages store about the learner: the learner's name in the member lists of classes.
	Forget func(ctx context.Context, learner string) error
	// Keeping determines how long progress is kept.
	Keeping Keeping
	// Limiter admits or refuses imports by the caller that Caller returns. If both are nil, all
	// imports are admitted.
	Limiter *admission.Limiter
	Caller  func(r *http.Request) (who admission.Caller, fresh *http.Cookie)
}

// Pages serves the pages of Practice.
type Pages struct {
	Deps
	coursework.Base
}

// New returns the pages.
func New(d Deps) *Pages { return &Pages{d, coursework.New(d.Deps)} }

// Mount registers the routes of Practice on mux.
func (p *Pages) Mount(mux *http.ServeMux) { p.Base.Mount(mux, p.routes()) }

// styles are the style sheets of the pages.
var (
	styles = append(
		slices.Clip(coursework.Styles), "css/practice.css", "css/practice-small.css", "css/quiz.css",
	)
	cardStyles  = append(slices.Clip(styles), "css/cards.css")
	quizScripts = append(slices.Clip(coursework.Scripts), "js/quiz.js")
	paperStyles = append(slices.Clip(coursework.Styles), "css/paper.css")
	// handoutStyles are the style sheets of worksheets.
	handoutStyles = append(slices.Clip(coursework.Styles), "css/handout.css")
)

func (p *Pages) routes() shell.Routes {
	return shell.Routes{
		"GET /practice":                 p.practice,
		"GET /practice/{drill}":         p.drill,
		"GET /practice/{drill}/sheet":   p.sheet,
		"POST /practice/{drill}/check":  p.drillCheck,
		"GET /cards":                    p.cards,
		"POST /cards/review":            p.review,
		"GET /cards/print":              p.printCards,
		"GET /cards/fold":               p.foldCards,
		"GET /cards/export.txt":         p.exportAnki,
		"GET /cards/export.csv":         p.exportCSV,
		"GET /assigned":                 p.assigned,
		"GET /quiz":                     p.quiz,
		"GET /quiz/sheet":               p.questionSheet,
		"POST /quiz/{id}":               p.quizAnswer,
		"GET /then-and-now":             p.thenAndNow,
		"GET /then-and-now/answers.csv": p.thenCSV,
		"GET /predict":                  p.predict,
		"POST /predict":                 p.predictReveal,
		"GET /progress":                 p.progress,
		"GET /progress/export":          p.export,
		"POST /progress/import":         p.importFile,
		"POST /progress/delete":         p.deleteAll,
	}
}

// A practicePage lists all exercises.
type practicePage struct {
	Drills []practiceDrill
	Deck   progress.Deck
	Tally  progress.Tally
	Asked  int // number of quiz questions
	Chart  calibrationChart
}

// A practiceDrill is one drill of the list with the learner's results.
type practiceDrill struct {
	drill.Info
	Been string // such as "3 steps done, best 94%"; "" if it was never tried
}

// practice handles GET /practice.
func (p *Pages) practice(w http.ResponseWriter, r *http.Request) {
	words, learner := stage.In(r.Context()), p.Who(w, r)
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
	v := practicePage{Deck: deck, Tally: m.All, Asked: len(p.Course.Questions), Chart: newCalibrationChart(words, cal)}
	for _, info := range drill.Kinds(words.Language) {
		v.Drills = append(v.Drills, practiceDrill{info, coursework.DrillText(words.Language, m.Drills, info.Kind)})
	}
	p.HTML(w, r, http.StatusOK, practiceHTML(v))
}
