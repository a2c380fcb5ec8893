package lab

import (
	"math"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Phrase is [terms.Phrase]. A report consists of phrases, so that it can be shown in any language.
type Phrase = terms.Phrase

// Text is [terms.PhraseOf].
func Text(key string, with ...any) Phrase { return terms.PhraseOf(key, with...) }

// size formats a number of bytes for use as a value in a phrase: "2 GiB".
func size(n float64) func(*terms.Language) string {
	return func(l *terms.Language) string {
		return strings.Replace(l.Bytes(int64(math.Round(n))), ".0 ", " ", 1)
	}
}
