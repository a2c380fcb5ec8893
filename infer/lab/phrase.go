package lab

import (
	"math"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Phrase is a text of the catalogs with its values. A report consists of phrases, so that it can be
// shown in any language. In JSON, a phrase is its English text.
type Phrase struct {
	key  string // "" for words that are the same in every language: the only value
	with []any
}

// Text returns the text with the given key. A value is a string, an int, a Phrase, or a function that
// returns the value in a language.
func Text(key string, with ...any) Phrase { return Phrase{key, with} }

// verbatim returns words that are the same in every language, such as the name of a model.
func verbatim(words string) Phrase { return Phrase{with: []any{words}} }

// IsZero reports whether the phrase is empty.
func (p Phrase) IsZero() bool { return p.key == "" && len(p.with) == 0 }

// In returns the phrase in a language.
func (p Phrase) In(l *terms.Language) string {
	switch {
	case p.IsZero():
		return ""
	case p.key == "":
		return p.with[0].(string)
	}
	with := slices.Clone(p.with)
	for i, value := range with {
		switch value := value.(type) {
		case Phrase:
			with[i] = value.In(l)
		case func(*terms.Language) string:
			with[i] = value(l)
		}
	}
	return l.T(p.key, with...)
}

// String returns the phrase in English.
func (p Phrase) String() string { return p.In(terms.English) }

// MarshalText implements [encoding.TextMarshaler]. It returns the phrase in English.
func (p Phrase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. The phrase is then the same in every language.
func (p *Phrase) UnmarshalText(text []byte) error {
	*p = verbatim(string(text))
	return nil
}

// size returns a number of bytes as a value of a phrase: "2 GiB".
func size(n float64) func(*terms.Language) string {
	return func(l *terms.Language) string {
		return strings.Replace(l.Bytes(int64(math.Round(n))), ".0 ", " ", 1)
	}
}
