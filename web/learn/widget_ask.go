package learn

import (
	"context"
	"strings"

	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

// question returns the question that an experiment asks before it runs.
func (s *spec) question() guess.Question {
	key := "learn.ask." + s.Ask
	q := guess.Question{Ask: key}
	for _, c := range s.Choices() {
		q.Choices = append(q.Choices, guess.Choice{Key: c, Text: key + "." + c})
	}
	return q
}

// asking returns an experiment that waits for a guess: it has not run, and its body is empty.
func (s *spec) asking(ctx context.Context) (result, error) {
	var ask, body strings.Builder
	if err := widgetAsk(s, "", nil).Render(ctx, &ask); err != nil {
		return result{}, err
	}
	err := widgetWaits(s).Render(ctx, &body)
	return result{ask.String(), body.String()}, err
}

// judge compares a guess with what an experiment shows. It returns nil as long as that does not
// answer the question.
func (s *spec) judge(w stage.Words, e experiment, guessed string) *guess.Verdict {
	j, ok := e.(judge)
	if !ok {
		return nil
	}
	key, say, ok := j.answer(w, s.Ask)
	if !ok {
		return nil
	}
	return s.question().Judge(w, guessed, key, say)
}
