package sampling

import (
	"encoding/json"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// BiasInput is the input for a logit bias: a JSON object that maps token ids to numbers, or a
// string such as "12:-100,50:5".
var BiasInput = terms.Input{
	Key: "logit_bias", Kind: terms.KindAny, Optional: true,
	Verify: func(text string) error { _, err := readBias(text); return err },
}

// BiasOf returns the value of [BiasInput], or nil if there is none.
func BiasOf(v terms.Values) *Bias {
	text, ok := v[BiasInput.Key]
	if !ok {
		return nil
	}
	b, _ := readBias(text) //nolint:errcheck // checked by Verify
	return &b
}

func readBias(text string) (b Bias, err error) {
	if text == "null" || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, `"`) {
		err = b.UnmarshalJSON([]byte(text))
		return b, err
	}
	return ParseBias(text)
}

// OrderInput is the input for the order of the rules: a string ([ParseOrder]) or a JSON list of rule
// names.
var OrderInput = terms.Input{
	Key: "samplers", Kind: terms.KindAny, Optional: true,
	Verify: func(text string) error { _, _, err := readOrder(text); return err },
}

// OrderOf returns the value of [OrderInput] and the rules that it omits. It returns nil if there is
// no value.
func OrderOf(v terms.Values) (o *Order, unnamed []Rule) {
	text, ok := v[OrderInput.Key]
	if !ok {
		return nil, nil
	}
	order, unnamed, _ := readOrder(text) //nolint:errcheck // checked by Verify
	return &order, unnamed
}

func readOrder(text string) (o Order, unnamed []Rule, err error) {
	var list []string
	var name string
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &list) == nil {
		text = strings.Join(list, ";")
	} else if json.Unmarshal([]byte(text), &name) == nil {
		text = name
	}
	return ParseOrder(text)
}
