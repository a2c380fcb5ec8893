package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Fields are a command's fields as a client wrote them: JSON values, or the
// texts of a form. The readers take them out one by one and keep the first error;
// what is left over at the end was not expected.
type Fields struct {
	raw   map[string]json.RawMessage // JSON, or plain text where texts is set
	texts bool
	err   *terms.Refusal
}

// TextFields are the fields of a form. An empty one counts as not given.
func TextFields(form map[string]string) *Fields {
	f := &Fields{raw: map[string]json.RawMessage{}, texts: true}
	for name, text := range form {
		if text != "" {
			f.raw[name] = json.RawMessage(text)
		}
	}
	return f
}

// JSONFields are the fields of a message, which must be one JSON object of valid
// Unicode.
func JSONFields(message []byte) (*Fields, *terms.Refusal) {
	f := &Fields{}
	if err := json.Unmarshal(message, &f.raw); err != nil || f.raw == nil {
		return nil, terms.Refuse(terms.CodeFormat, `A message must be one JSON object such as {"cmd":"step","n":1}.`)
	}
	if halfCharacter(message) {
		return nil, terms.Refuse(
			terms.CodeFormat,
			"The message contains half of a character (a \\ud800 to \\udfff escape without its other half); "+
				"it must be valid Unicode.",
		)
	}
	return f, nil
}

// Err is the first thing that is wrong with the fields read so far, or nil.
func (f *Fields) Err() *terms.Refusal { return f.err }

// Has reports whether a field is given and has not been taken.
func (f *Fields) Has(name string) bool { _, ok := f.raw[name]; return ok }

// Rest are the fields that have not been taken, by name, each as it came.
func (f *Fields) Rest() map[string]json.RawMessage { return f.raw }

// Unexpected is the refusal of the first field, by name, that has not been taken;
// of is what it was sent with, takes what that has.
func (f *Fields) Unexpected(of, takes string) *terms.Refusal {
	if f.err != nil || len(f.raw) == 0 {
		return f.err
	}
	name := slices.Min(slices.Collect(maps.Keys(f.raw)))
	f.err = terms.Refuse(terms.CodeUnknown, "%s has no field %s; its fields are %s.",
		of, terms.Quoted(name), strings.TrimPrefix(takes+", cmd, n", ", "))
	f.err.Field, f.err.Want = clip([]byte(name)), takes
	return f.err
}

func (f *Fields) fail(code terms.Code, name, got, want string) {
	if f.err == nil {
		f.err = terms.RefuseField(name, got, want)
		f.err.Code = code
	}
}

// take removes a field and returns it, nil where it is missing.
func (f *Fields) take(name string) json.RawMessage {
	raw := f.raw[name]
	delete(f.raw, name)
	return raw
}

// got is a value as an error shows it.
func (f *Fields) got(raw json.RawMessage) string {
	switch {
	case raw == nil:
		return "missing"
	case f.texts:
		return terms.Quoted(string(raw))
	}
	return clip(raw)
}

// Text takes a text that must be given. A form's text may be empty; its line ends
// become "\n".
func (f *Fields) Text(name string) string {
	raw := f.take(name)
	if f.texts {
		return strings.ReplaceAll(string(raw), "\r\n", "\n")
	}
	var s *string
	if raw == nil || json.Unmarshal(raw, &s) != nil || s == nil {
		f.fail(terms.CodeRange, name, f.got(raw), "text")
		return ""
	}
	return *s
}

// Texts takes a list of texts that must be given: in a form, one a line.
func (f *Fields) Texts(name string) []string {
	raw := f.take(name)
	if f.texts {
		return append([]string{}, terms.ReadLines(string(raw))...)
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil || list == nil {
		f.fail(terms.CodeRange, name, f.got(raw), "a list of texts")
	}
	return list
}

// number reads a number in either form. JSON has no NaN and no infinity, and
// takes no number that is too large for a float64.
func (f *Fields) number(raw json.RawMessage) (float64, bool) {
	if f.texts {
		return terms.ReadNumber(string(raw))
	}
	if len(raw) == 0 || (raw[0] != '-' && (raw[0] < '0' || raw[0] > '9')) {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	return x, err == nil
}

// Number takes a number that must be given; want says which are taken.
func (f *Fields) Number(name, want string) float64 {
	raw := f.take(name)
	x, ok := f.number(raw)
	if !ok {
		f.fail(terms.CodeRange, name, f.got(raw), want)
	}
	return x
}

// Null reports whether a field is given as null, and takes it then.
func (f *Fields) Null(name string) bool {
	if f.texts || string(f.raw[name]) != "null" {
		return false
	}
	f.take(name)
	return true
}

// Knob takes the value of a knob into to, where the field is given. Whether the
// knob takes that value is asked when it is set.
func (f *Fields) Knob(k terms.Knob, to map[string]float64) {
	raw := f.take(k.Key)
	if raw == nil {
		return
	}
	x, ok := f.number(raw)
	if !ok || k.Whole && x != math.Trunc(x) {
		f.fail(terms.CodeRange, k.Key, f.got(raw), k.WantNumber())
		return
	}
	to[k.Key] = x
}

// Whole takes a whole number from least to most that must be given.
func (f *Fields) Whole(name string, least, most int64) int64 {
	raw := f.take(name)
	x, ok := f.number(raw)
	if !ok || x != math.Trunc(x) || x < float64(least) || x > float64(most) {
		want := "a whole number"
		switch {
		case least == 0:
			want += fmt.Sprintf(" from 0 to %d", most)
		case most < math.MaxInt32:
			want += fmt.Sprintf(" from %d to %d", least, most)
		}
		f.fail(terms.CodeRange, name, f.got(raw), want)
		return 0
	}
	return int64(x)
}

// Int takes a whole number, that must be given, as fits an int on every machine.
func (f *Fields) Int(name string) int { return int(f.Whole(name, math.MinInt32, math.MaxInt32)) }

// Truth takes true or false, which must be given. A form may leave out what is
// false, as it does with a box that is not ticked.
func (f *Fields) Truth(name string) bool {
	switch raw := f.take(name); {
	case string(raw) == "true":
		return true
	case string(raw) == "false", raw == nil && f.texts:
	default:
		f.fail(terms.CodeRange, name, f.got(raw), "true or false")
	}
	return false
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

// clip shows a value of a message, shortened at a character's start.
func clip(raw json.RawMessage) string {
	const most = 40
	if len(raw) <= most {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:most]), "") + "…"
}
