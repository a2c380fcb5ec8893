package terms

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// InputKind is the type of an input's value.
type InputKind string

// The kinds of inputs. KindList is a list of whole numbers separated by commas. KindLines is a list
// of strings, one per line, as in [ReadLines]. KindAny is a form's text or any JSON value, exactly
// as it was sent; the input's Verify checks it.
const (
	KindInt    InputKind = "int"
	KindFloat  InputKind = "float"
	KindText   InputKind = "text"
	KindChoice InputKind = "choice"
	KindBool   InputKind = "bool"
	KindList   InputKind = "list"
	KindLines  InputKind = "strings"
	KindAny    InputKind = "any"
)

// Input describes a value that users can set: its name, its range, its default and its wording. All
// forms, links, flags and messages that use an input accept the same values, and reject other
// values with the same sentence. An input's value is a string in canonical form: numbers, for
// example, have their shortest form.
type Input struct {
	Key   string    `json:"name"`
	Label string    `json:"label"`
	The   string    `json:"-"` // the subject of a sentence about the input, if different from Label
	Unit  string    `json:"unit,omitempty"`
	Kind  InputKind `json:"kind"`

	// Min and Max bound a number, each number of a list, or a text's length in bytes. A text with a
	// Max of 0 is not checked. If Open is set, Min itself is not accepted.
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	Open bool    `json:"-"`
	// Step is the step of a number's slider. From and To are the slider's range, if it is narrower
	// than the range of the accepted values. Typed means that there is no slider, because
	// neighboring values are unrelated.
	Step     float64 `json:"step,omitempty"`
	From, To float64 `json:"-"`
	Typed    bool    `json:"-"`

	Options []string `json:"options,omitempty"`
	Default string   `json:"default"`
	Help    string   `json:"help"` // its effect, in one clause
	// Want describes the accepted values in words; wantNumber does so when the rejected value is
	// not a number. If they are empty, [Input.Wants] describes the bounds.
	Want       Phrase `json:"-"`
	wantNumber Phrase

	// Optional means that the input can be omitted, and that a text can be empty. Own means that a
	// number can be omitted ("" or 0), in which case the chosen model's own number is used.
	Optional bool `json:"-"`
	Own      bool `json:"own,omitempty"`
	// Words means that the text is a list of words separated by commas.
	Words bool `json:"-"`
	// Hidden means that forms do not show the input: a lesson or a button sets it.
	Hidden bool `json:"-"`
	// Marks are values that have their own button.
	Marks []string `json:"-"`
	// Verify performs further checks on a text or on lines. It can be nil.
	Verify func(value string) error `json:"-"`
}

// TextInput returns an input for a text of any length.
func TextInput(key string) Input { return Input{Key: key, Kind: KindText} }

// BoolInput returns an input for a boolean.
func BoolInput(key string) Input { return Input{Key: key, Kind: KindBool} }

// IntInput returns an input for a whole number from least to most.
func IntInput(key string, least, most float64) Input {
	return Input{Key: key, Kind: KindInt, Min: least, Max: most}
}

// NumberInput returns an input for a number that is at least low.
func NumberInput(key string, low float64) Input {
	return Input{Key: key, Kind: KindFloat, Min: low, Max: math.MaxFloat64, Want: PhraseOf("want.number.any")}
}

// Optional returns an input that can be omitted.
func Optional(in Input) Input {
	in.Optional = true
	return in
}

// Whole reports whether the input accepts only whole numbers.
func (in Input) Whole() bool { return in.Kind == KindInt }

// Number reports whether the input is a number.
func (in Input) Number() bool { return in.Kind == KindInt || in.Kind == KindFloat }

// With returns the input with the given default.
func (in Input) With(value string) Input {
	in.Default = value
	return in
}

// Slider returns the input with the given slider range, which also becomes the range of accepted
// values.
func (in Input) Slider(from, to float64) Input {
	in.Min, in.Max, in.From, in.To, in.Open, in.Want, in.wantNumber = from, to, from, to, false, Phrase{}, Phrase{}
	return in
}

// Range returns the range of the input's slider.
func (in Input) Range() (from, to float64) {
	if in.From < in.To {
		return in.From, in.To
	}
	return in.Min, in.Max
}

// Decimals returns the number of decimals that a slider shows.
func (in Input) Decimals() int {
	if in.Step == math.Trunc(in.Step) {
		return 0
	}
	return 2
}

