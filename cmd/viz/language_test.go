package main

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestOutputLanguage: the commands print in the language of the locale, or in English if the program
// has no texts in it.
func TestOutputLanguage(t *testing.T) {
	list := []*terms.Language{terms.English, {Tag: "de"}, {Tag: "pt-BR"}}
	for _, test := range []struct{ all, messages, lang, want string }{
		{"", "", "", "en"},
		{"", "", "de_DE.UTF-8", "de"},
		{"", "", "de", "de"},
		{"", "", "de_AT.UTF-8@euro", "de"},
		{"", "", "pt_BR", "pt-BR"},
		{"", "", "en_GB.UTF-8", "en"},
		{"", "", "fr_FR.UTF-8", "en"},
		{"", "", "C", "en"},
		{"", "", "C.UTF-8", "en"},
		{"", "", "POSIX", "en"},
		{"", "", "not a locale", "en"},
		{"", "", "/usr/share/locale/de", "en"},
		{"", "de_DE", "en_US", "de"},
		{"de_DE", "en_US", "en_US", "de"},
		{"C", "de_DE", "de_DE", "en"},
	} {
		env := func(name string) string {
			return map[string]string{"LC_ALL": test.all, "LC_MESSAGES": test.messages, "LANG": test.lang}[name]
		}
		if got := outputLanguage(list, env).Tag; got != test.want {
			t.Errorf("locale %+v: got %s, want %s", test, got, test.want)
		}
	}
}
