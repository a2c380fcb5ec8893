package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Fields holds a command's fields as a client sent them: JSON values, or the strings of a form.
// Its methods parse and remove the fields one by one, and store the first error. A field that
// is left at the end is unexpected.
type Fields struct {
	raw   map[string]json.RawMessage // JSON, or plain text if texts is set
	texts bool
	err   *terms.Refusal
}

// TextFields returns the fields of a form. An empty field counts as missing.
func TextFields(form map[string]string) *Fields {
	f := &Fields{raw: map[string]json.RawMessage{}, texts: true}
	for name, text := range form {
		if text != "" {
			f.raw[name] = json.RawMessage(text)
		}
	}
	return f
}

// JSONFields returns the fields of a message, which must be one JSON object of valid
// Unicode without duplicate fields in any object.
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
	if name, twice := repeated(message); twice {
		return nil, terms.Refuse(
			terms.CodeFormat, "The message has the field %s twice; it may have each only once.", terms.Quoted(name),
		)
	}
	return f, nil
}

// Err returns the first error in the fields read so far, or nil.
func (f *Fields) Err() *terms.Refusal { return f.err }

// Has reports whether a field is given and has not been read.
func (f *Fields) Has(name string) bool { _, ok := f.raw[name]; return ok }

// Rest returns the unread fields by name, each as received.
func (f *Fields) Rest() map[string]json.RawMessage { return f.raw }

// Unexpected returns a refusal of the alphabetically first unread field, or nil if there is
// none. of names the object in which the field was sent, and takes lists the fields that this
// object may have.
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

// take removes a field and returns it, or nil if it is missing.
func (f *Fields) take(name string) json.RawMessage {
	raw := f.raw[name]
	delete(f.raw, name)
	return raw
}

// got formats a value for an error message.
func (f *Fields) got(raw json.RawMessage) string {
	switch {
	case raw == nil:
		return "missing"
	case f.texts:
		return terms.Quoted(string(raw))
	}
	return clip(raw)
}

// Text reads a required string. In a form, the string may be empty, and its line breaks become
// "\n".
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

// Texts reads a required list of strings. In a form, there is one string per line.
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

// number parses a number from JSON or from a form. JSON has no NaN and no infinity, and number
// rejects values that are too large for a float64.
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

// Number reads a required number. want describes the numbers that are accepted.
func (f *Fields) Number(name, want string) float64 {
	raw := f.take(name)
	x, ok := f.number(raw)
	if !ok {
		f.fail(terms.CodeRange, name, f.got(raw), want)
	}
	return x
}

// Null reports whether a field is null. If so, it reads the field.
func (f *Fields) Null(name string) bool {
	if f.texts || string(f.raw[name]) != "null" {
		return false
	}
	f.take(name)
	return true
}

// Knob reads the value of a knob into to, if the field is given. It does not check the value,
// which is checked when the knob is set.
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

// Bias reads a logit bias, if the field is given: an object with numbers by token id, or in a
// form a string such as "12:-100,50:5".
func (f *Fields) Bias(name string) *sampling.Bias {
	raw := f.take(name)
	if raw == nil {
		return nil
	}
	var b sampling.Bias
	var err error
	if f.texts {
		b, err = sampling.ParseBias(string(raw))
	} else {
		err = b.UnmarshalJSON(raw)
	}
	var wrong *sampling.RangeError
	if errors.As(err, &wrong) {
		f.fail(terms.CodeRange, name, wrong.Got, wrong.Want)
	}
	return &b
}

// Order reads an order of the rules: a string ([sampling.ParseOrder]) or a list of rule names.
// unnamed lists the rules that it omits.
func (f *Fields) Order(name string) (o sampling.Order, unnamed []sampling.Rule) {
	var text string
	if raw := f.raw[name]; len(raw) > 0 && raw[0] == '[' && !f.texts {
		text = strings.Join(f.Texts(name), ";")
	} else {
		text = f.Text(name)
	}
	if f.err != nil {
		return o, nil
	}
	o, unnamed, err := sampling.ParseOrder(text)
	var wrong *sampling.RangeError
	if errors.As(err, &wrong) {
		f.fail(terms.CodeRange, name, wrong.Got, wrong.Want)
	}
	return o, unnamed
}

// Whole reads a required whole number from least to most.
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

// Int reads a required whole number that fits an int on every machine.
func (f *Fields) Int(name string) int { return int(f.Whole(name, math.MinInt32, math.MaxInt32)) }

// Truth reads a required boolean. In a form, a missing field is false, since forms omit
// unchecked boxes.
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

// halfCharacter reports whether valid JSON text has a surrogate escape without its other half.
// The decoder would replace it with U+FFFD, and the run would have a different text from the
// one that the learner sent.
func halfCharacter(text []byte) bool {
	high := false // the previous escape is a first half
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

// repeated returns the name of a field that is duplicated in an object of valid JSON text, at
// any depth. The decoder would keep the last one, while other programs keep the first.
func repeated(text []byte) (name string, found bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	// open holds the names seen so far in each object that is still open, and nil for each
	// list.
	var open []map[string]bool
	for wantName := false; ; {
		token, err := d.Token()
		if err != nil {
			return "", false // end of the text, which is valid
		}
		if key, text := token.(string); text && wantName {
			seen := open[len(open)-1]
			if seen[key] {
				return key, true
			}
			seen[key], wantName = true, false
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		wantName = len(open) > 0 && open[len(open)-1] != nil
	}
}

// clip shortens a value for a message, at a character boundary.
func clip(raw json.RawMessage) string {
	const most = 40
	if len(raw) <= most {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:most]), "") + "…"
}
