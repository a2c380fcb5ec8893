package learn

import (
	"io"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/shell"
)

// templWriter is the writer to which components are rendered.
type templWriter = io.Writer

// A result is what an experiment shows, as HTML: its question, if it asks one, and its body. verdict
// is nil if nothing has answered the question yet. found is the key of the choice that this result
// confirms, or "".
type result struct {
	Ask, Body string
	verdict   *guess.Verdict
	found     string
}

// A figure is an experiment as shown on a page.
type figure struct {
	*spec
	View    shell.View
	Texts   []shell.Control // text inputs
	Numbers []shell.Control // numeric inputs
	result
	Error string // why the inputs were refused, or why the body is empty
	Own   string // the learner's sentence, with which a button runs the experiment; "" for no button
}

// ownKinds are the experiments that a button can run with the learner's sentence. The others need a
// text of a certain kind.
var ownKinds = []lessons.WidgetKind{
	lessons.WidgetTurn, lessons.WidgetTemperature, lessons.WidgetGreedyLoop, lessons.WidgetBestSequence,
	lessons.WidgetCache, lessons.WidgetSpeculate, lessons.WidgetTokens, lessons.WidgetLook, lessons.WidgetHide,
}

// offering adds a button that runs the experiment with the learner's sentence, unless it runs with
// that sentence already.
func (f figure) offering(own string) figure {
	if slices.Contains(ownKinds, f.Kind) && slices.ContainsFunc(f.Texts, func(c shell.Control) bool {
		return c.Key == "prompt" && c.Value != own
	}) {
		f.Own = own
	}
	return f
}

// newFigure lays out an experiment's inputs around its body.
func newFigure(
	l *terms.Language, s *spec, view shell.View, in terms.Values, html result, err error,
) figure {
	f := figure{spec: s, View: view, result: html}
	for _, one := range s.Inputs(l) {
		c := shell.Control{Input: one, ID: s.ID + "-" + one.Key, Value: in[one.Key]}
		switch {
		case c.Hidden: // the body or the question sends it
		case c.Kind == terms.KindText:
			f.Texts = append(f.Texts, c)
		default:
			f.Numbers = append(f.Numbers, c)
		}
	}
	if err != nil {
		f.Error = troubleOf(err).In(l)
	}
	if strings.TrimSpace(f.Body) == "" {
		f.Body = nothing(s.ID)
	}
	return f
}

// nothing returns the empty body of an experiment that has nothing to show.
func nothing(id string) string { return `<div id="` + id + `-body" class="w__body"></div>` }

// A target is a button and the position to which it moves the experiment.
type target struct {
	Words string
	At    int  // 0 if the button does nothing
	Main  bool // the button that continues
}
