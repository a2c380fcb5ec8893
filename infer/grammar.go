package infer

import (
	"fmt"
	"sync"

	"github.com/tokenbytoken/viz/infer/grammar"
	"github.com/tokenbytoken/viz/infer/terms"
)

// vocabulary holds a model's tokens for grammars. It is built on first use.
type vocabulary struct {
	once sync.Once
	*grammar.Vocabulary
}

// vocabulary returns the model's tokens for grammars. Special tokens represent no text.
func (m *Model) vocabulary() *grammar.Vocabulary {
	m.words.once.Do(func() {
		tokens := make([][]byte, m.config.Vocab)
		for id := range tokens {
			if !m.Token(id).Special {
				tokens[id] = m.tok.Bytes(id)
			}
		}
		var ends []int
		for id := range m.eos {
			ends = append(ends, id)
		}
		m.words.Vocabulary = grammar.NewVocabulary(tokens, ends)
	})
	return m.words.Vocabulary
}

// constraint is a grammar with its masks for a model's vocabulary.
type constraint struct {
	text  string
	g     *grammar.Grammar
	masks *grammar.Masks
}

// constraint compiles a grammar, or returns the last compiled constraint if it is for the same
// grammar.
func (l *Loop) constraint(text string) (*constraint, error) {
	if l.kept != nil && l.kept.text == text {
		return l.kept, nil
	}
	if len(l.model.eos) == 0 {
		return nil, terms.NewRangeError(
			"grammar", terms.PhraseOf("got.given"), terms.PhraseOf("want.grammar.none"),
		)
	}
	g, err := grammar.Compile(text)
	if err != nil {
		return nil, err
	}
	l.kept = &constraint{text, g, grammar.NewMasks(l.model.vocabulary())}
	return l.kept, nil
}

// changeGrammar returns an error if the grammar cannot be set to text now. A generated text must
// have the same grammar from beginning to end.
func (l *Loop) changeGrammar(text string) error {
	if len(l.steps) > 1 || len(l.steps) == 1 && l.steps[0].Ran >= KindSample {
		return terms.NewRangeError("grammar", terms.PhraseOf("got.changed"), terms.PhraseOf("want.grammar.same"))
	}
	if text == "" {
		return nil
	}
	_, err := l.constraint(text)
	return err
}

// constrain computes the tokens that the grammar, if there is one, allows at a step.
func (l *Loop) constrain(s *Step) error {
	s.mask = nil
	if s.Settings.Grammar == "" {
		return nil
	}
	c, err := l.constraint(s.Settings.Grammar)
	if err != nil {
		return err
	}
	at := s.fits
	if s.N == 1 {
		at = c.g.Start()
	}
	if at == nil {
		return fmt.Errorf("step %d: the text before it does not match the grammar", s.N)
	}
	// The step that attends to the whole context window generates the last token.
	left := min(s.Settings.Stop.MaxTokens-s.N, l.model.config.Context-s.Positions()) + 1
	if s.mask, err = c.masks.Of(at, max(left, 1)); err != nil {
		return err
	}
	if s.mask.N == 0 {
		s.mask = nil
		return terms.Refuse(terms.CodeRange, "run.grammar.stuck")
	}
	return nil
}

// fitsAfter returns the state of the grammar after a step. An end of text leaves it
// unchanged, since the run may be continued after it.
func (l *Loop) fitsAfter(s *Step) *grammar.State {
	switch {
	case s.Settings.Grammar == "":
		return nil
	case s.N > 1 && s.fits == nil:
		return nil
	}
	at := s.fits
	if s.N == 1 {
		c, err := l.constraint(s.Settings.Grammar)
		if err != nil {
			return nil
		}
		at = c.g.Start()
	}
	if l.model.eos[s.Chosen] {
		return at
	}
	return at.Next(l.model.tok.Bytes(s.Chosen))
}

// allows returns a *[terms.RangeError] if the grammar of step n forbids a token there.
func (l *Loop) allows(n, id int) error {
	s := *l.steps[n-1]
	if s.mask == nil {
		if err := l.constrain(&s); err != nil {
			return err
		}
	}
	if s.mask != nil && !s.mask.Has(id) {
		return terms.NewRangeError("token", terms.Quoted(l.model.Token(id).Text), terms.PhraseOf("want.token.allowed"))
	}
	return nil
}

// Fitting describes the effect of the grammar at a step: how many tokens it allowed, whether it
// excluded some because the token limit is near, and whether the limit leaves too few tokens to
// complete the text. ok is false if there is no grammar or the step's softmax has not run.
func (s *Step) Fitting() (allowed int, closing, short, ok bool) {
	if s.mask == nil {
		return 0, false, false, false
	}
	return s.mask.N, s.mask.Closing, s.mask.Short, true
}
