package terms

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Capital returns s with its first letter capitalized.
func Capital(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[n:]
}

// Counted is [Language.Counted] for English.
func Counted(n int, noun string) string { return English.Counted(n, noun) }

// Counted returns a count followed by a noun from the language's texts: "1 token", "4,096 tokens".
// The noun is given in the English singular, which is also the end of its key.
func (l *Language) Counted(n int, noun string) string {
	return Count(n) + " " + l.T("noun."+strings.ReplaceAll(noun, " ", "_"), "n", n)
}

// CountedAs is like [Counted], but for an English noun that is in no catalog: "2 branches".
func CountedAs(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// List joins a list: "a, b and c".
func (l *Language) List(items []string) string {
	s := ""
	for i, x := range items {
		switch {
		case i == 0:
			s = x
		case i == len(items)-1:
			s = l.T("list.last", "list", s, "last", x)
		default:
			s = l.T("list.next", "list", s, "next", x)
		}
	}
	return s
}

// HowOften formats a number of times: "once", "twice", "3 times".
func (l *Language) HowOften(n int) string {
	switch n {
	case 1:
		return l.T("often.1")
	case 2:
		return l.T("often.2")
	}
	return l.T("often.n", "n", Count(n))
}

// Ordinal formats an ordinal number: 1st, 2nd, 3rd, 4th, 11th, 21st.
func (l *Language) Ordinal(n int) string {
	key := "rank.n"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			key = "rank.1"
		case 2:
			key = "rank.2"
		case 3:
			key = "rank.3"
		}
	}
	return l.T(key, "n", Count(n))
}
