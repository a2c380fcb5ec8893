package learn

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// fieldKind is the kind of an input element.
type fieldKind int

const (
	inText   fieldKind = iota // text
	inSlide                   // a slider
	inNumber                  // a small whole number that is typed
	inFixed                   // set by the lesson, or by buttons of the body
)

// A field is an input of an experiment.
type field struct {
	Name, Label    string
	Kind           fieldKind
	Min, Max, Step float64
	Default        string
	Marks          []string // values that have their own button
	Empty          bool     // the text can be empty

	knob *terms.Knob // if set, validates values instead of Min and Max
}

// values are an experiment's validated inputs: a value for each of its fields.
type values map[string]string

func (v values) float(name string) float64 {
	x, _ := strconv.ParseFloat(v[name], 64) // already validated
	return x
}

func (v values) whole(name string) int { return int(v.float(name)) }

func (v values) set(name string, n int) { v[name] = strconv.Itoa(n) }

// These functions return the input fields that several experiments share.
func promptField(name, label string) field { return field{Name: name, Label: label, Kind: inText} }

// knobField returns a field for a knob that the lesson sets and no input shows.
func knobField(key, first string) field {
	k := terms.MustKnob(key)
	return field{
		Name: k.Short, Label: k.Label, Kind: inFixed, Min: k.Min, Max: k.Max, Step: k.Step, Default: first, knob: &k,
	}
}

// samplingFields returns fields for the temperature, which comes first, and the filters. Their
// defaults are the values in s. A lesson can set them, but no input shows them.
func samplingFields(s sampling.Settings) []field {
	var list []field
	for _, k := range terms.Knobs() {
		if x, ok := s.Value(k.Key); ok && !k.Late {
			list = append(list, knobField(k.Key, terms.Plain(x)))
		}
	}
	return list
}

// slide turns the field of a knob into a slider, which accepts only the slider's range.
func (f field) slide(from, to float64) field {
	f.Kind, f.Min, f.Max, f.knob = inSlide, from, to, nil
	return f
}

// marked adds buttons for some values.
func (f field) marked(values ...string) field {
	f.Marks = values
	return f
}

func seedField() field {
	f := knobField("seed", "42")
	f.Kind = inNumber
	return f
}

func atField(most float64, first string) field {
	return field{Name: "at", Label: "Place", Kind: inFixed, Min: 1, Max: most, Step: 1, Default: first}
}

// placed returns fields with a lesson's values as their defaults. A field without such a value
// keeps its own default.
func placed(fields []field, params map[string]string) []field {
	for i := range fields {
		if value, ok := params[fields[i].Name]; ok {
			fields[i].Default = value
		}
	}
	return fields
}

// defaults returns the inputs with the lesson's values.
func (s *spec) defaults() values {
	v := values{}
	for _, f := range s.Fields {
		v[f.Name] = f.Default
	}
	return v
}

// read validates inputs. A missing field has its default value.
func (s *spec) read(sent map[string]string) (values, error) {
	v := s.defaults()
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		i := slices.IndexFunc(s.Fields, func(f field) bool { return f.Name == name })
		if i < 0 {
			return nil, &terms.Refusal{
				Code: terms.CodeUnknown, Field: name,
				Message: fmt.Sprintf("This experiment has no input %q.", terms.Shortened(name, 40)),
			}
		}
		value, err := s.Fields[i].read(sent[name])
		if err != nil {
			return nil, err
		}
		v[name] = value
	}
	return v, nil
}

// read validates a value and normalizes it.
func (f field) read(value string) (string, error) {
	if f.Kind == inText {
		value = strings.ReplaceAll(value, "\r\n", "\n") // forms send line breaks this way
		switch {
		case value == "" && f.Empty:
			return "", nil
		case f.Name == "stop":
			return value, named(f, infer.Stop{MaxTokens: 1, Strings: []string{value}}.Check())
		}
		return value, named(f, infer.CheckPrompt(value, infer.MaxSampleBytes))
	}
	x, ok := terms.ReadNumber(value)
	want := fmt.Sprintf("%s to %s", terms.Decimals(f.Min, f.decimals()), terms.Decimals(f.Max, f.decimals()))
	if f.knob != nil {
		want = f.knob.Want
		ok = ok && f.knob.Check(x) == nil
	} else {
		ok = ok && x >= f.Min && x <= f.Max && (f.decimals() > 0 || x == math.Trunc(x))
	}
	if !ok {
		return "", &terms.Refusal{
			Code: terms.CodeRange, Field: f.Name, Want: want,
			Message: fmt.Sprintf("%s is %s; it must be %s.", f.Label, terms.Quoted(value), want),
		}
	}
	return terms.Plain(x), nil
}

// named adds the label of the field to the message of an error from the engine.
func named(f field, err error) error {
	if err == nil {
		return nil
	}
	e := terms.RefusalOf(err)
	e.Field = f.Name
	_, rest, _ := strings.Cut(e.Message, " is ")
	e.Message = f.Label + " is " + rest
	return e
}

// decimals returns the number of decimals in a field's values.
func (f field) decimals() int {
	if f.Step == float64(int(f.Step)) {
		return 0
	}
	return 2
}

// shown formats a value for the number next to a slider.
func (f field) shown(value string) string {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value
	}
	return strconv.FormatFloat(x, 'f', f.decimals(), 64)
}

// plain formats a bound for an attribute.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
