package why

import (
	"context"
	"errors"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/session"
)

// subject is the text that is asked about: a prompt, or a moment of a run.
type subject struct {
	prompt string
	log    string // the link of a run; then prompt is its text so far
	tokens []int
	with   string // the text that vectors are carried over from; "" for none
	heads  bool   // look for heads
	token  int    // whose score it is; < 0 for the most probable one
}

// read finds the tokens. Its errors are for the person who asked.
func (a *subject) read(ctx context.Context, m *infer.Model, all *runs.Registry) error {
	if a.log != "" {
		if err := a.replay(ctx, m, all); err != nil {
			return err
		}
	} else {
		if err := m.CheckPrompt(a.prompt, session.DefaultLimits().PromptBytes); err != nil {
			return err
		}
		if err := m.CheckText(a.prompt); err != nil {
			return err
		}
		a.tokens = m.Encode(a.prompt)
	}
	if most := min(maxTokens, m.Config().Context); len(a.tokens) == 0 || len(a.tokens) > most {
		return terms.NewRangeError(
			"prompt", terms.Counted(len(a.tokens), "token")+" long", "1 to "+terms.Counted(most, "token")+" long here",
		)
	}
	return nil
}

// replay makes a run again and takes what its step at the cursor has read. If the
// token after it has been drawn at that stage, it is that token's score.
func (a *subject) replay(ctx context.Context, m *infer.Model, all *runs.Registry) error {
	link, err := session.ParseLink(m, a.log)
	if err != nil {
		return err
	}
	run := all.NewSession()
	if _, err := run.Apply(ctx, session.Open{Link: link}); err != nil {
		return err
	}
	st := run.State()
	if st.Cursor.Step < 1 {
		return errors.New("this run has not begun, so there is no token to ask about")
	}
	var text strings.Builder
	for _, step := range st.Steps[:st.Cursor.Step] {
		a.tokens = append(a.tokens, step.Input...)
	}
	for _, id := range a.tokens {
		if t := m.Token(id); !t.Special {
			text.WriteString(t.Text)
		}
	}
	a.prompt = text.String()
	if st.Cursor.Stage >= infer.KindSample {
		a.token = st.Steps[st.Cursor.Step-1].Chosen
	}
	return nil
}
