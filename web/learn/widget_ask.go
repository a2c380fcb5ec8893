package learn

import (
	"context"
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

// offered reports whether inputs are those of the lesson, to which the question refers. The position
// can be any, and so can a temperature that the learner is asked to move.
func (s *spec) offered(l *terms.Language, in terms.Values) bool {
	for _, i := range s.Inputs(l) {
		moves := i.Key == "at" || i.Key == "guess" || i.Key == "t" && s.Kind == lessons.WidgetTemperature
		if !moves && in[i.Key] != i.Default {
			return false
		}
	}
	return true
}

// judge compares a guess with what an experiment shows. It also returns the key of the choice that
// the result confirms. If the result does not answer the question, it returns nil and "".
func (s *spec) judge(w stage.Words, e experiment, in terms.Values) (v *guess.Verdict, found string) {
	j, ok := e.(judge)
	if !ok || !s.offered(w.Language, in) {
		return nil, ""
	}
	key, say, ok := j.answer(w, s.Ask)
	if !ok {
		return nil, ""
	}
	return guess.QuestionOf(s.Widget).Judge(w, in["guess"], key, say), key
}
