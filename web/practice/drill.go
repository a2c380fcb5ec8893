package practice

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/chance"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// A drillWork is a drill with one learner's work on it. The drill's numbers are in the address, and
// the answers are in the page's form. The server saves only the results of complete steps.
type drillWork struct {
	*drill.Problem
	Info    drill.Info
	Score   drill.Score
	Step    *drill.Step
	N       int    // the zero-based index of Step
	At      string // the current cell
	Help    int    // the level of help for the cell: hint 1 to 3, helpStep or helpResult; 0 for none
	Key     string // identifies this attempt, so that a step counts once
	Answers map[string]string
	First   map[string]string // the verdict on each cell's first answer; see firstWorth
	Kept    []string          // steps whose result was saved
	Worked  bool              // the worked solution is open
	Cell    string            // the cell that was just checked
}

// The levels of help for a cell after its hints.
const (
	helpStep   = drill.Rungs + 1
	helpResult = drill.Rungs + 2
)

// firstWorth maps the verdict on a cell's first answer to its credit. The verdicts are "r" (right),
// "p" (nearly right), "w" (wrong) and "s" (the result was shown). A verdict may be followed by
// firstSlip and the name of a mistake.
var firstWorth = map[string]float64{"r": 1, "p": 0.75, "w": 0.5, "s": 0}

const firstSlip = "."

// firstOf parses the verdict on a first answer. It returns the credit and the mistake, if any.
func firstOf(text string) (worth float64, slip drill.Mistake, ok bool) {
	state, name, slipped := strings.Cut(text, firstSlip)
	worth, ok = firstWorth[state]
	slip = drill.Mistake(name)
	return worth, slip, ok && slipped == slip.Known()
}

// openDrill returns the drill with the numbers in an address. If they are invalid, it sends a
// response and returns nil.
func (p *Pages) openDrill(w http.ResponseWriter, r *http.Request) *drillWork {
	words := stage.In(r.Context())
	info, ok := drill.Find(words.Language, r.PathValue("drill"))
	if !ok {
		p.Refuse(w, r, http.StatusNotFound, words.T("practice.drill.missing"), words.T("practice.drill.missing.say"))
		return nil
	}
	seed, level := uint64(0), 1
	q := r.URL.Query()
	var err error
	if s := q.Get("seed"); s != "" {
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			p.Refuse(
				w, r, http.StatusBadRequest, words.T("practice.drill.seed"), words.T("practice.drill.seed.say"),
			)
			return nil
		}
	}
	if s := q.Get("level"); s != "" {
		if level, err = strconv.Atoi(s); err != nil {
			level = -1
		}
	}
	problem, err := drill.New(words.Language, info.Kind, seed, level)
	if refused, ok := terms.AsRefusal(err); ok {
		p.Refuse(w, r, http.StatusNotFound, words.T("practice.drill.missing"), refused.In(words.Language))
		return nil
	}
	return &drillWork{
		Problem: problem, Info: info, Step: problem.Steps[0], Key: chance.Key(r.Context()),
		Answers: map[string]string{}, First: map[string]string{},
	}
}

// drill handles GET /practice/DRILL.
func (p *Pages) drill(w http.ResponseWriter, r *http.Request) {
	v := p.openDrill(w, r)
	if v == nil {
		return
	}
	v.goTo(r.URL.Query().Get("step"))
	v.settle()
	p.HTML(w, r, http.StatusOK, drillPage(v))
}

// drillCheck handles POST /practice/DRILL/check, to which the whole form of the drill is submitted.
// It sends the form back with the verdicts.
func (p *Pages) drillCheck(w http.ResponseWriter, r *http.Request) {
	v := p.openDrill(w, r)
	if v == nil || !p.Form(w, r) {
		return
	}
	v.read(r.PostForm)
	v.settle()
	if shell.Embedded(r.Context()) {
		// In a frame on another site, results are not saved.
	} else if err := p.keepDrill(w, r, v); err != nil {
		p.Fail(w, r, err)
		return
	}
	if shell.Fragment(r) {
		p.HTML(w, r, http.StatusOK, drillForm(v))
		return
	}
	p.HTML(w, r, http.StatusOK, drillPage(v))
}

// goTo opens the step with the given id. If there is no such step, the current step remains open.
func (v *drillWork) goTo(id string) {
	for i, s := range v.Steps {
		if s.ID == id {
			v.Step, v.N = s, i
		}
	}
}

// read reads the answers and the pressed button from the form.
func (v *drillWork) read(form url.Values) {
	if k := form.Get("key"); k != "" {
		v.Key = k
	}
	for _, id := range v.Order() {
		// The answer for a [drill.Set] is submitted as one value per checked box or, if its step is
		// not shown, as one comma-separated value.
		if text := strings.Join(
			slices.DeleteFunc(slices.Clone(form[id]), func(s string) bool { return s == "" }), ",",
		); text != "" {
			v.Answers[id] = text
		}
	}
	for _, s := range form["first"] {
		if id, state, ok := strings.Cut(s, "="); ok && v.Problem.Cell(id) != nil {
			if _, _, known := firstOf(state); known {
				v.First[id] = state
			}
		}
	}
	for _, s := range form["kept"] {
		if slices.ContainsFunc(v.Steps, func(x *drill.Step) bool { return x.ID == s }) {
			v.Kept = append(v.Kept, s)
		}
	}
	v.Worked = form.Get("worked") != ""
	v.Cell = form.Get("cell")
	v.goTo(form.Get("step"))
	v.At = form.Get("at")
	v.Help, _ = strconv.Atoi(form.Get("help"))
	v.Help = min(max(v.Help, 0), helpResult)
	v.asked(form.Get("do"))
}

