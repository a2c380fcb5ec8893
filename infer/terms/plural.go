//go:build !js

package terms

import (
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// pluralOf returns a function that returns the CLDR plural category of a count in a language: zero,
// one, two, few, many or other.
func pluralOf(tag string) func(n int) string {
	lang := language.Make(tag)
	return func(n int) string {
		switch plural.Cardinal.MatchPlural(lang, max(n, -n), 0, 0, 0, 0) {
		case plural.Zero:
			return "zero"
		case plural.One:
			return "one"
		case plural.Two:
			return "two"
		case plural.Few:
			return "few"
		case plural.Many:
			return "many"
		}
		return "other"
	}
}
