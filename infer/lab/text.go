package lab

import (
	"context"
	"errors"
	"io"

	"github.com/tokenbytoken/viz/infer"
)

// Token is one token of a text, as shown in rows and on pages.
type Token struct {
	ID      int    `json:"id"`
	Text    string `json:"text"`
	Special bool   `json:"special,omitempty"` // does not represent text; an example is the end-of-text token
}

func tokenOf(m *infer.Model, id int) Token {
	t := m.Token(id)
	return Token{ID: id, Text: t.Text, Special: t.Special}
}

func tokensOf(m *infer.Model, ids []int) []Token {
	list := make([]Token, len(ids))
	for i, id := range ids {
		list[i] = tokenOf(m, id)
	}
	return list
}

// turn runs a complete turn of a loop and returns its step. After the last step, it returns io.EOF.
func turn(ctx context.Context, l *infer.Loop) (*infer.Step, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := l.Advance(ctx); err != nil {
			return nil, err
		}
		if l.BetweenTurns() {
			steps := l.Steps()
			return steps[len(steps)-1], nil
		}
	}
}

// write runs a loop to its end, or until ctx is canceled, and returns the text.
func write(ctx context.Context, l *infer.Loop) (string, error) {
	text := ""
	for {
		s, err := turn(ctx, l)
		if errors.Is(err, io.EOF) {
			return text, nil
		} else if err != nil {
			return text, err
		}
		text += s.Text
	}
}

// chosen returns the ids of the tokens that a loop generated.
func chosen(l *infer.Loop) []int {
	steps := l.Steps()
	ids := make([]int, 0, len(steps))
	for _, s := range steps {
		if s.Ran >= infer.KindSample {
			ids = append(ids, s.Chosen)
		}
	}
	return ids
}

// canceled reports whether a run failed because ctx ended, rather than for another reason.
func canceled(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err())
}
