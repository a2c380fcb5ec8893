package terms

import (
	"fmt"
	"strconv"
)

// RangeError reports a rejected field, its value and the accepted values. Its message is for
// people; Field is for programs.
type RangeError struct {
	Field   string // as in JSON: "temperature", "top_k", "max_tokens", ...
	Subject string // the field's user-facing name, as a sentence's first words; "" for the catalogs' name
	Got     Phrase
	Want    Phrase
}

// NewRangeError returns a [RangeError] for a value. got is the value, and want describes the
// accepted values. Each is a [Phrase], or words or a number that are the same in every language.
func NewRangeError(field string, got, want any) *RangeError {
	return &RangeError{Field: field, Got: phrase(got), Want: phrase(want)}
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("%s is %s; it must be %s", e.Field, e.Got, e.Want)
}

// In returns the error as a sentence for pages, with the field's user-facing name: "Top-k is -1; it
// must be 0 (off) or more."
func (e *RangeError) In(l *Language) string { return l.T(rangeText, e.values()...) }

// rangeText is the key of the text of [RangeError.In], and values returns the text's values.
const rangeText = "error.range"

func (e *RangeError) values() []any {
	return []any{"field", Verbatim(e.Subject).or(the(e.Field)), "got", e.Got, "want", e.Want}
}

// the returns the beginning of a sentence about a field: "The seed", "Top-k". For an unknown field, it
// returns the field itself.
func the(field string) Phrase {
	for _, key := range []string{"knob." + field + ".the", "field." + field} {
		if English.Has(key) {
			return PhraseOf(key)
		}
	}
	return Verbatim(field)
}

// Quoted quotes a user's text, shortened.
func Quoted(text string) string { return strconv.Quote(Shortened(text, 40)) }

// Shortened returns text if it has at most n characters, and otherwise its first n characters and
// an ellipsis.
func Shortened(text string, n int) string {
	if len(text) <= n {
		return text
	}
	if r := []rune(text); len(r) > n {
		return string(r[:n]) + "…"
	}
	return text
}
