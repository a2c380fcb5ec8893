package infer

import (
	"context"
	"fmt"
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
)

// GoOnTokens is the number of tokens that [Loop.GoOn] adds to a token limit that has been reached.
const GoOnTokens = 64

// Choose replaces the token drawn in step n with token id. The logits stage of step n must have
// run. Everything after the step's filter stage is dropped, and the step's sample stage becomes the
// last stage that has run. The random number u is still drawn, so that a page can show which token
// it would have chosen. If id is outside the vocabulary or the grammar forbids it at that step,
// Choose returns a *[terms.RangeError] and changes nothing.
func (l *Loop) Choose(ctx context.Context, n, id int) error {
	if id < 0 || id >= l.model.config.Vocab {
		return terms.NewRangeError(
			"token", id, terms.PhraseOf("want.between", "min", "0", "max", fmt.Sprint(l.model.config.Vocab-1)),
		)
	}
	if n < 1 || n > len(l.steps) || l.steps[n-1].Ran < KindLogits {
		return fmt.Errorf("step %d has no scores to choose from yet", n)
	}
	if err := l.allows(n, id); err != nil {
		return err
	}
	if err := l.Cut(n, min(l.steps[n-1].Ran, KindFilter)); err != nil {
		return err
	}
	l.force = &id
	defer func() { l.force = nil }()
	for l.steps[n-1].Ran < KindSample {
		if _, err := l.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// GoOn continues a stopped run: it ignores the end of text or the stop string that was reached, or
// raises the token limit by [GoOnTokens]. It returns an error if the run has not stopped, or if its
// context window is full.
func (l *Loop) GoOn() error {
	switch l.Stopped() {
	case StopNone:
		return fmt.Errorf("the run has not stopped")
	case StopContext:
		return fmt.Errorf("the context window of %d positions is full", l.model.config.Context)
	case StopMaxTokens:
		settings := l.settings
		settings.Stop.MaxTokens = len(l.steps) + GoOnTokens
		return l.Set(settings)
	}
	s := *l.steps[len(l.steps)-1]
	s.WentOn = true
	l.put(&s)
	return nil
}

// Adopt replaces the loop's steps and the settings for the steps that follow. The steps must have
// been run by this loop or by another loop with the same model and prompt. The cache keeps the
// columns that the old and new steps have in common; Adopt recomputes the rest. If ctx ends first,
// the loop is unchanged.
func (l *Loop) Adopt(ctx context.Context, steps []*Step, settings Settings) error {
	if len(steps) == 0 {
		return fmt.Errorf("no steps to adopt")
	}
	common := 0
	for common < len(steps) && common < len(l.steps) && slices.Equal(steps[common].Input, l.steps[common].Input) {
		common++
	}
	var missing []int
	keep := steps[len(steps)-1].Positions()
	if common < len(steps) {
		keep = steps[common].Start
		for _, s := range steps[common:] {
			missing = append(missing, s.Input...)
		}
	}
	if len(missing) > 0 {
		cache := l.cache.upTo(keep)
		if _, _, err := l.model.Forward(ctx, cache, missing); err != nil {
			return err
		}
		l.cache = cache
	}
	l.cache.Truncate(keep + len(missing))
	l.steps, l.settings, l.dist = slices.Clip(steps), settings, nil
	return nil
}
