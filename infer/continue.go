package infer

import (
	"context"
	"fmt"

	"github.com/tokenbytoken/viz/infer/chat"
)

// Continue prepares to generate text after another prompt, as [NewChat] does, and reuses this
// loop's cache for the beginning that the prompt shares with this loop's text: when a chat has
// grown, only its new tokens are read. The columns are the same, bit for bit, as if the whole
// prompt had been read, because a column does not depend on later tokens. At least the last token
// is read, because its pass predicts the next one. The receiver does not change.
func (l *Loop) Continue(prompt chat.Text, s Settings) (*Loop, error) {
	next, err := NewChat(l.model, prompt, s)
	if err != nil || len(l.steps) == 0 {
		return next, err
	}
	read, n := l.steps[len(l.steps)-1].text(), 0
	for n < min(len(read), len(next.prompt)-1) && read[n] == next.prompt[n] {
		n++
	}
	next.columns, next.cache = n, l.cache.upTo(n)
	return next, nil
}

// readAhead fills the cache with the first n columns of the prompt, which were already cached when
// the original run began.
func (l *Loop) readAhead(ctx context.Context, n int) error {
	if n < 0 || n > 0 && n >= len(l.prompt) {
		return fmt.Errorf("cannot reuse %d cached columns for a prompt of %d tokens", n, len(l.prompt))
	}
	if n == 0 {
		return nil
	}
	if _, _, err := l.model.Forward(ctx, l.cache, l.prompt[:n]); err != nil {
		return fmt.Errorf("rereading the cached columns: %w", err)
	}
	l.columns = n
	return nil
}