// asked performs the action of the button that was pressed.
func (v *drillWork) asked(do string) {
	what, of, _ := strings.Cut(do, ":")
	switch what {
	case "go":
		v.goTo(of)
		v.At, v.Help = "", 0
	case "hint":
		v.Help = min(v.Help+1, helpStep)
	case "work":
		v.At, v.Help = of, max(v.Help, helpStep)
	case "show":
		v.Help = helpResult
		v.give(v.At)
	case "worked":
		v.Worked = true
		for _, id := range v.Order() {
			v.give(id)
		}
	}
}

// give records that the result of a cell was shown before the learner found it.
func (v *drillWork) give(id string) {
	if v.Problem.Cell(id) != nil && v.Check(id, v.Answers[id]).State != drill.Right {
		v.First[id] = "s"
	}
}

// settle computes the verdicts, including the verdicts on first answers, and the current cell.
func (v *drillWork) settle() {
	v.Score = v.Problem.Score(v.Answers)
	for id, verdict := range v.Score.Verdicts {
		state := map[drill.State]string{drill.Right: "r", drill.Part: "p", drill.Wrong: "w"}[verdict.State]
		if v.First[id] == "" && state != "" {
			if verdict.Mistake.Known() {
				state += firstSlip + string(verdict.Mistake)
			}
			v.First[id] = state
		}
	}
	cells := v.stepCells()
	if !slices.Contains(cells, v.At) {
		v.At, v.Help = cells[0], 0
		for _, id := range cells {
			if v.Score.Verdicts[id].State != drill.Right {
				v.At = id
				break
			}
		}
	}
}

// keepDrill saves the result of each complete step whose result has not been saved yet.
func (p *Pages) keepDrill(w http.ResponseWriter, r *http.Request, v *drillWork) error {
	for i, s := range v.Score.Steps {
		if !s.Complete || slices.Contains(v.Kept, s.ID) {
			continue
		}
		credit, first := 0.0, 0
		var slips []drill.Mistake
		cells := v.cellsOf(v.Steps[i])
		for _, id := range cells {
			worth, slip, _ := firstOf(v.First[id])
			credit += worth
			if v.First[id] == "r" {
				first++
			}
			slips = append(slips, slip)
		}
		err := p.Progress.Answer(r.Context(), p.Who(w, r), progress.Answer{
			ID: v.Key + "." + s.ID, Item: string(v.Kind) + "/" + s.ID, Kind: progress.Drill,
			Credit: credit / float64(len(cells)),
			Detail: progress.WithSlips(
				fmt.Sprintf("seed %d, level %d: %d of %d at first", v.Seed, v.Level, first, len(cells)), slips,
			),
		})
		if err != nil {
			return err
		}
		v.Kept = append(v.Kept, s.ID)
	}
	return nil
}

// stepCells returns the cells of the current step, in working order.
func (v *drillWork) stepCells() []string { return v.cellsOf(v.Step) }

// cellsOf returns a step's cells in working order. These are the cells whose ids begin with the
// step's id.
func (v *drillWork) cellsOf(s *drill.Step) []string {
	return slices.DeleteFunc(v.Order(), func(id string) bool { return !strings.HasPrefix(id, s.ID+".") })
}

// Action returns the address to which the form is sent.
func (v *drillWork) Action() string {
	return fmt.Sprintf("/practice/%s/check?seed=%d&level=%d", v.Kind, v.Seed, v.Level)
}

// Href returns the address of the same drill with the same numbers at the given level.
func (v *drillWork) Href(level int) string {
	return fmt.Sprintf("/practice/%s?seed=%d&level=%d", v.Kind, v.Seed, level)
}

// Fresh returns the address of the drill with new numbers.
func (v *drillWork) Fresh(ctx context.Context) string {
	return fmt.Sprintf("/practice/%s?seed=%d&level=%d", v.Kind, 1+chance.N(ctx, 9999), v.Level)
}

// Open reports whether the learner can work on the step.
func (v *drillWork) Open() bool { return v.Score.Steps[v.N].Open }

// Hidden returns the names and values of the form's hidden fields: the cells of other steps, the
// verdicts on first answers, and the steps whose results were saved.
func (v *drillWork) Hidden() [][2]string {
	var list [][2]string
	for _, id := range v.Order() {
		if text := v.Answers[id]; text != "" && (!strings.HasPrefix(id, v.Step.ID+".") || !v.Open()) {
			list = append(list, [2]string{id, text})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.First)) {
		list = append(list, [2]string{"first", id + "=" + v.First[id]})
	}
	for _, s := range v.Kept {
		list = append(list, [2]string{"kept", s})
	}
	return list
}
