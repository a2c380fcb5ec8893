package session

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// A rule is a rule of the grammar: a command's fields, joined by commas, and a function that
// builds the command from them.
type rule struct {
	takes string
	read  func(f *Fields) Command
}

// grammar lists every command that a client can give a run, by its name. Socket messages, a
// presenter's form and scripts are all parsed here, so that all of them accept the same
// commands.
var grammar = map[string]rule{
	"start": {"prompt", func(f *Fields) Command { return Start{Prompt: f.Text("prompt")} }},

	"chat": {fieldMessages, func(f *Fields) Command { return StartChat{Chat{Messages: f.Messages(fieldMessages)}} }},

	"step":   {"withhold", readStep},
	"draw":   {"", func(*Fields) Command { return Draw{} }},
	"back":   {"", func(*Fields) Command { return Back{} }},
	"token":  {"", func(*Fields) Command { return StepToken{} }},
	"seek":   {"step, stage", readSeek},
	"reset":  {"", func(*Fields) Command { return Reset{} }},
	"play":   {"", func(*Fields) Command { return Play{} }},
	"pause":  {"", func(*Fields) Command { return Pause{} }},
	"finish": {"", func(*Fields) Command { return Finish{} }},
	"goon":   {"", func(*Fields) Command { return GoOn{} }},
	"speed":  {"speed", func(f *Fields) Command { return SetSpeed{Speed: Speed(f.Text("speed"))} }},

	"set":    {strings.Join(terms.SetKeys(), ", ") + ", logit_bias, samplers, grammar", readSettings},
	"move":   {"rule, to", func(f *Fields) Command { return Move{Rule: f.Text("rule"), To: f.Int("to")} }},
	"stop":   {"max_tokens, stop", readStop},
	"preset": {"preset", func(f *Fields) Command { return SetPreset{Key: f.Text("preset")} }},
	"try":    {"key", func(f *Fields) Command { return Try{Key: f.Text("key")} }},

	"choose": {"step, token", func(f *Fields) Command { return Choose{Step: f.Int("step"), Token: f.Int("token")} }},
	"branch": {"id", func(f *Fields) Command { return TakeBranch{ID: f.Int("id")} }},
	"redraw": {"seed", func(f *Fields) Command { return Redraw{Seed: uint64(f.Whole("seed", 0, terms.MaxSeed))} }},
	"whatif": {"u", readWhatIf},
	"look":   {"on", func(f *Fields) Command { return SetLook{On: f.Truth("on")} }},
}

// Names returns the names of all commands, sorted.
func Names() []string { return slices.Sorted(maps.Keys(grammar)) }

// Takes returns the fields of the command with the given name.
func Takes(name string) []string {
	if takes := grammar[name].takes; takes != "" {
		return strings.Split(takes, ", ")
	}
	return nil
}

// ParseCommand parses the fields of the command with the given name. ok is false if there is no
// such command. Unknown fields are refused by name.
func ParseCommand(name string, f *Fields) (c Command, ok bool, err *terms.Refusal) {
	r, ok := grammar[name]
	if !ok {
		return nil, false, nil
	}
	c = r.read(f)
	return c, true, f.Unexpected(name, r.takes)
}

// readStep reads the optional field that makes the run stop before the draw.
func readStep(f *Fields) Command {
	return StepStage{Withhold: f.Has("withhold") && f.Truth("withhold")}
}

func readSet(f *Fields, keys []string) Set {
	c := Set{Knobs: infer.Knobs{}}
	for _, key := range keys {
		f.Knob(terms.MustKnob(key), c.Knobs)
	}
	return c
}

// readSettings reads the settings that change how tokens are drawn.
func readSettings(f *Fields) Command {
	c := readSet(f, terms.SetKeys())
	c.Bias = f.Bias("logit_bias")
	if f.Has("samplers") {
		c.Order = new(sampling.Order)
		*c.Order, _ = f.Order("samplers")
	}
	if f.Has("grammar") {
		text := f.Text("grammar")
		c.Grammar = &text
	}
	return c
}

func readStop(f *Fields) Command {
	c := readSet(f, []string{"max_tokens"})
	if f.Has("stop") {
		list := f.Texts("stop")
		c.Stop = &list
	}
	return c
}

// readSeek reads a stage by its key. A form may use the stage's number.
func readSeek(f *Fields) Command {
	step, name := f.Int("step"), f.Text("stage")
	kind, ok := infer.ParseKind(name)
	if n, err := strconv.Atoi(name); !ok && f.texts && err == nil && n >= 1 && n <= terms.Stages {
		kind, ok = infer.Kind(n), true
	}
	if !ok {
		f.fail(terms.CodeUnknown, "stage", terms.Quoted(name), strings.Join(terms.StageKeys(), ", "))
	}
	return Seek{Step: step, Stage: kind}
}

// readWhatIf reads the u of a what-if question. null ends the question.
func readWhatIf(f *Fields) Command {
	if f.Null("u") {
		return WhatIf{}
	}
	u := f.Number("u", "a number from 0 up to, but not including, 1, or null")
	return WhatIf{U: &u}
}
