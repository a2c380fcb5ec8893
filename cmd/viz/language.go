package main

import (
	"cmp"
	"strings"

	"golang.org/x/text/language"

	"github.com/tokenbytoken/viz/infer/terms"
)

// outputLanguage selects the language of the commands' output from a list. It is the language that
// best matches the locale for messages (POSIX, "Internationalization Variables"), or the first one
// if none matches, as for the locale C. Usage, flag help, usage errors, logs, messages about model
// files, and JSON are always in English.
func outputLanguage(list []*terms.Language, env func(string) string) *terms.Language {
	locale := cmp.Or(env("LC_ALL"), env("LC_MESSAGES"), env("LANG"))
	name, _, _ := strings.Cut(locale, "@") // drop a variant, as in de_DE.UTF-8@euro
	name, _, _ = strings.Cut(name, ".")    // drop the encoding
	wanted, err := language.Parse(name)
	if err != nil {
		return list[0]
	}
	tags := make([]language.Tag, len(list))
	for i, l := range list {
		tags[i] = language.Make(l.Tag)
	}
	_, i, _ := language.NewMatcher(tags).Match(wanted)
	return list[i]
}
