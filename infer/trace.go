package infer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// CheckText rejects a prompt that the vocabulary cannot spell, with a
// *[terms.RangeError] that names the first byte without a token, and its
// position. Most vocabularies can spell any text.
func (m *Model) CheckText(prompt string) error { return unspelled(m.tok.Check(prompt)) }

// unspelled returns a *[terms.RangeError] if err reports text that has no token, and nil for any
// other error.
func unspelled(err error) error {
	var missing *tokenizer.MissingByteError
	if !errors.As(err, &missing) {
		return nil
	}
	return terms.NewRangeError(
		"prompt", terms.PhraseOf("got.unspelled", "what", missing.What(), "place", missing.Place()),
		terms.PhraseOf("want.spelled"),
	)
}

// CheckEncoded returns a *[terms.RangeError] for a prompt that the vocabulary cannot spell, or whose tokens,
// ids, do not fit in the context window.
func (m *Model) CheckEncoded(prompt string, ids []int) error {
	if err := m.CheckText(prompt); err != nil {
		return err
	}
	return m.checkLength(ids)
}

// checkLength rejects a prompt with no tokens, or with more tokens than fit in the context window.
func (m *Model) checkLength(ids []int) error {
	if len(ids) == 0 {
		return terms.NewRangeError("prompt", terms.PhraseOf("got.empty"), terms.PhraseOf("want.token"))
	}
	if len(ids) <= m.config.Context {
		return nil
	}
	got := "got.tokens"
	if m.config.BOS >= 0 {
		got = "got.tokens.marked"
	}
	return terms.NewRangeError("prompt", terms.PhraseOf(got, "n", fmt.Sprint(len(ids))), m.wantContext())
}

// wantContext describes prompts that fit in the context window.
func (m *Model) wantContext() terms.Phrase {
	return terms.PhraseOf("want.context", "most", fmt.Sprint(m.config.Context))
}

// Fit returns the tokens of a prompt that fits in the context, or a *[terms.RangeError] for any
// other prompt. A prompt too long for its tokens to fit is rejected without being encoded.
func (m *Model) Fit(text chat.Text) ([]int, error) {
	n := len(text.Text)
	if len(text.Marks) > 0 { // some special tokens absorb the white space around them
		n -= len(text.Text) - len(strings.Join(strings.Fields(text.Text), ""))
	}
	if n > m.longest {
		return nil, terms.NewRangeError(
			"prompt", terms.PhraseOf("got.bytes", "n", fmt.Sprint(len(text.Text))), m.wantContext(),
		)
	}
	ids, err := m.EncodeChat(text)
	if err != nil {
		return nil, err
	}
	return ids, m.checkLength(ids)
}

// Longest returns the maximum length in bytes of a text that can fit in the context.
func (m *Model) Longest() int { return m.longest }

// Model returns the model that generates the text.
func (l *Loop) Model() *Model { return l.model }

// Prompt returns the token ids of the prompt, including the start token.
func (l *Loop) Prompt() []int { return l.prompt }

// Settings returns the settings that the next stage will use.
func (l *Loop) Settings() Settings { return l.settings }

// Steps returns the turns so far. The returned slice and its steps never change.
func (l *Loop) Steps() []*Step { return l.steps[:len(l.steps):len(l.steps)] }

// Cache returns the loop's cache, read-only.
func (l *Loop) Cache() *Cache { return l.cache }

// Stopped returns why no further turn will begin, or [StopNone]. The current token limit and stop
// strings apply: a run that was stopped by one of them can continue after the limit is raised or
// the string is removed.
func (l *Loop) Stopped() StopReason {
	if len(l.steps) == 0 {
		return StopNone
	}
	last := l.steps[len(l.steps)-1]
	switch {
	case last.Ran < KindAppend:
		return StopNone
	case last.Positions() >= l.model.config.Context:
		return StopContext
	case last.WentOn:
		return StopNone
	case last.Stop == StopEOS:
		return StopEOS
	case last.Stop == StopString && slices.Contains(l.settings.Stop.Strings, last.StopString):
		return StopString
	case last.N >= l.settings.Stop.MaxTokens:
		return StopMaxTokens
	}
	return StopNone
}

