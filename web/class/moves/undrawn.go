package moves

import (
	"context"
	"errors"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// Undrawn moves a run to a step whose token has not been drawn yet and computes the step's
// scores. It advances the stage only if it has to.
func Undrawn(ctx context.Context, do class.Do) (*session.State, error) {
	st, err := do(ctx, session.Pause{})
	if err != nil {
		return nil, err
	}
	if !st.Started() {
		return nil, terms.Refuse(class.CodeAsk, "class.refused.no_text")
	}
	f, shown := st.Frontier(), st.Cursor
	if f.Stage >= firstChosen {
		f, shown = session.Cursor{Step: f.Step + 1, Stage: infer.KindForward}, session.Cursor{}
		if st, err = goTo(ctx, do, st, f); err != nil {
			return nil, err
		}
	}
	if f.Stage < infer.KindLogits {
		if _, err = goTo(ctx, do, st, session.Cursor{Step: f.Step, Stage: infer.KindLogits}); err != nil {
			return nil, err
		}
	}
	if shown.Step != f.Step {
		shown = session.Cursor{Step: f.Step, Stage: infer.KindForward}
	}
	return do(ctx, session.Seek(shown))
}

// UndrawnBySampling is [Undrawn] for a draw, which needs a run that samples.
func UndrawnBySampling(ctx context.Context, do class.Do) (*session.State, error) {
	st, err := Undrawn(ctx, do)
	if err == nil && st.Settings.Greedy() {
		err = terms.Refuse(class.CodeAsk, "class.refused.greedy")
	}
	return st, err
}

// FindOpen generates tokens until isOpen accepts the position to which at moves the run.
func FindOpen(
	ctx context.Context, do class.Do, at func(context.Context, class.Do) (*session.State, error),
	isOpen func(*session.State) bool,
) (*session.State, error) {
	for range farthest {
		st, err := at(ctx, do)
		if err == nil && isOpen(st) {
			return st, nil
		}
		if err == nil {
			to := session.Cursor{Step: st.Frontier().Step, Stage: infer.KindCache}
			_, err = goTo(ctx, do, st, to)
		}
		var refused *terms.Refusal
		if errors.As(err, &refused) && refused.Code == session.CodeStopped {
			return nil, terms.Refuse(class.CodeAsk, "class.refused.text_ends")
		} else if err != nil {
			return nil, err
		}
	}
	return nil, terms.Refuse(class.CodeAsk, "class.refused.no_open_place", "n", farthest)
}

// Ready moves a run to a stage at which a script's question can be asked.
func Ready(ctx context.Context, do class.Do, st *session.State, a *lessons.AskSpec) (*session.State, error) {
	switch a.Kind {
	case lessons.AskNext:
		return Undrawn(ctx, do)
	case lessons.AskDraw:
		return UndrawnBySampling(ctx, do)
	}
	return st, nil
}

// farthest is the maximum number of tokens to generate to find an open position.
const farthest = 24