// Wants describes the accepted values in words, with their unit.
func (in Input) Wants() Phrase {
	if want := in.wantNumber.or(in.Want); !want.IsZero() {
		return want
	}
	between := PhraseOf("want.between", "min", Plain(in.Min), "max", Plain(in.Max))
	if in.Unit != "" && in.Kind != KindText {
		between = PhraseOf("want.between.unit", "min", Plain(in.Min), "max", Plain(in.Max), "unit", in.Unit)
	}
	switch in.Kind {
	case KindInt:
		return PhraseOf("want.int", "between", between)
	case KindFloat:
		return PhraseOf("want.float", "between", between)
	case KindText:
		if in.Max == 0 {
			return PhraseOf("want.text")
		}
	case KindList:
		return PhraseOf("want.list", "between", between)
	case KindChoice:
		return PhraseOf("want.choice", "options", strings.Join(in.Options, ", "))
	case KindBool:
		return PhraseOf("want.bool")
	}
	return PhraseOf("want.bytes", "between", between)
}

// Refuse returns a *[RangeError] for a value. got is the value as shown in a message.
func (in Input) Refuse(got any) error { return in.refuse(got, in.Wants()) }

func (in Input) refuse(got, want any) error {
	e := NewRangeError(in.Key, got, want)
	if name := cmp.Or(in.The, in.Label); name != the(in.Key).String() { // a name that only this input has
		e.Subject = name
	}
	return e
}

// Check returns a *[RangeError] if the input does not accept the number, and nil otherwise.
func (in Input) Check(x float64) error {
	switch {
	case !(x >= in.Min && x <= in.Max), in.Open && x == in.Min:
		return in.refuse(Plain(x), in.Want.or(in.Wants()))
	case in.Whole() && x != math.Trunc(x):
		return in.Refuse(Plain(x))
	}
	return nil
}

// ParseNumber parses a number that a user typed ([ReadNumber]). The error is a *[RangeError].
func (in Input) ParseNumber(text string) (float64, error) {
	x, ok := ReadNumber(text)
	if !ok {
		return 0, in.Refuse(Quoted(text))
	}
	return x, in.Check(x)
}

// Parse checks one value and returns its canonical form. The error is a *[RangeError].
func (in Input) Parse(text string) (string, error) {
	switch in.Kind {
	case KindInt, KindFloat:
		return in.parseNumber(strings.TrimSpace(text))
	case KindBool:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return "", in.Refuse(Quoted(text))
		}
		return strconv.FormatBool(on), nil
	case KindChoice:
		if !slices.Contains(in.Options, text) {
			return "", in.Refuse(Quoted(text))
		}
		return text, nil
	case KindList:
		return in.parseList(text)
	case KindLines:
		text = Lines(ReadLines(text))
		return text, in.verify(text)
	case KindAny:
		return text, in.verify(text)
	}
	return in.parseText(text)
}

func (in Input) parseNumber(text string) (string, error) {
	switch {
	case in.Own && (text == "" || text == "0"), in.Optional && text == "":
		return "", nil
	case text == "":
		return "", in.Refuse(PhraseOf("got.missing"))
	}
	x, err := in.ParseNumber(text)
	return Plain(x), err
}

// maxList is the maximum number of elements of a list.
const maxList = 64

func (in Input) parseList(text string) (string, error) {
	one := in
	one.Kind = KindInt
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		value, err := one.parseNumber(strings.TrimSpace(part))
		if err != nil {
			return "", in.Refuse(Quoted(text))
		}
		if !slices.Contains(list, value) {
			list = append(list, value)
		}
	}
	if len(list) > maxList {
		return "", in.Refuse(PhraseOf("got.list", "n", fmt.Sprint(len(list))))
	}
	return strings.Join(list, ","), nil
}

func (in Input) parseText(text string) (string, error) {
	switch {
	case text == "" && in.Optional:
		return "", nil
	case in.Max == 0:
	case text == "" && in.Min > 0:
		return "", in.Refuse(PhraseOf("got.empty"))
	case !utf8.ValidString(text):
		return "", in.Refuse(PhraseOf("got.utf8"))
	case strings.ContainsRune(text, 0):
		return "", in.Refuse(PhraseOf("got.nul"))
	case float64(len(text)) < in.Min, float64(len(text)) > in.Max:
		return "", in.Refuse(PhraseOf("got.bytes", "n", fmt.Sprint(len(text))))
	}
	return text, in.verify(text)
}

// verify calls Verify. If the result is a *[RangeError] for another field, verify changes it to an
// error for this input.
func (in Input) verify(value string) error {
	if in.Verify == nil {
		return nil
	}
	err := in.Verify(value)
	var wrong *RangeError
	if errors.As(err, &wrong) {
		return in.refuse(wrong.Got, in.Want.or(wrong.Want))
	}
	return err
}

