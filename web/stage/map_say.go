package stage

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// mapText fills in the picture's label and its text alternative.
func (w Words) mapText(s *session.State, m *Map, spans []span) {
	layers := s.Model.Config().Layers
	if !s.Started() {
		m.Aria = w.T("map.aria.empty", "blocks", w.Counted(layers, "block"))
		return
	}
	step := s.Step()
	n, read := step.Positions(), len(step.Input)
	key := "map.aria"
	switch {
	case m.Rows[0].Last == "":
		key = "map.aria.kept"
	case read == n:
		key = "map.aria.prefill"
	}
	m.Aria = w.T(
		key, "tokens", w.Counted(n, "token"), "blocks", w.Counted(layers, "block"), "read", terms.Count(read),
	)
	if fold := spans[0].to - spans[0].from; fold > 1 {
		m.Aria += " " + w.T("map.aria.fold", "n", terms.Count(fold))
	}
	if m.Known {
		m.Aria += " " + w.T("map.aria.shares", "shares", w.List(m.shareWords()))
	}
	if s.Look == nil {
		return
	}
	tokens := w.textTokens(s, s.Look.Position+1)
	for i, b := range s.Look.Blocks {
		m.Twin = append(m.Twin, MapFact{w.T("map.block", "n", terms.Count(i+1)), w.mapBlock(s, tokens, i, b)})
	}
}

// mapCaption describes what the map shows at a stage, even if the draw has not been made yet or the
// token was chosen by hand.
func (w Words) mapCaption(s *session.State, at infer.Kind, undrawn bool) string {
	key := "map.say." + at.String()
	if undrawn {
		key = "map.say.sample.open"
	} else if at == infer.KindSample && s.Step().Forced {
		key = "map.say.sample.forced"
	} else if at == infer.KindSample && s.Step().Settings.Greedy() {
		key = "map.say.sample.greedy"
	}
	return w.T(key, "width", terms.Count(s.Model.Config().Width))
}

func (m *Map) shareWords() []string {
	var words []string
	for _, v := range m.Shares {
		words = append(words, v.Text.Inline()+" "+v.Percent)
	}
	return words
}

// mapBlock describes the effect of a block: the norm before and after it, and the tokens that its
// heads read most.
func (w Words) mapBlock(s *session.State, tokens []Column, i int, b infer.BlockView) string {
	mean := make([]float32, len(tokens))
	for _, reads := range b.Attention {
		for j, x := range reads {
			mean[j] += x / float32(len(b.Attention))
		}
	}
	top := w.mostRead(tokens, mean, 1, outOfSight(s.Model.Config(), i, len(tokens)))[0]
	return w.T(
		"map.fact", "before", terms.Decimals(b.NormIn, 1), "after", terms.Decimals(b.NormOut, 1),
		"token", top.Text.Inline(), "at", top.At, "w", terms.ProbShort(top.w),
	)
}
