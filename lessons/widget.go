package lessons

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// A WidgetKind is a kind of live experiment.
type WidgetKind string

// The kinds.
const (
	WidgetTurn         WidgetKind = "turn"         // one turn of the loop
	WidgetTemperature  WidgetKind = "temperature"  // temperature on a real distribution
	WidgetNucleus      WidgetKind = "nucleus"      // top-k and top-p after a peaked and a flat prompt
	WidgetGreedyLoop   WidgetKind = "greedyloop"   // greedy caught in a loop
	WidgetBestSequence WidgetKind = "bestsequence" // the greedy path against the most probable sequence
	WidgetStopString   WidgetKind = "stopstring"   // a stop string cut across tokens
	WidgetCache        WidgetKind = "cache"        // how the cache saves work
	WidgetSpeculate    WidgetKind = "speculate"    // which drafted tokens are accepted or rejected
	WidgetTokens       WidgetKind = "tokens"       // a text cut into tokens
	WidgetLook         WidgetKind = "look"         // where one head of one block attends
	WidgetChat         WidgetKind = "chat"         // a conversation as the tokens that the model reads
)

// settings holds the parameters that most kinds have, which are all knobs.
var settings = func() (names []string) {
	for _, k := range terms.Knobs() {
		names = append(names, k.Short)
	}
	return names
}()

// widgetParams holds the parameters of each kind: first the required ones, then the optional ones.
// prompt, peaked, flat and edit are texts; t, k, p, minp, typical and seed are as in the loop;
// tokens is the number of tokens to generate; stop is one stop string; length is the number of
// tokens in a sequence; width is the number of candidates followed; gamma is the number of drafted
// tokens; block and head select the head to look at.
var widgetParams = map[WidgetKind]struct{ must, may []string }{
	WidgetTurn:         {[]string{"prompt"}, settings},
	WidgetTemperature:  {[]string{"prompt"}, []string{"t"}},
	WidgetNucleus:      {[]string{"peaked", "flat"}, []string{"k", "p", "t"}},
	WidgetGreedyLoop:   {[]string{"prompt"}, []string{"tokens", "t", "seed"}},
	WidgetBestSequence: {[]string{"prompt"}, []string{"length", "width"}},
	WidgetStopString:   {[]string{"prompt", "stop"}, settings},
	WidgetCache:        {[]string{"prompt"}, []string{"tokens"}},
	WidgetSpeculate:    {[]string{"prompt"}, append([]string{"gamma"}, settings...)},
	WidgetTokens:       {[]string{"prompt"}, nil},
	WidgetLook:         {[]string{"prompt"}, []string{"block", "head"}},
	WidgetChat:         {[]string{"prompt", "edit"}, nil},
}

// wholeParams holds the ranges of the integer parameters that are not knobs, or that have a smaller
// range here than in the loop.
var wholeParams = map[string]struct{ low, high uint64 }{
	"tokens": {1, 512}, "length": {2, 5}, "width": {2, 4096}, "gamma": {1, 8},
	"block": {1, 6}, "head": {1, 6},
}

// widget parses `::: widget KIND id=ID key="value"`.
func (l *loader) widget(section *Section, p block) Block {
	a, err := parseAttrs(p.words)
	if err != nil {
		l.problems.add(p.at, "%v", err)
		return nil
	}
	if len(a.words) != 1 || a.id != "" {
		l.problems.add(p.at, "a widget is ::: widget KIND id=ID key=\"value\"")
		return nil
	}
	w := Widget{Kind: WidgetKind(a.words[0]), ID: a.keys["id"], Params: a.keys}
	delete(a.keys, "id")
	rule, ok := widgetParams[w.Kind]
	if !ok {
		l.problems.add(p.at, "there is no widget %q", w.Kind)
		return nil
	}
	for _, err := range checkParams(a, rule.must, rule.may) {
		l.problems.add(p.at, "widget %s: %v", w.Kind, err)
	}
	w.Caption = l.body(section, p)
	return w
}

// checkParam checks a parameter against the engine's range.
func checkParam(key, value string) error {
	switch key {
	case "prompt", "peaked", "flat", "edit", "to":
		return infer.CheckPrompt(value, infer.MaxSampleBytes)
	case "stop":
		return infer.Stop{MaxTokens: 1, Strings: []string{value}}.Check()
	}
	r, ok := wholeParams[key]
	if k, isKnob := terms.KnobNamed(key); isKnob && !ok {
		k.Key = key // as the lesson's author wrote it
		_, err := k.Parse(value)
		return err
	}
	if !ok {
		return nil // the check of the kind rejects unknown names
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n < r.low || n > r.high || strings.HasPrefix(value, "+") {
		return terms.NewRangeError(key, terms.Quoted(value), fmt.Sprintf("a whole number from %d to %d", r.low, r.high))
	}
	return nil
}
