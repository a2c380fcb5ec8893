package stage

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// Token texts keep all their spaces, so these components write no space between
// elements, which templ does not guarantee.

// writer makes a component from a function that fills a builder.
func writer(fill func(*strings.Builder)) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		fill(&b)
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// TextHTML writes a token's text, its marks set apart.
func TextHTML(t Text) templ.Component {
	return writer(func(b *strings.Builder) { pieces(b, t, `<i class="ws">`, `</i>`) })
}

// svgTextHTML is a text for the inside of an SVG text element.
func svgTextHTML(t Text) templ.Component {
	return writer(func(b *strings.Builder) { pieces(b, t, `<tspan class="ws">`, `</tspan>`) })
}

func pieces(b *strings.Builder, t Text, open, end string) {
	for _, p := range t {
		if p.Mark {
			b.WriteString(open + templ.EscapeString(p.S) + end)
			continue
		}
		b.WriteString(templ.EscapeString(p.S))
	}
}

// chipClass is the class of a token within a sentence.
var chipClass = map[Style]string{Given: "tk", Gen: "tk tk--gen", Pick: "tk tk--pick"}

// RichHTML writes a sentence or formula.
func RichHTML(r Rich) templ.Component {
	return writer(func(b *strings.Builder) {
		for _, s := range r {
			spanHTML(b, s)
		}
	})
}

func spanHTML(b *strings.Builder, s Span) {
	if class, ok := chipClass[s.Style]; ok {
		b.WriteString(`<span class="` + class + `">`)
		pieces(b, s.Token, `<i class="ws">`, `</i>`)
		b.WriteString(`</span>`)
		return
	}
	words := templ.EscapeString(s.S)
	switch s.Style {
	case Bold:
		words = "<b>" + words + "</b>"
	case Super:
		words = "<sup>" + words + "</sup>"
	case Variable:
		words = "<var>" + words + "</var>"
	}
	b.WriteString(words)
}

// FlowPart is a part of a running text. Label, if not "", is read out before it
// by a screen reader.
type FlowPart struct {
	Class, Label string
	Text         Text
}

// FlowHTML writes a running text, whose empty parts are left out.
func FlowHTML(parts ...FlowPart) templ.Component {
	return writer(func(b *strings.Builder) {
		for _, p := range parts {
			flowPart(b, p)
		}
	})
}

func flowPart(b *strings.Builder, p FlowPart) {
	if p.Text.String() == "" {
		return
	}
	b.WriteString(`<span class="` + p.Class + `">`)
	if p.Label != "" {
		b.WriteString(`<span class="sr"> ` + templ.EscapeString(p.Label) + `: </span>`)
	}
	pieces(b, p.Text, `<i class="ws">`, `</i>`)
	b.WriteString(`</span>`)
}

// flowHTML is the text so far as running words, the newest piece marked.
func flowHTML(a *Appended) templ.Component {
	return writer(func(b *strings.Builder) {
		b.WriteString(`<p class="flow">`)
		if a.Left != "" {
			b.WriteString(`<small class="flow__left">` + templ.EscapeString(a.Left) + `</small>`)
		}
		flowPart(b, FlowPart{Class: "flow__given", Text: Text{{S: a.Prompt}}})
		flowPart(b, FlowPart{Class: "flow__gen", Text: Text{{S: a.Before}}})
		if a.New != "" {
			b.WriteString(`<mark>` + templ.EscapeString(a.New) + `</mark>`)
		}
		flowPart(b, FlowPart{Class: "flow__held", Text: a.Held})
		b.WriteString(`</p>`)
	})
}
