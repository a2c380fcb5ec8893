package lessons

import "github.com/tokenbytoken/viz/infer/terms"

// A WidgetKind is a kind of live experiment.
type WidgetKind string

// The kinds.
const (
	WidgetTurn         WidgetKind = "turn"         // one turn of the loop
	WidgetTemperature  WidgetKind = "temperature"  // temperature on a real distribution
	WidgetNucleus      WidgetKind = "nucleus"      // top-k and top-p after a peaked and a flat prompt
	WidgetGreedyLoop   WidgetKind = "greedyloop"   // greedy decoding stuck in a loop
	WidgetBestSequence WidgetKind = "bestsequence" // the greedy path compared with the most probable sequence
	WidgetStopString   WidgetKind = "stopstring"   // a stop string split across tokens
	WidgetCache        WidgetKind = "cache"        // how the cache saves computation
	WidgetSpeculate    WidgetKind = "speculate"    // which drafted tokens are accepted or rejected
	WidgetTokens       WidgetKind = "tokens"       // a text split into tokens
	WidgetLook         WidgetKind = "look"         // where one head of one block attends
	WidgetChat         WidgetKind = "chat"         // a conversation as the tokens that the model reads
)

// Inputs returns the inputs of an experiment in a language, with the lesson's values as their
// defaults.
func (w Widget) Inputs(l *terms.Language) terms.Inputs {
	list := widgetInputs[w.Kind].With(w.Params)
	for i, in := range list {
		list[i] = inLanguage(l, in)
	}
	return list
}

// widget parses `::: widget KIND id=ID key="value"`.
func (l *loader) widget(section *Section, p block) Block {
	a, err := parseAttrs(p.words)
	if err != nil {
		l.problems.add(p.at, "%v", err)
		return nil
	}
	if len(a.words) != 1 || a.id != "" {
		l.problems.add(p.at, "invalid widget; want ::: widget KIND id=ID key=\"value\"")
		return nil
	}
	w := Widget{Kind: WidgetKind(a.words[0]), ID: a.keys["id"], Params: a.keys}
	delete(a.keys, "id")
	inputs, ok := widgetInputs[w.Kind]
	if !ok {
		l.problems.add(p.at, "unknown widget %q", w.Kind)
		return nil
	}
	for _, err := range checkInputs(inputs, a.keys) {
		l.problems.add(p.at, "widget %s: %v", w.Kind, err)
	}
	w.Caption = l.body(section, p)
	return w
}
