package runs

import (
	"context"
	"errors"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/grammar"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/session"
)

// grammarTime is roughly the time needed to compile a grammar. It only affects the order of the
// queue.
const grammarTime = 5 * time.Millisecond

// Grammar compiles a grammar for a caller. Grammars are compiled one at a time, in an order that is
// fair to all callers. An unusable grammar counts against the caller who sent it. Runs share a
// compiled grammar while something references it. The error is a *[terms.Refusal], with
// [terms.CodeFull] if there are too many grammars, or the context's error.
func (rs *Registry) Grammar(ctx context.Context, who admission.Caller, text string) (*grammar.Grammar, error) {
	if rs.cfg.BadGrammars.Wait(who) > 0 {
		return nil, terms.Refuse(terms.CodeFull, "run.grammar.bad")
	}
	_, leave, err := rs.cfg.Grammars.Enter(ctx, who, grammarTime, nil)
	if errors.Is(err, admission.ErrQueueFull) {
		return nil, terms.Refuse(terms.CodeFull, "run.grammar.queue")
	}
	if err != nil {
		return nil, err
	}
	defer leave()
	g, err := grammar.Compile(text)
	if err != nil {
		rs.cfg.BadGrammars.Spend(who)
	}
	return g, err
}

// compile compiles the grammars that a command sets. As long as the caller keeps the result, the
// session finds these grammars already compiled.
func (r *Run) compile(ctx context.Context, c session.Command) (held []*grammar.Grammar, err error) {
	for text := range grammarsOf(c) {
		g, err := r.grammar(ctx, r.caller, text)
		if err != nil {
			return nil, err
		}
		held = append(held, g)
	}
	return held, nil
}

// grammarsOf returns the texts of the grammars that a command sets.
func grammarsOf(c session.Command) map[string]bool {
	texts := map[string]bool{}
	logged := func(log infer.Log) {
		texts[log.Settings.Grammar] = true
		for _, change := range log.Changes {
			texts[change.Settings.Grammar] = true
		}
	}
	switch c := c.(type) {
	case session.Set:
		if c.Grammar != nil {
			texts[*c.Grammar] = true
		}
	case session.Open:
		logged(c.Link.Log)
	case session.Rebuild:
		logged(c.Link.Log)
	}
	delete(texts, "")
	return texts
}