// Set changes the settings. A step whose draw has not run yet uses the new settings immediately,
// even in its softmax and filter stages. Between its draw and its append stage, a step uses only
// the new stop conditions, since it has not checked stop conditions yet. Otherwise, the new
// settings apply from the next step on. If settings are out of range, Set returns a
// *[terms.RangeError] and has no effect.
func (l *Loop) Set(settings Settings) error {
	if err := settings.Check(); err != nil {
		return err
	}
	if settings.Grammar != l.settings.Grammar {
		if err := l.changeGrammar(settings.Grammar); err != nil {
			return err
		}
	}
	l.settings = settings
	if l.BetweenTurns() || l.steps[len(l.steps)-1].Ran >= KindAppend {
		return nil
	}
	s := l.open()
	if s.Ran == KindSample {
		s.Settings.Stop = settings.Stop
		l.put(s)
		return nil
	}
	s.Settings = settings
	l.dist = nil
	if s.Ran >= KindSoftmax {
		if err := l.softmax(context.Background(), s); err != nil {
			return err
		}
	}
	l.put(s)
	return nil
}

// Cut goes back to the given stage of step n, which must have run: it drops later stages and steps,
// and truncates the cache to the positions read up to that step. The current settings do not
// change. If the draw of step n is dropped, they also apply to that step.
func (l *Loop) Cut(n int, kind Kind) error {
	if n < 1 || n > len(l.steps) || kind < KindForward || kind > l.steps[n-1].Ran {
		return fmt.Errorf("step %d has not run its %s stage", n, kind)
	}
	l.steps = l.steps[:n:n]
	l.dist = nil
	s := *l.steps[n-1]
	l.cache.Truncate(s.Positions())
	s.forget(kind)
	l.put(&s)
	if !s.Settings.Equal(l.settings) {
		return l.Set(l.settings)
	}
	return nil
}

// forget clears the results of stages after kind.
func (s *Step) forget(kind Kind) {
	kept := Step{
		N: s.N, Ran: kind, Settings: s.Settings, Input: s.Input, Start: s.Start, Blocks: s.Blocks, last: s.last,
		before: s.before, state: s.state, fits: s.fits, tok: s.tok,
	}
	copy(kept.Took[:], s.Took[:kind+1])
	if kind >= KindLogits {
		kept.Logits, kept.Output = s.Logits, s.Output
	}
	if kind >= KindSoftmax {
		kept.Entropy, kept.mask = s.Entropy, s.mask
		kept.Took[KindFilter] = s.Took[KindFilter]
	}
	if kind >= KindSample {
		kept.Chosen, kept.Rank, kept.P, kept.Q, kept.U = s.Chosen, s.Rank, s.P, s.Q, s.U
		kept.Forced, kept.Drawn, kept.next = s.Forced, s.Drawn, s.next
	}
	if kind >= KindAppend {
		kept.Text, kept.Held, kept.Conditions = s.Text, s.Held, s.Conditions
		kept.Stop, kept.StopString, kept.WentOn = s.Stop, s.StopString, s.WentOn
	}
	if kind >= KindCache {
		kept.TotalCached, kept.TotalRecomputed = s.TotalCached, s.TotalRecomputed
	}
	*s = kept
}

// Bytes returns the memory used by the loop's cache and steps.
func (l *Loop) Bytes() int64 {
	const perStep = 1 << 10 // a step's own fields, roughly
	n := l.cache.Reserved()
	for _, s := range l.steps {
		n += perStep + int64(len(s.Logits)+len(s.last))*bytesPerValue
		if s.mask != nil {
			n += s.mask.Bytes()
		}
	}
	return n
}
