package terms

import (
	"fmt"
	"strconv"
)

// RangeError says which field was refused, what was given and what is taken. Its
// text is made for people; Field is for programs.
type RangeError struct {
	Field string // as in JSON: "temperature", "top_k", "max_tokens", ...
	Got   string
	Want  string
}

// NewRangeError makes a [RangeError] for a value.
func NewRangeError(field string, got any, want string) *RangeError {
	text := fmt.Sprint(got)
	if f, ok := got.(float64); ok {
		text = strconv.FormatFloat(f, 'g', -1, 64)
	}
	return &RangeError{Field: field, Got: text, Want: want}
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("%s is %s; it must be %s", e.Field, e.Got, e.Want)
}

// Sentence is the error as pages say it, with the field's name for people:
// "Top-k is -1; it must be 0 (off) or more."
func (e *RangeError) Sentence() string { return English.Sentence(e) }

// The is [Language.The] in English.
func The(field string) string { return English.The(field) }

// Quoted shows in quotes what came from outside, not too much of it.
func Quoted(text string) string { return strconv.Quote(Shortened(text, 40)) }

// Shortened is a text of at most n characters, with an ellipsis after one that
// was cut.
func Shortened(text string, n int) string {
	if len(text) <= n {
		return text
	}
	if r := []rune(text); len(r) > n {
		return string(r[:n]) + "…"
	}
	return text
}
