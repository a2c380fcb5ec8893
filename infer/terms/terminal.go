package terms

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// commands reports whether a terminal would act on a character instead of showing it. It returns
// true for control characters, which can begin an escape sequence, for characters that change the
// direction of the text after them, and for line separators. It also returns true for \n and tabs,
// which callers allow in multiline text.
func commands(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// appendEscape appends a character as an escape sequence that is valid in JSON and Go strings, so
// escaping JSON does not change its meaning.
func appendEscape(b []byte, r rune) []byte { return fmt.Appendf(b, "\\u%04x", r) }

// Printable returns text as a single line that is safe for a terminal: control characters,
// including line ends, become escapes such as \u001b, and bytes that are not UTF-8 become escapes
// such as \x9b. All output goes through a [Terminal], so Printable is only needed for names in
// columns, and for text in which a line end would make the rest look like a line of the program's
// own.
func Printable(text string) string {
	var b []byte
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			b = fmt.Appendf(b, `\x%02x`, text[i])
		case commands(r):
			b = appendEscape(b, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}

// Terminal is a writer that filters output for a terminal. Like [Printable], it escapes control
// characters, except line ends and tabs, whether they come from models, files, paths, flags or
// other servers. Its methods are safe for concurrent use.
type Terminal struct {
	mu  sync.Mutex
	to  io.Writer
	cut []byte // the end of the last write, if it is an incomplete character
}

// NewTerminal returns a Terminal that writes to the given writer. Call [Terminal.Flush] after the
// last write.
func NewTerminal(to io.Writer) *Terminal { return &Terminal{to: to} }

// Raw returns the underlying writer, for the program's own control characters.
func (t *Terminal) Raw() io.Writer { return t.to }

// Write implements [io.Writer]. It holds back a partial character at the end until the next write.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.write(append(t.cut, p...), false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the held bytes.
func (t *Terminal) Flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.write(t.cut, true)
}

// write writes text, including a partial character at its end if last is set.
func (t *Terminal) write(text []byte, last bool) error {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if !last && !utf8.FullRune(text) {
			break
		}
		switch {
		case r == '\n' || r == '\t':
			out = append(out, byte(r))
		case r == utf8.RuneError && n == 1:
			out = fmt.Appendf(out, `\x%02x`, text[0])
		case commands(r):
			out = appendEscape(out, r)
		default:
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	t.cut = bytes.Clone(text)
	if len(out) == 0 {
		return nil
	}
	_, err := t.to.Write(out)
	return err
}
