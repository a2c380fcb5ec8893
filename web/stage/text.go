package stage

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// TextRun is a part of a token's text: either characters of the text itself, or a Mark for
// something invisible (a space, a newline, a stray byte).
type TextRun struct {
	S    string
	Mark bool
}

// Text is a token or a stop string as shown on a screen.
type Text []TextRun

// String returns the text with its marks, for tooltips and screen readers.
func (t Text) String() string {
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.S)
	}
	return b.String()
}

// Inline is like [Text.String], but for use in a sentence that is not markup ([terms.Isolated]).
func (t Text) Inline() string { return terms.Isolated(t.String()) }

// TokenText marks the invisible parts of a token. A space at either end becomes "·", a newline
// "↵" and a tab "⇥". Control characters, and bytes that are not complete UTF-8, are shown in
// hexadecimal, as "⟨e2 80⟩".
func TokenText(t infer.Token) Text {
	switch {
	case t.Special:
		return Text{{S: t.Text}}
	case t.Bytes != nil:
		return Marked(string(t.Bytes))
	}
	return Marked(t.Text)
}

// Unread returns a sentence about a text in which most characters have no tokens, so that the model
// reads the characters' bytes instead. For any other text, it returns "".
func (w Words) Unread(tokens []infer.Token) string {
	unknown, known := 0, 0
	for _, t := range tokens {
		switch {
		case t.Special || t.Bytes == nil && strings.TrimSpace(t.Text) == "":
		case t.Bytes == nil:
			known++
		default:
			for _, b := range t.Bytes {
				if b >= utf8.RuneSelf|0x40 { // the first byte of a character
					unknown++
				}
			}
		}
	}
	if unknown <= known {
		return ""
	}
	return w.T("unread")
}

// Marked is like [TokenText] for any string of bytes.
func Marked(s string) Text {
	var t marker
	inner := strings.Trim(s, " ")
	lead := len(s) - len(strings.TrimLeft(s, " "))
	t.mark(strings.Repeat("·", lead))
	for i := 0; i < len(inner); {
		r, n := utf8.DecodeRuneInString(inner[i:])
		switch {
		case r == '\n':
			t.mark("↵")
		case r == '\t':
			t.mark("⇥")
		case r == utf8.RuneError && n == 1, unseen(r):
			t.hex(inner[i : i+n])
		default:
			t.plain(inner[i : i+n])
		}
		i += n
	}
	t.mark(strings.Repeat("·", len(s)-lead-len(inner)))
	return t.done()
}

// unseen reports whether r is a control character, or a character that reverses or hides the
// text around it.
func unseen(r rune) bool {
	return unicode.IsControl(r) || r == 0x200b || r == 0xfeff || terms.Turns(r)
}

// marker joins adjacent pieces of the same kind.
type marker struct {
	text  Text
	bytes []byte // to be written as one ⟨…⟩
}

func (m *marker) add(p TextRun) {
	if p.S == "" {
		return
	}
	m.flush()
	if n := len(m.text); n > 0 && m.text[n-1].Mark == p.Mark {
		m.text[n-1].S += p.S
		return
	}
	m.text = append(m.text, p)
}

func (m *marker) mark(s string)  { m.add(TextRun{s, true}) }
func (m *marker) plain(s string) { m.add(TextRun{s, false}) }
func (m *marker) hex(s string)   { m.bytes = append(m.bytes, s...) }

func (m *marker) flush() {
	if len(m.bytes) > 0 {
		s := fmt.Sprintf("⟨% x⟩", m.bytes)
		m.bytes = nil
		m.mark(s)
	}
}

func (m *marker) done() Text {
	m.flush()
	return m.text
}

// Style is the format of a [Span].
type Style string

// The styles of a [Span]. Given, Gen and Pick are token chips.
const (
	Plain    Style = ""
	Bold     Style = "b"
	Given    Style = "given"
	Gen      Style = "gen"
	Pick     Style = "pick"
	Super    Style = "sup"
	Variable Style = "var"
	Code     Style = "code"
)

// Span is a part of a sentence: words, a token shown as a chip, or a part of a page.
type Span struct {
	S     string
	Token Text
	Style Style

	HTML    templ.Component // a part of a page, if any; it is not included in the plain text
	Element *Element        // an element with words, if any
}

// Rich is a sentence or a formula.
type Rich []Span

// String returns the sentence as plain text.
func (r Rich) String() string {
	var b strings.Builder
	for _, s := range r {
		if s.Style == Super {
			b.WriteString("^(" + s.S + ")")
			continue
		}
		b.WriteString(s.S)
		b.WriteString(s.Token.String())
		if s.Element != nil {
			b.WriteString(s.Element.words.String())
		}
	}
	return b.String()
}

// rich builds a sentence from strings, counts, spans, tokens (shown as plain chips), parts of a
// page and other sentences.
func rich(parts ...any) Rich {
	var r Rich
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			if p != "" {
				r = append(r, Span{S: p})
			}
		case int:
			r = append(r, Span{S: terms.Count(p)})
		case Span:
			r = append(r, p)
		case templ.Component:
			r = append(r, Span{HTML: p})
		case Text:
			r = append(r, Span{Token: p, Style: Given})
		case Rich:
			r = append(r, p...)
		default:
			r = append(r, Span{S: terms.ValueText(p)})
		}
	}
	return r
}

func bold(s string) Span { return Span{S: s, Style: Bold} }
func sup(s string) Span  { return Span{S: s, Style: Super} }
func gen(t Text) Span    { return Span{Token: t, Style: Gen} }
func pick(t Text) Span   { return Span{Token: t, Style: Pick} }