// Inputs are the inputs of a form, an experiment, a lab or a command.
type Inputs []Input

// Find returns the input with the given key. It returns false if there is none.
func (list Inputs) Find(key string) (Input, bool) {
	i := slices.IndexFunc(list, func(in Input) bool { return in.Key == key })
	if i < 0 {
		return Input{}, false
	}
	return list[i], true
}

// Keys returns the keys of the inputs, in order.
func (list Inputs) Keys() []string {
	keys := make([]string, len(list))
	for i, in := range list {
		keys[i] = in.Key
	}
	return keys
}

// With returns the inputs with the defaults given in values. Other inputs keep their defaults.
func (list Inputs) With(values map[string]string) Inputs {
	list = slices.Clone(list)
	for i, in := range list {
		if value, ok := values[in.Key]; ok {
			list[i].Default = value
		}
	}
	return list
}

// Defaults returns the default of each input.
func (list Inputs) Defaults() Values {
	v := Values{}
	for _, in := range list {
		v[in.Key] = in.Default
	}
	return v
}

// Read checks raw values and returns a value for each input. If a value is missing, Read returns
// the default. The error names the alphabetically first unknown key (a *[Refusal]) or invalid value
// (a *[RangeError], or the error of an input's Verify).
func (list Inputs) Read(raw map[string]string) (Values, error) {
	v := list.Defaults()
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		in, err := list.known(key)
		if err == nil {
			v[key], err = in.Parse(fromForm(raw[key]))
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// ReadJSON is like [Inputs.Read] for the fields of a JSON object. A field must have the input's type.
func (list Inputs) ReadJSON(fields map[string]json.RawMessage) (Values, error) {
	v := list.Defaults()
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		in, err := list.known(key)
		if err == nil {
			v[key], err = in.parseJSON(fields[key])
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// fromForm returns text as the user typed it: forms send line breaks as "\r\n".
func fromForm(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// parseJSON is like Parse, but for a JSON value of the input's type.
func (in Input) parseJSON(value json.RawMessage) (string, error) {
	text, err := in.fromJSON(value)
	if err != nil {
		return "", err
	}
	return in.Parse(text)
}

func (list Inputs) known(key string) (Input, error) {
	in, ok := list.Find(key)
	if !ok {
		takes := strings.Join(list.Keys(), ", ")
		r := Refuse(CodeUnknown, "error.input", "input", Quoted(key), "inputs", takes)
		r.Field, r.Want = Shortened(key, 40), takes
		return in, r
	}
	return in, nil
}

// fromJSON converts a JSON value of the input's type to a raw value.
func (in Input) fromJSON(value json.RawMessage) (string, error) {
	var x any
	if in.Kind == KindAny {
		return string(value), nil
	}
	if err := json.Unmarshal(value, &x); err != nil {
		return "", in.Refuse(Clip(value))
	}
	switch x := x.(type) {
	case float64:
		if in.Number() {
			return Plain(x), nil
		}
	case bool:
		if in.Kind == KindBool {
			return strconv.FormatBool(x), nil
		}
	case string:
		switch in.Kind {
		case KindText, KindChoice:
			return x, nil
		case KindLines:
			return Lines([]string{x}), nil
		}
	case []any:
		var list []string
		if in.Kind == KindLines && json.Unmarshal(value, &list) == nil && !slices.Contains(list, "") {
			return Lines(list), nil
		}
	}
	return "", in.Refuse(Clip(value))
}

// Values holds inputs' values by key, as strings in canonical form. Its methods return zero values
// for inputs that have no value.
type Values map[string]string

// Int returns the value of a [KindInt] input.
func (v Values) Int(key string) int { return int(v.Float(key)) }

// Float returns the value of a number.
func (v Values) Float(key string) float64 {
	x, _ := strconv.ParseFloat(v[key], 64) //nolint:errcheck // checked by Read
	return x
}

// Bool returns the value of a [KindBool] input.
func (v Values) Bool(key string) bool { return v[key] == "true" }

// List returns the numbers of a [KindList] input.
func (v Values) List(key string) []int {
	var list []int
	for part := range strings.SplitSeq(v[key], ",") {
		if n, err := strconv.Atoi(part); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// Lines returns the strings of a [KindLines] input.
func (v Values) Lines(key string) []string { return ReadLines(v[key]) }

// SetInt sets the value of a number.
func (v Values) SetInt(key string, n int) { v[key] = strconv.Itoa(n) }
