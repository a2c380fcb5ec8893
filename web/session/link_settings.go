package session

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// wireSettings are the settings in a link: each knob's number under its letter
// ([terms.Knob.Letter]), the logit bias, the order of the rules, the grammar and the stop strings.
// Filters and penalties that are off are omitted, which keeps links short and preserves the meaning
// of links that are older than a knob.
type wireSettings infer.Settings

// stopLetter is the key of the stop strings.
const stopLetter = "s"

// orderLetter is the key of the rules' order.
const orderLetter = "w"

// grammarLetter is the key of the grammar.
const grammarLetter = "g"

// biasLetter is the key of the logit bias.
const biasLetter = "l"

// always lists the letters that every link contains, even if the rule is off, because early
// versions of this program require them.
const always = "tprx"

// MarshalJSON implements [json.Marshaler].
func (w wireSettings) MarshalJSON() ([]byte, error) {
	s := infer.Settings(w)
	b := []byte{'{'}
	add := func(letter string, v any) error {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%q:", letter)
		b = append(b, text...)
		return nil
	}
	for _, k := range terms.Knobs() {
		x := s.Value(k.Key)
		if off, ok := sampling.OffAt(k.Key); ok && x == off && !strings.Contains(always, k.Letter) {
			continue
		}
		if _, usual, ok := sampling.Part(k.Key); ok && x == usual {
			continue
		}
		if err := add(k.Letter, x); err != nil {
			return nil, err
		}
	}
	if s.LogitBias != "" {
		if err := add(biasLetter, s.LogitBias); err != nil {
			return nil, err
		}
	}
	if s.Order != "" {
		if err := add(orderLetter, s.Order); err != nil {
			return nil, err
		}
	}
	if s.Grammar != "" {
		if err := add(grammarLetter, s.Grammar); err != nil {
			return nil, err
		}
	}
	if len(s.Stop.Strings) > 0 {
		if err := add(stopLetter, s.Stop.Strings); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// UnmarshalJSON implements [json.Unmarshaler]. It does not check ranges.
func (w *wireSettings) UnmarshalJSON(text []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	var s infer.Settings
	for _, k := range terms.Knobs() {
		raw, ok := fields[k.Letter]
		if !ok {
			continue
		}
		var x float64
		if err := json.Unmarshal(raw, &x); err != nil {
			return err
		}
		if k.Whole() && (x != math.Trunc(x) || x < 0 || x > 1<<53) {
			return fmt.Errorf("%s is %v", k.Letter, x)
		}
		s.Set(k.Key, x)
	}
	for letter, to := range map[string]any{
		biasLetter: &s.LogitBias, orderLetter: &s.Order, grammarLetter: &s.Grammar, stopLetter: &s.Stop.Strings,
	} {
		if raw, ok := fields[letter]; ok {
			if err := json.Unmarshal(raw, to); err != nil {
				return err
			}
		}
	}
	*w = wireSettings(s)
	return nil
}

// MarshalJSON implements [json.Marshaler]. It encodes the step as a field next to the settings.
func (c wireChange) MarshalJSON() ([]byte, error) {
	b, err := c.Settings.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return append(fmt.Appendf(nil, `{"f":%d,`, c.From), b[1:]...), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *wireChange) UnmarshalJSON(text []byte) error {
	var step struct {
		From int `json:"f"`
	}
	if err := json.Unmarshal(text, &step); err != nil {
		return err
	}
	c.From = step.From
	return c.Settings.UnmarshalJSON(text)
}
