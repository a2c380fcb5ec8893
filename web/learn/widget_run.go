package learn

import (
	"context"
	"errors"
	"hash/fnv"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// newRun starts a run as the Loop would, without recording the internal values of its passes.
func newRun(ctx context.Context, m *infer.Model, prompt string, s infer.Settings) (*session.Session, error) {
	run := session.New(m, session.DefaultLimits())
	for _, c := range append([]session.Command{session.SetLook{On: false}}, session.Begin(s, prompt)...) {
		if _, err := run.Apply(ctx, c); err != nil {
			return nil, err
		}
	}
	return run, nil
}

// resetForNewText sets an input to 0 if it belongs to an earlier text than the prompt: a form sends the
// positions that were chosen in the text before. The input of identifies the text to which the
// others belong; resetForNewText sets it to the number of the prompt.
func resetForNewText(in terms.Values, key string) {
	h := fnv.New32a()
	h.Write([]byte(in["prompt"]))
	n := int(h.Sum32() >> 1)
	if of := in.Int("of"); of != 0 && of != n {
		in[key] = "0"
	}
	in.SetInt("of", n)
}

// settingsOf returns the settings in an experiment's inputs, with all other settings off.
func settingsOf(in terms.Values) infer.Settings {
	s := infer.DefaultSettings()
	s.Settings = sampling.Pure
	for _, k := range terms.Knobs() {
		if _, ok := in[k.Short]; ok {
			s.Set(k.Key, in.Float(k.Short))
		}
	}
	return s
}

// stageTo runs the stages of a turn up to the given one.
func stageTo(ctx context.Context, run *session.Session, kind infer.Kind) (*session.State, error) {
	st := run.State()
	for st.Cursor.Stage < kind {
		var err error
		if st, err = run.Apply(ctx, session.StepStage{}); err != nil {
			return nil, err
		}
	}
	return st, nil
}

// writeTo runs whole turns until n tokens are generated or the text ends, and returns the state
// after the last of them.
func writeTo(ctx context.Context, run *session.Session, n int) (*session.State, error) {
	st := run.State()
	for len(st.Steps) < n || st.Steps[len(st.Steps)-1].Ran < infer.KindCache {
		next, err := run.Apply(ctx, session.StepToken{})
		if e := new(terms.Refusal); errors.As(err, &e) && e.Code == session.CodeStopped {
			break
		} else if err != nil {
			return nil, err
		}
		st = next
	}
	return st, nil
}

// seekTo moves to a stage that has run.
func seekTo(ctx context.Context, run *session.Session, step int, kind infer.Kind) (*session.State, error) {
	return run.Apply(ctx, session.Seek{Step: step, Stage: kind})
}

// loopAt returns a link that opens the Loop at a state.
func loopAt(st *session.State) string {
	if link := session.LinkOf(st); link != "" {
		return "/loop?log=" + link
	}
	return ""
}

// writtenAs makes the run generate the given tokens, so that the Loop shows the same text. Where
// the draw would choose a different token, writtenAs overrides the draw. If the run already has
// some of the first tokens, it continues from there.
func writtenAs(ctx context.Context, run *session.Session, tokens []int) (*session.State, error) {
	st := run.State()
	for i, id := range tokens {
		var err error
		if st, err = writeTo(ctx, run, i+1); err != nil {
			return nil, err
		}
		if len(st.Steps) <= i {
			return st, nil // the run ended here
		}
		if st.Steps[i].Chosen != id {
			if _, err = run.Apply(ctx, session.Choose{Step: i + 1, Token: id}); err != nil {
				return nil, err
			}
			if st, err = writeTo(ctx, run, i+1); err != nil {
				return nil, err
			}
		}
	}
	return st, nil
}
