package learn

import (
	"context"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

// asking returns an experiment that waits for a guess: it has not run, and its body is empty.
func (s *spec) asking(ctx context.Context) (result, error) {
	var ask, body strings.Builder
	if err := widgetAsk(s, "", nil, true).Render(ctx, &ask); err != nil {
		return result{}, err
	}
	err := widgetWaits(s).Render(ctx, &body)
	return result{Ask: ask.String(), Body: body.String()}, err
}

// moved lists the inputs, besides the position, that learners can change without changing the answer
// to the question.
var moved = map[lessons.WidgetKind][]string{
	lessons.WidgetTemperature: {"t"},
	lessons.WidgetHide:        {"off", "of"},
	lessons.WidgetLook:        {"block", "head", "row", "of"},
}

// hasDefaults reports whether the inputs have the lesson's values, except for those that learners can
// change. The question is about these values.
func (s *spec) hasDefaults(l *terms.Language, in terms.Values) bool {
	free := append([]string{"at", "guess"}, moved[s.Kind]...)
	for _, i := range s.Inputs(l) {
		if !slices.Contains(free, i.Key) && in[i.Key] != i.Default {
			return false
		}
	}
	return true
}

// judge compares a guess with what an experiment shows. It also returns the key of the choice that
// the result confirms. If the result does not answer the question, it returns nil and "".
func (s *spec) judge(
	ctx context.Context, e experiment, in terms.Values,
) (v *guess.Verdict, found string, err error) {
	w := stage.In(ctx)
	j, ok := e.(judge)
	if !ok || !s.hasDefaults(w.Language, in) {
		return nil, "", nil
	}
	if p, ok := e.(preparer); ok {
		if err := p.prepare(ctx); err != nil {
			return nil, "", err
		}
	}
	key, say, ok := j.answer(w, s.Ask)
	if !ok {
		return nil, "", nil
	}
	return guess.QuestionOf(s.Widget).Judge(w, in["guess"], key, say), key, nil
}
