package sampling

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// A Bias holds numbers to add to the scores of individual tokens, by token id: "12:-100,50:5". It
// is a string so that settings can be compared: ids ascend and no number is 0, so equal biases are
// equal strings. Its JSON form is an object: {"12": -100, "50": 5}. Use [NewBias] to make one.
type Bias string

// Bounds of a [Bias].
const (
	MaxBias   = 100 // the minimum is −MaxBias, as in OpenAI's API
	MaxBiased = 300 // the maximum number of tokens
)

// wantBiased describes a bias with an acceptable number of tokens.
var wantBiased = terms.PhraseOf("want.bias.most", "most", fmt.Sprint(MaxBiased))

// NewBias returns the bias that adds by[id] to the score of each token id. Numbers range from −100
// to 100. The error is a *[RangeError] for "logit_bias".
func NewBias(by map[int]float64) (Bias, error) {
	if len(by) > MaxBiased {
		return "", terms.NewRangeError(
			"logit_bias", terms.PhraseOf("got.bias.tokens", "n", fmt.Sprint(len(by))), wantBiased,
		)
	}
	var list []string
	for _, id := range slices.Sorted(maps.Keys(by)) {
		b := by[id]
		switch {
		case id < 0:
			return "", terms.NewRangeError(
				"logit_bias", terms.PhraseOf("got.bias.token", "id", fmt.Sprint(id)), terms.PhraseOf("want.bias.token"),
			)
		case !(b >= -MaxBias && b <= MaxBias):
			return "", terms.NewRangeError(
				"logit_bias", terms.PhraseOf("got.bias.value", "value", terms.Plain(b), "id", fmt.Sprint(id)),
				terms.PhraseOf("want.bias.value", "most", fmt.Sprint(MaxBias)),
			)
		case b != 0:
			list = append(list, strconv.Itoa(id)+":"+strconv.FormatFloat(b, 'g', -1, 64))
		}
	}
	return Bias(strings.Join(list, ",")), nil
}

// ParseBias parses a bias in its text form.
func ParseBias(text string) (Bias, error) {
	wrong := func(part string) error {
		return terms.NewRangeError("logit_bias", terms.Quoted(part), terms.PhraseOf("want.bias"))
	}
	by := map[int]float64{}
	if text == "" {
		return "", nil
	}
	if strings.Count(text, ",") >= MaxBiased {
		return "", terms.NewRangeError("logit_bias", terms.PhraseOf("got.bias.more"), wantBiased)
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, ":")
		id, err := strconv.Atoi(strings.TrimSpace(name))
		b, ok := terms.ReadNumber(value)
		if _, twice := by[id]; err != nil || !ok || twice {
			return "", wrong(part)
		}
		by[id] = b
	}
	return NewBias(by)
}

// Check returns a *[RangeError] unless b is in the form that [NewBias] returns.
func (b Bias) Check() error {
	again, err := ParseBias(string(b))
	if err == nil && again != b {
		return terms.NewRangeError("logit_bias", terms.Quoted(string(b)), terms.PhraseOf("want.bias.order"))
	}
	return err
}

// Len returns the number of biased tokens.
func (b Bias) Len() int {
	if b == "" {
		return 0
	}
	return strings.Count(string(b), ",") + 1
}

// All iterates over the token ids, in ascending order, and the numbers to add to their scores.
func (b Bias) All() iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		for part := range strings.SplitSeq(string(b), ",") {
			name, value, _ := strings.Cut(part, ":")
			id, err := strconv.Atoi(name)
			x, _ := strconv.ParseFloat(value, 64)
			if err == nil && id >= 0 && !yield(id, x) {
				return
			}
		}
	}
}

// MarshalJSON returns an object of numbers by token id.
func (b Bias) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for id, x := range b.All() {
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, `"%d":%s`, id, strconv.FormatFloat(x, 'g', -1, 64))
	}
	return append(text, '}'), nil
}

// UnmarshalJSON parses an object of numbers by token id. Its error is a *[RangeError].
func (b *Bias) UnmarshalJSON(text []byte) error {
	var fields map[string]float64
	if err := json.Unmarshal(text, &fields); err != nil {
		return terms.NewRangeError(
			"logit_bias", terms.Shortened(string(text), 40),
			terms.PhraseOf("want.bias.object", "example", `{"12": -100}`),
		)
	}
	by := map[int]float64{}
	for name, x := range fields {
		id, err := strconv.Atoi(name)
		if err != nil || strconv.Itoa(id) != name {
			return terms.NewRangeError(
				"logit_bias", terms.PhraseOf("got.bias.name", "name", terms.Quoted(name)),
				terms.PhraseOf("want.bias.name"),
			)
		}
		by[id] = x
	}
	read, err := NewBias(by)
	if err == nil {
		*b = read
	}
	return err
}
