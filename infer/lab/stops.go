package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(80, stopsLab{})

type stopsLab struct{}

// Info implements [Lab].
func (stopsLab) Info(l *terms.Language) Info {
	return Info{
		Name: "stops", Title: l.T("lab.stops.title"),
		Claim:    l.T("lab.stops.claim"),
		Friend:   l.T("lab.stops.friend"),
		Question: l.T("lab.stops.question"),
		Inputs: append(terms.Inputs{
			promptInput(l, story),
			knobInput(l, "max_tokens", 100),
			stopsInput(
				l, "stop", l.T("lab.input.stop"), "User:\n</answer>\n\\n\\n", l.T("lab.input.stop.help"),
			),
			seedInput(l),
			{
				Key: "tokens", Label: l.T("lab.stops.input.tokens"), Unit: l.T("lab.unit.tokens"),
				Kind: terms.KindInt, Min: 1, Max: 4096, Step: 1,
				Default: "240", Help: l.T("lab.stops.input.tokens.help"),
			},
		}, samplingInputs(l, common())...),
		Try: []Preset{
			{
				Name: l.T("lab.stops.try.a_dialogue"), Why: l.T("lab.stops.try.a_dialogue.why"),
				Values: terms.Values{"prompt": "User: Hello!\nAssistant:", "stop": "User:"},
			},
			{
				Name:   l.T("lab.stops.try.no_stop_but_the_limit"),
				Why:    l.T("lab.stops.try.no_stop_but_the_limit.why"),
				Values: terms.Values{"stop": "", "max_tokens": "400", "tokens": "400"},
			},
		},
		Includes: l.T("lab.stops.includes"),
	}
}

// Stops is the result of the stops lab: a text, and the point at which each stop condition would
// have ended it.
type Stops struct {
	Prompt   []Token    `json:"prompt"`
	Tokens   []StopStep `json:"tokens"` // the tokens generated so far
	Racers   []Racer    `json:"racers"` // in the order in which they fire; conditions that never fire come last
	Winner   string     `json:"winner"` // the kind that ends the run; empty until the text is complete
	Answer   string     `json:"answer"` // the text that remains after the winner ends the run
	Straddle *Straddle  `json:"straddle"`
	NoEnd    NoEnd      `json:"no_end"`
}

// StopStep is one token, and how close each stop condition was to firing.
type StopStep struct {
	Step  int     `json:"step"`
	Token Token   `json:"token"`
	Text  string  `json:"text"`     // released by this step if stop strings are the only stop conditions
	Held  string  `json:"held"`     // held back because it could become part of a stop string
	EndP  float64 `json:"end_p"`    // probability of an end of text at this step
	Kept  bool    `json:"end_kept"` // the filters keep the end of text
	Match []int   `json:"match"`    // for each stop string, the number of its bytes matched so far
}

// Racer is one stop condition.
type Racer struct {
	Kind   infer.StopReason `json:"kind"`
	String string           `json:"string,omitempty"`
	Limit  int              `json:"limit,omitempty"` // tokens, or positions of the context
	Step   int              `json:"step"`            // the step at which it fires; 0 if it did not fire
	Sure   bool             `json:"sure"`            // Step was known in advance, as for a limit
	Text   string           `json:"text"`            // the text that would remain if this condition ended the run
	Say    Phrase           `json:"say"`
}

// Straddle is a stop string that begins inside one token and ends in a later token.
type Straddle struct {
	String string         `json:"string"`
	Given  bool           `json:"given"` // one of the given strings; otherwise, it was cut from the generated text
	First  int            `json:"first_step"`
	Last   int            `json:"last_step"`
	Offset int            `json:"offset"` // number of bytes of the first token before the string
	Steps  []StraddleStep `json:"steps"`  // the tokens around the string
	Kept   string         `json:"kept"`   // the answer: the text before the string
}

// StraddleStep is one token of the run that the stop string ends.
type StraddleStep struct {
	Step    int              `json:"step"`
	Token   Token            `json:"token"`
	Text    string           `json:"text"`    // released
	Held    string           `json:"held"`    // held back
	Matched int              `json:"matched"` // number of bytes of the string matched so far
	Stop    infer.StopReason `json:"stop,omitempty"`
}

// NoEnd describes what happens if only a limit can end the text.
type NoEnd struct {
	// EndAt is the step that generated the first end-of-text token, or 0 if there was none.
	EndAt    int             `json:"end_at"`
	Ends     int             `json:"ends"`             // number of end-of-text tokens
	Before   string          `json:"before"`           // the text that the model generated up to EndAt
	After    string          `json:"after"`            // the text that it generated after EndAt
	Tokens   int             `json:"tokens"`           // tokens generated in total
	Measures [2]TextMeasures `json:"measures"`         // of Before and After
	Circle   *Circle         `json:"circle,omitempty"` // nil unless the text after EndAt loops
	Say      Phrase          `json:"say"`
}

func (s *Stops) findings() []Phrase {
	list := []Phrase{Text("lab.stops.found.none", "n", fmt.Sprint(len(s.Tokens)))}
	if first := s.Racers[0]; s.Winner != "" {
		a := func(l *terms.Language) string { return terms.Capital(l.Stop(s.Winner).A) }
		list[0] = Text("lab.stops.found", "stop", a, "n", fmt.Sprint(first.Step))
		if first.String != "" {
			list[0] = Text("lab.stops.found.string", "stop", a, "string", shown(first.String), "n",
				fmt.Sprint(first.Step))
		}
	}
	if x := s.Straddle; x != nil {
		list = append(list, Text("lab.stops.found.straddle", "string", shown(x.String), "bytes", fmt.Sprint(x.Offset),
			"first", fmt.Sprint(x.First), "last", fmt.Sprint(x.Last)))
	}
	return append(list, s.NoEnd.Say)
}
