package terms

import (
	"unicode"
	"unicode/utf8"
)

// Capital begins a sentence.
func Capital(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[n:]
}

// Counted puts a count before a noun: "1 token", "4,096 tokens".
func Counted(n int, noun string) string { return CountedAs(n, noun, noun+"s") }

// CountedAs is [Counted] for a noun with a plural of its own: "2 branches".
func CountedAs(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// HowOften writes "once", "twice", "3 times".
func HowOften(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Count(n) + " times"
}

// Ordinal writes 1st, 2nd, 3rd, 4th, 11th, 21st.
func Ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return Count(n) + suffix
}
