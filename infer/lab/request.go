package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// requestFields holds the field names, which are also the names of the bill lab's inputs.
var requestFields = []string{
	"prompt", "max_tokens", "temperature", "top_p", "top_k", "min_p", "typical_p", "repetition_penalty",
	"frequency_penalty", "presence_penalty", "stop", "stream", "seed",
}

// maxRequest is the maximum size of a request's JSON, in bytes.
const maxRequest = 64 << 10

// RequestOf returns the request for the bill lab's values.
func RequestOf(v terms.Values) Request {
	s := samplingOf(v)
	r := Request{
		Prompt: v["prompt"], MaxTokens: v.Int("max_tokens"), Temperature: s.Temperature, TopP: s.TopP, TopK: s.TopK,
		MinP: s.MinP, TypicalP: s.TypicalP, Penalty: s.RepetitionPenalty,
		Frequency: s.FrequencyPenalty, Presence: s.PresencePenalty,
		Stop: v.Lines("stop"), Stream: v.Bool("stream"), Seed: uint64(v.Float("seed")),
	}
	if r.Stop == nil {
		r.Stop = []string{}
	}
	return r
}

// Values returns the values of the bill lab's inputs that a request contains.
func (r Request) Values() terms.Values {
	v := terms.Values{
		"prompt": r.Prompt, "max_tokens": fmt.Sprint(r.MaxTokens), "stop": terms.Lines(r.Stop),
		"stream": fmt.Sprint(r.Stream), "seed": fmt.Sprint(r.Seed),
	}
	s := sampling.Settings{
		Temperature: r.Temperature, TopK: r.TopK, TopP: r.TopP, MinP: r.MinP, TypicalP: r.TypicalP,
		RepetitionPenalty: r.Penalty, FrequencyPenalty: r.Frequency, PresencePenalty: r.Presence,
	}
	for _, p := range samplingInputs(terms.English, s) {
		v[p.Key] = p.Default
	}
	return v
}

// JSON returns the request as indented JSON, as a program would send it.
func (r Request) JSON() string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		panic("lab: encoding a request as JSON: " + err.Error()) // cannot happen: there are only strings and numbers
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ParseRequest parses a request's JSON. Missing fields get the lab's defaults; "stop" can be one
// string or a list. For a value of the wrong type or out of range, ParseRequest returns a
// *[terms.RangeError] that names the field; for an unknown or duplicate field, it returns a
// *[terms.Refusal]. If data is not a single JSON object, it returns a *[terms.RangeError] that
// names "request". A *[terms.RangeError] is in the language l.
func ParseRequest(l *terms.Language, data []byte) (Request, error) {
	want := l.T("lab.refused.json")
	if len(data) > maxRequest {
		return Request{}, terms.NewRangeError(
			"request", l.T("lab.refused.bytes", "n", fmt.Sprint(len(data))),
			l.T("lab.refused.bytes.most", "n", fmt.Sprint(maxRequest)),
		)
	}
	if !utf8.Valid(data) {
		return Request{}, terms.NewRangeError("request", l.T("lab.refused.utf8"), want)
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil || object == nil {
		return Request{}, terms.NewRangeError("request", notJSON(l, err), want)
	}
	f, refused := terms.JSONFields(data)
	if refused != nil {
		return Request{}, refused
	}
	fields := slices.DeleteFunc(billLab{}.Info(l).Inputs, func(in terms.Input) bool {
		return !slices.Contains(requestFields, in.Key)
	})
	v, err := fields.ReadJSON(f.Rest())
	if err != nil {
		return Request{}, err
	}
	return RequestOf(v), nil
}

func notJSON(l *terms.Language, err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return l.T("lab.refused.json.syntax", "n", fmt.Sprint(syntax.Offset), "why", syntax.Error())
	}
	return l.T("lab.refused.json.object")
}
