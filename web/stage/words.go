package stage

import (
	"context"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Words describes and renders stages in one language. Its methods return all views of this package
// and all components with text, so that the whole page is in the same language. A text can contain
// **bold**, *variable*, `code` and [words](name), where the value called name is the [Element]
// around the words.
type Words struct{ *terms.Language }

// English is the program's own language.
var English = Words{terms.English}

// In returns the words of a context's language.
func In(ctx context.Context) Words { return Words{terms.In(ctx)} }

// T returns a text as plain text, with values filled in by name: T("peek.at", "n", "20").
func (w Words) T(key string, with ...any) string {
	pieces := w.Pieces(key, with...)
	if slices.ContainsFunc(pieces, marked) || slices.ContainsFunc(with, formatted) {
		return w.rich(pieces, with).String()
	}
	return w.Fill(pieces, with...)
}

// marked reports whether words contain a mark.
func marked(p terms.Segment) bool { return strings.ContainsAny(p.Words, "*`[]") }

// formatted reports whether a value is anything other than a string or a count.
func formatted(v any) bool {
	switch v.(type) {
	case string, int:
		return false
	}
	return true
}

// Rich returns a sentence with values filled in by name. A value can be a string; an int, which
// [terms.Count] formats; a token, which becomes a chip; a [Span]; another sentence; a
// [templ.Component]; an [Element]; or anything that has a name in every language (a method In),
// such as a [terms.Phrase].
func (w Words) Rich(key string, with ...any) Rich { return w.rich(w.Pieces(key, with...), with) }

func (w Words) rich(pieces []terms.Segment, with []any) Rich {
	value := func(name string) any {
		for i := 0; i+1 < len(with); i += 2 {
			if with[i] == name {
				if v, ok := with[i+1].(interface {
					In(l *terms.Language) string
				}); ok {
					return v.In(w.Language)
				}
				return with[i+1]
			}
		}
		return ""
	}
	m := markup{
		elements: slices.ContainsFunc(pieces, func(p terms.Segment) bool { return strings.Contains(p.Words, "](") }),
	}
	for _, p := range pieces {
		if p.Name != "" {
			m.add(value(p.Name))
			continue
		}
		m.read(p.Words, value)
	}
	return m.done
}

// Say writes the text with the given key as a sentence of a page.
func (w Words) Say(key string, with ...any) templ.Component { return RichHTML(w.Rich(key, with...)) }

// Element is an HTML element that a page writes around some words of a text. It is usually a link.
type Element struct {
	Name  string
	Attrs templ.Attributes

	words Rich
}

// Link returns a link around words of a text.
func Link(href string) Element { return Element{Name: "a", Attrs: templ.Attributes{"href": href}} }

// markup builds a sentence from a text with marks.
type markup struct {
	done  Rich
	style Style
	open  []int // where the words of each open element begin in done

	elements bool // the text has elements, so a bracket begins one
}

// marks are the marks that begin and end a style.
var marks = []struct {
	mark  string
	style Style
}{{"**", Bold}, {"*", Variable}, {"`", Code}}

// read adds a text with marks. If the mark that ends a style is missing, the style applies up to
// the end of the text.
func (m *markup) read(text string, value func(name string) any) {
	plain := 0 // start of the words that have not been added yet
	for i := 0; ; {
		next := strings.IndexAny(text[i:], "*`[]")
		if next < 0 {
			break
		}
		i += next
		n := m.mark(text[i:], value, func() { m.words(text[plain:i]) })
		if n > 0 {
			plain = i + n
		}
		i += max(n, 1)
	}
	m.words(text[plain:])
}

// mark applies the mark at the beginning of a text, after calling before, and returns the mark's
// length. If the text does not begin with a mark, it returns 0 and does not call before.
func (m *markup) mark(text string, value func(name string) any, before func()) int {
	for _, k := range marks {
		if strings.HasPrefix(text, k.mark) {
			before()
			if m.style == k.style {
				m.style = Plain
			} else {
				m.style = k.style
			}
			return len(k.mark)
		}
	}
	if text[0] == '[' && m.elements {
		before()
		m.open = append(m.open, len(m.done))
		return 1
	}
	name, closed := strings.CutPrefix(text, "](")
	if !closed || len(m.open) == 0 {
		return 0
	}
	name, _, ends := strings.Cut(name, ")")
	if !ends {
		return 0
	}
	before()
	at := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	element, _ := value(name).(Element)
	element.words = append(Rich{}, m.done[at:]...)
	m.done = append(m.done[:at], Span{Element: &element})
	return len("](") + len(name) + len(")")
}

func (m *markup) words(s string) {
	if s != "" {
		m.join(Span{S: s, Style: m.style})
	}
}

// join adds a span. If its words follow words in the same style, both become one span.
func (m *markup) join(s Span) {
	last := len(m.done) - 1
	begins := len(m.open) > 0 && m.open[len(m.open)-1] > last // the span is the first one in an element
	if s.S != "" && s.Style != Plain && last >= 0 && !begins && m.done[last].S != "" && m.done[last].Style == s.Style {
		m.done[last].S += s.S
		return
	}
	m.done = append(m.done, s)
}

func (m *markup) add(value any) {
	for _, s := range rich(value) {
		if s.Style == Plain && s.S != "" {
			s.Style = m.style
		}
		m.join(s)
	}
}
