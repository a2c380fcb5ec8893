package terms

import (
	"fmt"
	"strconv"
)

// Phrase is a text from the catalogs together with its values, or words that are the same in every
// language, such as a number or a quotation. It can be shown in any language. In JSON, a phrase is
// its English text.
type Phrase struct {
	key  string
	with []any
	same string
}

// PhraseOf returns the text with the given key as a phrase. The values are as in [Language.T].
func PhraseOf(key string, with ...any) Phrase { return Phrase{key: key, with: with} }

// Verbatim returns a phrase whose words are the same in every language, such as the name of a
// model.
func Verbatim(words string) Phrase { return Phrase{same: words} }

// phrase converts a value to a phrase. The value is a Phrase, words or a number.
func phrase(v any) Phrase {
	switch v := v.(type) {
	case Phrase:
		return v
	case float64:
		return Verbatim(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return Verbatim(fmt.Sprint(v))
}

// In returns the phrase in a language.
func (p Phrase) In(l *Language) string {
	if p.key == "" {
		return p.same
	}
	return l.T(p.key, p.with...)
}

// String returns the phrase in English.
func (p Phrase) String() string { return p.In(English) }

// MarshalText implements [encoding.TextMarshaler]. It returns the phrase in English.
func (p Phrase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. The resulting phrase is the same in every
// language.
func (p *Phrase) UnmarshalText(text []byte) error {
	*p = Verbatim(string(text))
	return nil
}

// IsZero reports whether the phrase is empty.
func (p Phrase) IsZero() bool { return p.key == "" && p.same == "" }

// or returns the phrase, or `other` if the phrase is empty.
func (p Phrase) or(other Phrase) Phrase {
	if p.IsZero() {
		return other
	}
	return p
}
