package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/session"
)

// order is one message of a client: a command and the client's number for it.
type order struct {
	n       uint64          // 0 where the client gave none
	name    string          // "step", "set", ...
	command session.Command // nil for open, rebuild, ping, pieces and the queries
	link    string          // for open and rebuild: the link, which it takes a model to read
	pieces  string          // for pieces: the text to cut into tokens
	query   *query          // what is asked of the run, changing nothing
}

// fields are a message's JSON fields. The readers below take them out one by
// one and keep the first error; what is left over at the end was not expected.
type fields struct {
	raw map[string]json.RawMessage
	err *session.Error
}

// grammar lists every command with its fields and how to make it of them.
var grammar = map[string]struct {
	fields string // comma-separated
	read   func(f *fields, o *order)
}{
	"start":  {"prompt", func(f *fields, o *order) { o.command = session.Start{Prompt: f.text("prompt")} }},
	"step":   {"", func(_ *fields, o *order) { o.command = session.StepStage{} }},
	"back":   {"", func(_ *fields, o *order) { o.command = session.Back{} }},
	"token":  {"", func(_ *fields, o *order) { o.command = session.StepToken{} }},
	"seek":   {"step, stage", readSeek},
	"reset":  {"", func(_ *fields, o *order) { o.command = session.Reset{} }},
	"play":   {"", func(_ *fields, o *order) { o.command = session.Play{} }},
	"pause":  {"", func(_ *fields, o *order) { o.command = session.Pause{} }},
	"speed":  {"speed", func(f *fields, o *order) { o.command = session.SetSpeed{Speed: session.Speed(f.text("speed"))} }},
	"set":    {"temperature, top_k, top_p, min_p, seed", readSet},
	"preset": {"preset", func(f *fields, o *order) { o.command = session.SetPreset{Key: f.text("preset")} }},
	"stop":   {"max_tokens, stop", readStop},
	"ping":   {"", func(*fields, *order) {}},
	"pieces": {"prompt", func(f *fields, o *order) { o.pieces = f.text("prompt") }},

	"choose": {"step, token", func(f *fields, o *order) {
		o.command = session.Choose{Step: f.number32("step"), Token: f.number32("token")}
	}},
	"branch":  {"id", func(f *fields, o *order) { o.command = session.TakeBranch{ID: f.number32("id")} }},
	"goon":    {"", func(_ *fields, o *order) { o.command = session.GoOn{} }},
	"finish":  {"", func(_ *fields, o *order) { o.command = session.Finish{} }},
	"whatif":  {"u", readWhatIf},
	"look":    {"on", func(f *fields, o *order) { o.command = session.SetLook{On: f.truth("on")} }},
	"open":    {"link", func(f *fields, o *order) { o.link = f.text("link") }},
	"rebuild": {"link", func(f *fields, o *order) { o.link = f.text("link") }},
	"redraw": {"seed", func(f *fields, o *order) {
		o.command = session.Redraw{Seed: uint64(f.whole("seed", 0, infer.MaxSeed))}
	}},
	"try": {"key", func(f *fields, o *order) { o.command = session.Try{Key: f.text("key")} }},

	"peek": {"step", func(f *fields, o *order) { o.query = &query{step: f.number32("step")} }},
	"find": {"step, text", func(f *fields, o *order) {
		o.query = &query{step: f.number32("step"), text: f.text("text")}
	}},
	"head": {"block, head", func(f *fields, o *order) {
		o.query = &query{block: f.number32("block"), head: f.number32("head")}
	}},
	"inside": {"block", func(f *fields, o *order) { o.query = &query{block: f.number32("block")} }},
}

// commandNames are all commands, for messages.
var commandNames = strings.Join(slices.Sorted(maps.Keys(grammar)), ", ")

// readOrder reads a client's message, which must be valid UTF-8. Whatever is
// wrong with it is said in the error; n is set even then, where it could be
// read.
func readOrder(message []byte) (order, *session.Error) {
	f := fields{}
	var o order
	if err := json.Unmarshal(message, &f.raw); err != nil || f.raw == nil {
		return o, &session.Error{Code: codeFormat, Message: `A message must be one JSON object such as {"cmd":"step","n":1}.`}
	}
	if halfCharacter(message) {
		return o, &session.Error{Code: codeFormat, Message: "The message contains half of a character (a \\ud800 to \\udfff escape without its other half); it must be valid Unicode."}
	}
	if f.has("n") {
		o.n = uint64(f.whole("n", 0, infer.MaxSeed))
	}
	if f.err != nil {
		return o, f.err
	}
	o.name = f.text("cmd")
	if f.err != nil {
		return o, f.err
	}
	g, ok := grammar[o.name]
	if !ok {
		return o, &session.Error{
			Code: session.CodeUnknown, Field: "cmd", Want: commandNames,
			Message: fmt.Sprintf("There is no command %s; the commands are %s.", quote(o.name), commandNames),
		}
	}
	g.read(&f, &o)
	if f.err == nil && len(f.raw) > 0 {
		name := slices.Min(slices.Collect(maps.Keys(f.raw)))
		f.err = &session.Error{Code: session.CodeUnknown, Field: clip([]byte(name)), Want: g.fields, Message: fmt.Sprintf(
			"%s has no field %s; its fields are %s.", o.name, quote(name), strings.TrimPrefix(g.fields+", cmd, n", ", "))}
	}
	return o, f.err
}

