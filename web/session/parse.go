package session

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Commands are the commands that a client can send to a run. This table is used for messages from
// sockets, for a presenter's form and for scripts, so that all of them accept the same commands.
var Commands = terms.Commands[Command]{
	{Name: "start", Inputs: terms.Inputs{terms.TextInput("prompt")}, Make: func(v terms.Values) Command {
		return Start{Prompt: v["prompt"]}
	}},
	{Name: "chat", Inputs: terms.Inputs{MessagesInput}, Make: func(v terms.Values) Command {
		return StartChat{Chat{Messages: MessagesOf(v)}}
	}},

	{Name: "step", Inputs: terms.Inputs{
		terms.Optional(terms.BoolInput("withhold")),
	}, Make: func(v terms.Values) Command { return StepStage{Withhold: v.Bool("withhold")} }},
	{Name: "draw", Make: just(Draw{})},
	{Name: "back", Make: just(Back{})},
	{Name: "token", Make: just(StepToken{})},
	{Name: "seek", Inputs: terms.Inputs{IntInput("step"), stageInput}, Make: func(v terms.Values) Command {
		stage, _ := stageOf(v["stage"])
		return Seek{Step: v.Int("step"), Stage: stage}
	}},
	{Name: "reset", Make: just(Reset{})},
	{Name: "play", Make: just(Play{})},
	{Name: "pause", Make: just(Pause{})},
	{Name: "finish", Make: just(Finish{})},
	{Name: "goon", Make: just(GoOn{})},
	{Name: "speed", Inputs: terms.Inputs{terms.TextInput("speed")}, Make: func(v terms.Values) Command {
		return SetSpeed{Speed: Speed(v["speed"])}
	}},

	{Name: "set", Inputs: setInputs, Make: makeSet},
	{Name: "move", Inputs: terms.Inputs{
		terms.TextInput("rule"), IntInput("to"),
	}, Make: func(v terms.Values) Command { return Move{Rule: v["rule"], To: v.Int("to")} }},
	{Name: "stop", Inputs: terms.Inputs{terms.Optional(terms.MustKnob("max_tokens").Input), StopsInput}, Make: makeSet},
	{Name: "preset", Inputs: terms.Inputs{terms.TextInput("preset")}, Make: func(v terms.Values) Command {
		return SetPreset{Key: v["preset"]}
	}},
	{Name: "try", Inputs: terms.Inputs{terms.TextInput("key")}, Make: func(v terms.Values) Command {
		return Try{Key: v["key"]}
	}},

	{Name: "choose", Inputs: terms.Inputs{
		IntInput("step"), IntInput("token"),
	}, Make: func(v terms.Values) Command { return Choose{Step: v.Int("step"), Token: v.Int("token")} }},
	{Name: "branch", Inputs: terms.Inputs{IntInput("id")}, Make: func(v terms.Values) Command {
		return TakeBranch{ID: v.Int("id")}
	}},
	{Name: "redraw", Inputs: terms.Inputs{terms.MustKnob("seed").Input}, Make: func(v terms.Values) Command {
		return Redraw{Seed: uint64(v.Float("seed"))}
	}},
	{Name: "whatif", Inputs: terms.Inputs{uInput}, Make: func(v terms.Values) Command {
		if v["u"] == null {
			return WhatIf{}
		}
		u, _ := terms.ReadNumber(v["u"])
		return WhatIf{U: &u}
	}},
	{Name: "look", Inputs: terms.Inputs{terms.BoolInput("on")}, Make: func(v terms.Values) Command {
		return SetLook{On: v.Bool("on")}
	}},
}

func just(c Command) func(terms.Values) Command { return func(terms.Values) Command { return c } }

// IntInput returns an input for any whole number that fits an int on every machine.
func IntInput(key string) terms.Input {
	in := terms.IntInput(key, math.MinInt32, math.MaxInt32)
	in.Want = terms.PhraseOf("want.int.any")
	return in
}

// setInputs are the inputs of the settings that change how tokens are drawn.
var setInputs = func() (list terms.Inputs) {
	for _, key := range terms.SetKeys() {
		list = append(list, terms.Optional(terms.MustKnob(key).Input))
	}
	return append(list, sampling.BiasInput, sampling.OrderInput, terms.Optional(terms.TextInput("grammar")))
}()

// StopsInput is the input for stop strings: one string or a list.
var StopsInput = terms.Input{Key: "stop", Kind: terms.KindLines, Optional: true, Want: terms.PhraseOf("run.want.stops")}

func makeSet(v terms.Values) Command {
	c := Set{Knobs: infer.Knobs{}, Bias: sampling.BiasOf(v)}
	for _, key := range terms.KnobKeys() {
		if _, given := v[key]; given {
			c.Knobs[key] = v.Float(key)
		}
	}
	c.Order, _ = sampling.OrderOf(v)
	if text, given := v["grammar"]; given {
		c.Grammar = &text
	}
	if _, given := v["stop"]; given {
		list := append([]string{}, v.Lines("stop")...)
		c.Stop = &list
	}
	return c
}

// stageInput is the input for a stage: its key or, in forms, its number.
var stageInput = terms.Input{Key: "stage", Kind: terms.KindText, Verify: func(name string) error {
	if _, ok := stageOf(name); ok {
		return nil
	}
	r := terms.RefuseField("stage", terms.Quoted(name), strings.Join(terms.StageKeys(), ", "))
	r.Code = terms.CodeUnknown
	return r
}}

func stageOf(name string) (infer.Kind, bool) {
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= terms.Stages {
		return infer.Kind(n), true
	}
	return infer.ParseKind(name)
}

// null is JSON's null as the text of an input.
const null = "null"

// uInput is the input for the u of a what-if question. null withdraws the question.
var uInput = terms.Input{Key: "u", Kind: terms.KindAny, Verify: func(text string) error {
	if _, ok := terms.ReadNumber(text); ok || text == null {
		return nil
	}
	return terms.NewRangeError("u", terms.Clip([]byte(text)), terms.PhraseOf("run.want.u.null"))
}}

// MessagesInput is the input for a conversation: a JSON list of objects with a role and a content.
var MessagesInput = terms.Input{Key: fieldMessages, Kind: terms.KindAny, Verify: func(text string) error {
	_, err := readMessages(text)
	return err
}, Want: wantMessages}

// MessagesOf returns the value of [MessagesInput].
func MessagesOf(v terms.Values) []chat.Message {
	list, _ := readMessages(v[fieldMessages]) //nolint:errcheck // checked by Verify
	return list
}

func readMessages(text string) (messages []chat.Message, err error) {
	refuse := func(got any) ([]chat.Message, error) {
		return nil, terms.NewRangeError(fieldMessages, got, wantMessages)
	}
	var list []json.RawMessage
	switch err := json.Unmarshal([]byte(text), &list); {
	case !json.Valid([]byte(text)):
		return refuse(terms.Quoted(text))
	case err != nil || list == nil:
		return refuse(terms.Clip([]byte(text)))
	case len(list) > MaxMessages:
		return refuse(terms.PhraseOf("got.list", "n", fmt.Sprint(len(list))))
	}
	for i, one := range list {
		f, bad := terms.JSONFields(one)
		var m chat.Message
		if bad == nil {
			m = chat.Message{Role: f.Text("role"), Content: f.Text("content")}
			bad = f.Unexpected("A message", "role, content")
		}
		if bad != nil {
			return refuse(terms.PhraseOf("run.got.message", "n", fmt.Sprint(i+1), "message", terms.Clip(one)))
		}
		messages = append(messages, m)
	}
	return messages, nil
}
