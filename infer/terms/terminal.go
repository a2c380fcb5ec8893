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

// commands reports whether a terminal would act on a character instead of showing it:
// control characters, with which escape sequences begin, those that turn the
// direction of the text after them, and separators of lines other than \n, which may pass
// with tabs where text has several lines.
func commands(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// appendEscape appends a character as JSON and Go write it in strings: JSON
// with it means the same as before.
func appendEscape(b []byte, r rune) []byte { return fmt.Appendf(b, "\\u%04x", r) }

// Printable returns a text as one line of a terminal: control characters, line ends
// among them, as escapes such as \u001b, and a byte that is not UTF-8 as \x9b. Whatever
// is printed goes through a [Terminal], so this is for names in columns and where a line
// end would seem to begin a line of the program's own.
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

// Terminal is a writer in front of a terminal. It writes control characters other than
// line ends and tabs as [Printable] does, wherever they are from: models, files, paths,
// flags, other servers. Its methods may be called from any goroutine.
type Terminal struct {
	mu  sync.Mutex
	to  io.Writer
	cut []byte // the end of the last write, if more is needed to know what it is
}

// NewTerminal returns a terminal that writes to a writer. [Terminal.Flush] must be
// called after the last write.
func NewTerminal(to io.Writer) *Terminal { return &Terminal{to: to} }

// Raw is the writer behind, for the program's own control characters.
func (t *Terminal) Raw() io.Writer { return t.to }

// Write implements [io.Writer]. A part of a character at the end waits for the next write.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.write(append(t.cut, p...), false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what waits.
func (t *Terminal) Flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.write(t.cut, true)
}

// write writes text, to its end if there will be no more.
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
