package learn

import (
	"context"
	"strings"

	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

// asking returns an experiment that waits for a guess: it has not run, and its body is empty.
func (s *spec) asking(ctx context.Context) (result, error) {
	var ask, body strings.Builder
	if err := widgetAsk(s, "", nil).Render(ctx, &ask); err != nil {
		return result{}, err
	}
	err := widgetWaits(s).Render(ctx, &body)
	return result{Ask: ask.String(), Body: body.String()}, err
}

// judge compares a guess with what an experiment shows. It also returns the key of the choice that
// the result confirms. As long as the result does not answer the question, it returns nil and "".
func (s *spec) judge(w stage.Words, e experiment, guessed string) (v *guess.Verdict, found string) {
	j, ok := e.(judge)
	if !ok {
		return nil, ""
	}
	key, say, ok := j.answer(w, s.Ask)
	if !ok {
		return nil, ""
	}
	return guess.QuestionOf(s.Widget).Judge(w, guessed, key, say), key
}
