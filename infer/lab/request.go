package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Request is the body of a request to a text generation service, with the usual fields.
type Request struct {
	Prompt      string   `json:"prompt"`
	MaxTokens   int      `json:"max_tokens"`
	Temperature float64  `json:"temperature"`
	TopP        float64  `json:"top_p"`
	TopK        int      `json:"top_k"`
	MinP        float64  `json:"min_p,omitempty"`
	TypicalP    float64  `json:"typical_p,omitempty"` // omitted if off, like min_p
	Penalty     float64  `json:"repetition_penalty,omitempty"`
	Frequency   float64  `json:"frequency_penalty,omitempty"`
	Presence    float64  `json:"presence_penalty,omitempty"`
	Stop        []string `json:"stop"`
	Stream      bool     `json:"stream"`
	Seed        uint64   `json:"seed"`
}

// requestFields holds the field names, which are also the names of the bill lab's parameters.
var requestFields = []string{
	"prompt", "max_tokens", "temperature", "top_p", "top_k", "min_p", "typical_p", "repetition_penalty",
	"frequency_penalty", "presence_penalty", "stop", "stream", "seed",
}

// maxRequest is the maximum size of a request's JSON, in bytes.
const maxRequest = 64 << 10

// RequestOf returns the request for the bill lab's values.
func RequestOf(v Values) Request {
	s := v.sampling()
	r := Request{
		Prompt: v["prompt"], MaxTokens: v.int("max_tokens"), Temperature: s.Temperature, TopP: s.TopP, TopK: s.TopK,
		MinP: s.MinP, TypicalP: s.TypicalP, Penalty: s.RepetitionPenalty,
		Frequency: s.FrequencyPenalty, Presence: s.PresencePenalty,
		Stop: v.strings("stop"), Stream: v.bool("stream"), Seed: uint64(v.float("seed")),
	}
	if r.Stop == nil {
		r.Stop = []string{}
	}
	return r
}

// Values returns the values of the bill lab's parameters that a request contains.
func (r Request) Values() Values {
	v := Values{
		"prompt": r.Prompt, "max_tokens": fmt.Sprint(r.MaxTokens), "stop": terms.Lines(r.Stop),
		"stream": fmt.Sprint(r.Stream), "seed": fmt.Sprint(r.Seed),
	}
	s := sampling.Settings{
		Temperature: r.Temperature, TopK: r.TopK, TopP: r.TopP, MinP: r.MinP, TypicalP: r.TypicalP,
		RepetitionPenalty: r.Penalty, FrequencyPenalty: r.Frequency, PresencePenalty: r.Presence,
	}
	for _, p := range samplingParams(s) {
		v[p.Name] = p.Default
	}
	return v
}

// JSON returns the request as a program would send it, indented.
func (r Request) JSON() string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		panic("lab: a request has no JSON: " + err.Error()) // it has only strings and numbers
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ParseRequest parses a request's JSON. Missing fields have the lab's defaults; "stop" can be one
// string or a list. An unknown field, or a value of the wrong type or out of range, gives a
// *[RangeError] that names the field. For anything but one JSON object, the error names "request".
func ParseRequest(data []byte) (Request, error) {
	const want = "one JSON object with fields such as prompt, max_tokens and temperature"
	if len(data) > maxRequest {
		return Request{}, terms.NewRangeError(
			"request", fmt.Sprintf("%d bytes long", len(data)), fmt.Sprintf("at most %d bytes", maxRequest),
		)
	}
	if !utf8.Valid(data) {
		return Request{}, terms.NewRangeError("request", "not valid UTF-8", want)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil || fields == nil {
		return Request{}, terms.NewRangeError("request", notJSON(err), want)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Request{}, terms.NewRangeError("request", "more than one object", want)
	}
	raw := Values{}
	for name, value := range fields {
		if !slices.Contains(requestFields, name) {
			return Request{}, terms.NewRangeError(
				name, "not a field of a request", "one of "+strings.Join(requestFields, ", "),
			)
		}
		text, err := fieldText(name, value)
		if err != nil {
			return Request{}, err
		}
		raw[name] = text
	}
	v, err := billLab{}.Info().Parse(raw)
	if err != nil {
		return Request{}, err
	}
	return RequestOf(v), nil
}

func notJSON(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("not JSON at byte %d (%v)", syntax.Offset, syntax)
	}
	return "not a JSON object"
}

// fieldText converts a field's value to the string form of a parameter, if it has the right type.
func fieldText(name string, value any) (string, error) {
	p, _ := billLab{}.Info().Param(name)
	refuse := func() (string, error) {
		text, err := json.Marshal(value)
		if err != nil {
			return "", err
		}
		return "", terms.NewRangeError(name, string(text), typeNames[p.Kind]+": "+p.Wants())
	}
	switch x := value.(type) {
	case json.Number:
		if p.Kind == Int || p.Kind == Float {
			return x.String(), nil
		}
	case bool:
		if p.Kind == Bool {
			return fmt.Sprint(x), nil
		}
	case string:
		if p.Kind == Text {
			return x, nil
		}
		if p.Kind == Strings {
			return terms.Lines([]string{x}), nil
		}
	case []any:
		if p.Kind != Strings {
			return refuse()
		}
		var list []string
		for _, item := range x {
			s, ok := item.(string)
			if !ok || s == "" {
				return refuse()
			}
			list = append(list, s)
		}
		return terms.Lines(list), nil
	}
	return refuse()
}

var typeNames = map[ParamKind]string{
	Int: "a number", Float: "a number", Bool: "true or false", Text: "a string", Strings: "a list of strings",
}
