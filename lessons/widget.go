package lessons

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

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
	WidgetHide         WidgetKind = "hide"         // how the next token changes with tokens hidden
	WidgetCounters     WidgetKind = "counters"     // ten counters spread over a text, by the learner and by a head
	WidgetSure         WidgetKind = "sure"         // how sure the model is of right and wrong answers
)

// Inputs returns the inputs of an experiment in a language, with the lesson's values as their
// defaults.
func (w Widget) Inputs(l *terms.Language) terms.Inputs {
	list := widgetInputs[w.Kind].With(w.Params)
	for i, in := range list {
		list[i] = inLanguage(l, in)
	}
	if w.Ask != "" {
		list = append(list, terms.Input{
			Key: "guess", Kind: terms.KindChoice, Options: append(w.Choices(), NoGuess), Default: NoGuess, Hidden: true,
		})
	}
	return list
}

// NoGuess is the value of the input guess for learners who did not answer an experiment's question.
const NoGuess = "none"

// widgetQuestions holds the questions that lessons can ask before an experiment runs, with the keys
// of their choices. If there are no keys, the choices are the words of the experiment's text: see
// [Widget.Words].
var widgetQuestions = map[WidgetKind]map[string][]string{
	WidgetTurn: {
		"scored":   {"1", "10", "1000", "all"}, // how many tokens can come next
		"favorite": {"5", "20", "50", "90"},    // how likely the likeliest token is, in percent
		"second":   {"new", "prompt", "all"},   // what the second pass reads
	},
	WidgetTemperature:  {"overtake": {"yes", "no"}},                   // whether T changes the order of two tokens
	WidgetNucleus:      {"keeps": {"3", "30", "300", "3000"}},         // tokens that top-p keeps for the second text
	WidgetGreedyLoop:   {"circle": {"5", "15", "30", "never"}},        // tokens before the text repeats itself
	WidgetBestSequence: {"best": {"yes", "no"}},                       // whether greedy finds the most probable text
	WidgetStopString:   {"seen": {"all", "some", "nothing"}},          // how much of the stop string is released
	WidgetCache:        {"times": {"2", "5", "20", "40"}},             // times the work without the cache
	WidgetSpeculate:    {"kept": {"0", "1", "2", "3", "4"}},           // guesses of the first round that stay
	WidgetChat:         {"hidden": {"zero", "third", "half", "most"}}, // how much of what is written is not shown
	WidgetLook:         {"heads": {"zero", "few", "half", "all"}},     // heads that look most at the last word but one
	WidgetHide:         {"word": nil},                                 // the word that matters most
}

// Choices returns the keys of the choices of an experiment's question. The key of a word is its
// number, from 1.
func (w Widget) Choices() []string {
	keys := slices.Clone(widgetQuestions[w.Kind][w.Ask])
	for i := range w.Words() {
		keys = append(keys, strconv.Itoa(i+1))
	}
	return keys
}

// Words returns the words of the experiment's text, without the last one, if they are the choices of
// its question.
func (w Widget) Words() []string {
	keys, asked := widgetQuestions[w.Kind][w.Ask]
	words := strings.Fields(w.Params["prompt"])
	if !asked || keys != nil || len(words) == 0 {
		return nil
	}
	return words[:len(words)-1]
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
	w := Widget{Kind: WidgetKind(a.words[0]), ID: a.keys["id"], Ask: a.keys["ask"], Params: a.keys}
	delete(a.keys, "id")
	delete(a.keys, "ask")
	inputs, ok := widgetInputs[w.Kind]
	if !ok {
		l.problems.add(p.at, "unknown widget %q", w.Kind)
		return nil
	}
	for _, err := range checkInputs(inputs, a.keys) {
		l.problems.add(p.at, "widget %s: %v", w.Kind, err)
	}
	if w.Ask != "" && w.Choices() == nil {
		l.problems.add(p.at, "widget %s: unknown question %q", w.Kind, w.Ask)
		return nil
	}
	w.Caption = l.body(section, p)
	return w
}
