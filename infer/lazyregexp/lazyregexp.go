// Package lazyregexp has the regular expressions of package-level variables. Each is compiled
// when it is first needed. In a browser the program starts with every visit, and compiling
// some sixty expressions, of which a page needs three, was a good part of that.
//
// It has those methods of [regexp.Regexp] that are used here, under the same names. The
// program for browsers is built with a Markdown library that imports this package in place
// of regexp (cmd/viz/tab/build).
package lazyregexp

import (
	"io"
	"regexp"
	"sync"
)

// A Regexp is a regular expression that is compiled when it is first needed. It is safe for
// concurrent use.
type Regexp struct{ compiled func() *regexp.Regexp }

// MustCompile returns the expression. One that is wrong panics when it is first needed.
func MustCompile(text string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString is that of [regexp.Regexp].
func (e *Regexp) MatchString(s string) bool { return e.compiled().MatchString(s) }

// Match is that of [regexp.Regexp].
func (e *Regexp) Match(b []byte) bool { return e.compiled().Match(b) }

// FindString is that of [regexp.Regexp].
func (e *Regexp) FindString(s string) string { return e.compiled().FindString(s) }

// FindStringIndex is that of [regexp.Regexp].
func (e *Regexp) FindStringIndex(s string) []int { return e.compiled().FindStringIndex(s) }

// FindStringSubmatch is that of [regexp.Regexp].
func (e *Regexp) FindStringSubmatch(s string) []string { return e.compiled().FindStringSubmatch(s) }

// FindSubmatch is that of [regexp.Regexp].
func (e *Regexp) FindSubmatch(b []byte) [][]byte { return e.compiled().FindSubmatch(b) }

// FindAllSubmatch is that of [regexp.Regexp].
func (e *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return e.compiled().FindAllSubmatch(b, n)
}

// FindSubmatchIndex is that of [regexp.Regexp].
func (e *Regexp) FindSubmatchIndex(b []byte) []int { return e.compiled().FindSubmatchIndex(b) }

// FindReaderSubmatchIndex is that of [regexp.Regexp].
func (e *Regexp) FindReaderSubmatchIndex(r io.RuneReader) []int {
	return e.compiled().FindReaderSubmatchIndex(r)
}

// ReplaceAll is that of [regexp.Regexp].
func (e *Regexp) ReplaceAll(b, to []byte) []byte { return e.compiled().ReplaceAll(b, to) }

// ReplaceAllFunc is that of [regexp.Regexp].
func (e *Regexp) ReplaceAllFunc(b []byte, to func([]byte) []byte) []byte {
	return e.compiled().ReplaceAllFunc(b, to)
}

// ReplaceAllString is that of [regexp.Regexp].
func (e *Regexp) ReplaceAllString(s, to string) string { return e.compiled().ReplaceAllString(s, to) }

// ReplaceAllStringFunc is that of [regexp.Regexp].
func (e *Regexp) ReplaceAllStringFunc(s string, to func(string) string) string {
	return e.compiled().ReplaceAllStringFunc(s, to)
}