// halfCharacter reports whether JSON text that has been found valid holds a
// surrogate escape without its other half. The decoder would put U+FFFD in its
// place, and a learner would run another text than the one sent.
func halfCharacter(text []byte) bool {
	high := false // the escape just read is a first half
	for i := 0; i < len(text); {
		var unit uint64
		n := 1
		if text[i] == '\\' {
			n = 2
			if text[i+1] == 'u' {
				n = 6
				unit, _ = strconv.ParseUint(string(text[i+2:i+6]), 16, 16)
			}
		}
		low := unit >= 0xdc00 && unit <= 0xdfff
		if high != low {
			return true
		}
		high = unit >= 0xd800 && unit <= 0xdbff
		i += n
	}
	return high
}

func readSeek(f *fields, o *order) {
	step, name := f.number32("step"), f.text("stage")
	kind, ok := infer.ParseKind(name)
	if !ok && f.err == nil {
		var names []string
		for _, k := range infer.Kinds {
			names = append(names, k.String())
		}
		f.fail(session.CodeUnknown, "stage", quote(name), strings.Join(names, ", "))
	}
	o.command = session.Seek{Step: step, Stage: kind}
}

func readSet(f *fields, o *order) {
	var c session.SetSampling
	f.number("temperature", &c.Temperature)
	f.number("top_p", &c.TopP)
	f.number("min_p", &c.MinP)
	if f.has("top_k") {
		k := f.number32("top_k")
		c.TopK = &k
	}
	if f.has("seed") {
		seed := uint64(f.whole("seed", 0, infer.MaxSeed))
		c.Seed = &seed
	}
	o.command = c
}

func readStop(f *fields, o *order) {
	var c session.SetStop
	if f.has("max_tokens") {
		n := f.number32("max_tokens")
		c.MaxTokens = &n
	}
	if f.has("stop") {
		var list []string
		if raw := f.take("stop"); json.Unmarshal(raw, &list) != nil || list == nil {
			f.fail(session.CodeRange, "stop", clip(raw), "a list of texts")
		}
		c.Strings = &list
	}
	o.command = c
}

// readWhatIf reads another u; null takes the question back.
func readWhatIf(f *fields, o *order) {
	var c session.WhatIf
	if string(f.raw["u"]) == "null" {
		f.take("u")
	} else if f.number("u", &c.U); c.U == nil {
		f.fail(session.CodeRange, "u", "missing", "a number from 0 up to, but not including, 1, or null")
	}
	o.command = c
}

func (f *fields) has(name string) bool { _, ok := f.raw[name]; return ok }

// take removes a field and returns it, nil where it is missing.
func (f *fields) take(name string) json.RawMessage {
	raw := f.raw[name]
	delete(f.raw, name)
	return raw
}

// fail keeps the first error.
func (f *fields) fail(code session.Code, name, got, want string) {
	if f.err != nil {
		return
	}
	f.err = session.FieldError(name, got, want)
	f.err.Code = code
}

// text takes a string that must be there. JSON's escapes can spell half of a
// surrogate pair, which the decoder replaces by U+FFFD: then the text is not
// what the client holds, but it is text.
func (f *fields) text(name string) string {
	var s *string
	if raw := f.take(name); raw == nil {
		f.fail(session.CodeRange, name, "missing", "text")
	} else if json.Unmarshal(raw, &s) != nil || s == nil {
		f.fail(session.CodeRange, name, clip(raw), "text")
	}
	if s == nil {
		return ""
	}
	return *s
}

// number takes a number into *to where the field is there. JSON has no NaN
// and no infinity; a number too large for a float64 is refused.
func (f *fields) number(name string, to **float64) {
	raw := f.take(name)
	if raw == nil {
		return
	}
	x, ok := parseNumber(raw)
	if !ok {
		f.fail(session.CodeRange, name, clip(raw), "a number"+rangeOf(name))
		return
	}
	*to = &x
}

// rangeOf returns ", " and what the engine takes for a setting, in its own
// words, or "" for what is none.
func rangeOf(name string) string {
	s := infer.DefaultSettings()
	switch name {
	case "temperature":
		s.Temperature = -1
	case "top_k":
		s.TopK = -1
	case "top_p":
		s.TopP = -1
	case "min_p":
		s.MinP = -1
	case "max_tokens":
		s.Stop.MaxTokens = -1
	}
	var r *sampling.RangeError
	if errors.As(s.Check(), &r) {
		return ", " + r.Want
	}
	return ""
}

// whole takes a whole number from least to most that must be there.
func (f *fields) whole(name string, least, most int64) int64 {
	raw := f.take(name)
	x, ok := parseNumber(raw)
	if !ok || x != math.Trunc(x) || x < float64(least) || x > float64(most) {
		want := "a whole number" + rangeOf(name)
		if least == 0 {
			want = fmt.Sprintf("a whole number from 0 to %d", most)
		}
		got := clip(raw)
		if raw == nil {
			got = "missing"
		}
		f.fail(session.CodeRange, name, got, want)
		return 0
	}
	return int64(x)
}

// number32 takes a whole number that fits an int on every machine.
func (f *fields) number32(name string) int {
	return int(f.whole(name, math.MinInt32, math.MaxInt32))
}

// truth takes true or false.
func (f *fields) truth(name string) bool {
	switch raw := f.take(name); string(raw) {
	case "true":
		return true
	case "false":
	case "":
		f.fail(session.CodeRange, name, "missing", "true or false")
	default:
		f.fail(session.CodeRange, name, clip(raw), "true or false")
	}
	return false
}

// parseNumber reads a JSON number.
func parseNumber(raw json.RawMessage) (float64, bool) {
	if len(raw) == 0 || (raw[0] != '-' && (raw[0] < '0' || raw[0] > '9')) {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	return x, err == nil
}

// clip shows a value of a message, shortened at a character's start.
func clip(raw json.RawMessage) string {
	const most = 40
	if len(raw) <= most {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:most]), "") + "…"
}
