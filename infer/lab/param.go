package lab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// RangeError reports a rejected value and which values are accepted. Field is the name of a
// [Param].
type RangeError = sampling.RangeError

// ParamKind is the type of a parameter's value.
type ParamKind string

// The kinds of parameters. A List is a string of numbers joined by commas. Strings has one string
// per line, with \n, \t and \\ for newline, tab and backslash.
const (
	Int     ParamKind = "int"
	Float   ParamKind = "float"
	Text    ParamKind = "text"
	Choice  ParamKind = "choice"
	Bool    ParamKind = "bool"
	List    ParamKind = "list"
	Strings ParamKind = "strings"
)

// Param is a parameter that users can set. Min and Max bound a number, each number of a list, or a
// text's length in bytes. Step is the step of its slider.
type Param struct {
	Name    string    `json:"name"`
	Label   string    `json:"label"`
	Unit    string    `json:"unit,omitempty"`
	Kind    ParamKind `json:"kind"`
	Min     float64   `json:"min"`
	Max     float64   `json:"max"`
	Step    float64   `json:"step,omitempty"`
	Options []string  `json:"options,omitempty"`
	Default string    `json:"default"`
	Help    string    `json:"help"`
	// Own means that the number can be omitted ("" or 0). If it is, the chosen model's number is
	// used.
	Own bool `json:"own,omitempty"`
	// Commas means that the text is a list of words joined by commas.
	Commas bool `json:"-"`
}

// Values holds the values of a lab's parameters by name, as strings in the form that
// [Info.Parse] returns.
type Values map[string]string

// Param returns the parameter with the given name.
func (i Info) Param(name string) (Param, bool) {
	at := slices.IndexFunc(i.Params, func(p Param) bool { return p.Name == name })
	if at < 0 {
		return Param{}, false
	}
	return i.Params[at], true
}

// Defaults returns a lab's initial values.
func (i Info) Defaults() Values {
	v := Values{}
	for _, p := range i.Params {
		v[p.Name] = p.Default
	}
	return v
}

// Parse checks raw values, each against its parameter's range, and returns all of the lab's values
// in canonical form: missing values are set to their defaults, and numbers have their shortest
// form. An invalid value or an unknown name gives a *[RangeError].
func (i Info) Parse(raw Values) (Values, error) {
	v := i.Defaults()
	for name, text := range raw {
		p, known := i.Param(name)
		if !known {
			return nil, terms.NewRangeError(
				name, "not a parameter of this lab", "one of "+strings.Join(i.names(), ", "),
			)
		}
		value, err := p.parse(text)
		if err != nil {
			return nil, err
		}
		v[name] = value
	}
	return v, nil
}

func (i Info) names() []string {
	var list []string
	for _, p := range i.Params {
		list = append(list, p.Name)
	}
	return list
}

// Wants describes a parameter's range in words, with its unit.
func (p Param) Wants() string {
	if k, ok := p.knob(); ok {
		return k.WantNumber()
	}
	unit := ""
	if p.Unit != "" {
		unit = " " + p.Unit
	}
	between := terms.Plain(p.Min) + " to " + terms.Plain(p.Max) + unit
	switch p.Kind {
	case Int:
		return "a whole number from " + between
	case Float:
		return "a number from " + between
	case List:
		return "whole numbers from " + between + ", joined by commas"
	case Choice:
		return "one of " + strings.Join(p.Options, ", ")
	case Bool:
		return "true or false"
	case Strings:
		return fmt.Sprintf(
			"at most %d strings of 1 to %d bytes, one a line", infer.MaxStopStrings, infer.MaxStopStringLen,
		)
	}
	return terms.Plain(p.Min) + " to " + terms.Plain(p.Max) + " bytes of text"
}

// knob returns the knob with the same name as the parameter, if there is one. The parameter accepts
// the knob's values.
func (p Param) knob() (terms.Knob, bool) {
	k, ok := terms.KnobOf(p.Name)
	return k, ok && p.Min == k.Min && p.Max == k.Max
}

// Slider returns the range of a number's slider. A knob's slider covers the most useful values; any
// other slider covers all accepted values.
func (p Param) Slider() (from, to float64) {
	if k, ok := p.knob(); ok {
		return k.From, k.To
	}
	return p.Min, p.Max
}

func (p Param) refuse(got string) error { return terms.NewRangeError(p.Name, got, p.Wants()) }

// parse checks one value and returns its canonical form.
func (p Param) parse(text string) (string, error) {
	switch p.Kind {
	case Int, Float:
		return p.parseNumber(strings.TrimSpace(text))
	case Bool:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return "", p.refuse(terms.Quoted(text))
		}
		return strconv.FormatBool(on), nil
	case Choice:
		if !slices.Contains(p.Options, text) {
			return "", p.refuse(terms.Quoted(text))
		}
		return text, nil
	case List:
		return p.parseList(text)
	case Strings:
		return p.parseStrings(text)
	}
	switch {
	case !utf8.ValidString(text):
		return "", p.refuse("not valid UTF-8")
	case strings.ContainsRune(text, 0):
		return "", p.refuse("a text with a NUL character")
	case float64(len(text)) < p.Min, float64(len(text)) > p.Max:
		return "", p.refuse(fmt.Sprintf("%d bytes long", len(text)))
	}
	return text, nil
}

func (p Param) parseNumber(text string) (string, error) {
	if p.Own && (text == "" || text == "0") {
		return "", nil
	}
	if text == "" {
		return "", p.refuse("missing")
	}
	x, ok := terms.ReadNumber(text)
	if !ok {
		return "", p.refuse(terms.Quoted(text))
	}
	if k, ok := p.knob(); ok {
		if err := k.Check(x); err != nil {
			return "", err
		}
	}
	if !(x >= p.Min && x <= p.Max) || p.Kind == Int && x != math.Trunc(x) {
		return "", p.refuse(terms.Plain(x))
	}
	return terms.Plain(x), nil
}

// maxList is the maximum number of elements of a list.
const maxList = 64

func (p Param) parseList(text string) (string, error) {
	one := p
	one.Kind = Int
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		value, err := one.parseNumber(strings.TrimSpace(part))
		if err != nil {
			return "", p.refuse(terms.Quoted(text))
		}
		if !slices.Contains(list, value) {
			list = append(list, value)
		}
	}
	if len(list) > maxList {
		return "", p.refuse(fmt.Sprintf("a list of %d", len(list)))
	}
	return strings.Join(list, ","), nil
}

func (p Param) parseStrings(text string) (string, error) {
	list := terms.ReadLines(text)
	if err := (infer.Stop{MaxTokens: 1, Strings: list}).Check(); err != nil {
		got := err.Error()
		if r, ok := err.(*RangeError); ok {
			got = r.Got
		}
		return "", p.refuse(got)
	}
	return terms.Lines(list), nil
}

// Values that [Info.Parse] returned are valid. The methods below return 0 for missing ones.

func (v Values) int(name string) int {
	return int(v.float(name))
}

func (v Values) float(name string) float64 {
	x, _ := strconv.ParseFloat(v[name], 64) //nolint:errcheck // checked by Info.Parse
	return x
}

func (v Values) bool(name string) bool { return v[name] == "true" }

func (v Values) list(name string) []int {
	var list []int
	for part := range strings.SplitSeq(v[name], ",") {
		if n, err := strconv.Atoi(part); err == nil {
			list = append(list, n)
		}
	}
	return list
}

func (v Values) strings(name string) []string { return terms.ReadLines(v[name]) }
