package ui

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/web/view"
)

// Token texts keep every space they have, so these components write their
// markup without any between elements, which templ would not promise.

// writer makes a component of a function that fills a builder.
func writer(fill func(*strings.Builder)) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		fill(&b)
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// text writes a token's text, its marks set apart.
func text(t view.Text) templ.Component {
	return writer(func(b *strings.Builder) { pieces(b, t, `<i class="ws">`, `</i>`) })
}

// svgText is text for the inside of an SVG text element.
func svgText(t view.Text) templ.Component {
	return writer(func(b *strings.Builder) { pieces(b, t, `<tspan class="ws">`, `</tspan>`) })
}

func pieces(b *strings.Builder, t view.Text, open, end string) {
	for _, p := range t {
		if p.Mark {
			b.WriteString(open + templ.EscapeString(p.S) + end)
			continue
		}
		b.WriteString(templ.EscapeString(p.S))
	}
}

// chipClass is the class of a token within a sentence.
var chipClass = map[view.Style]string{view.Given: "tk", view.Gen: "tk tk--gen", view.Pick: "tk tk--pick"}

// rich writes a sentence or formula.
func rich(r view.Rich) templ.Component {
	return writer(func(b *strings.Builder) {
		for _, s := range r {
			span(b, s)
		}
	})
}

func span(b *strings.Builder, s view.Span) {
	if class, ok := chipClass[s.Style]; ok {
		b.WriteString(`<span class="` + class + `">`)
		pieces(b, s.Token, `<i class="ws">`, `</i>`)
		b.WriteString(`</span>`)
		return
	}
	words := templ.EscapeString(s.S)
	switch s.Style {
	case view.Bold:
		words = "<b>" + words + "</b>"
	case view.Super:
		words = "<sup>" + words + "</sup>"
	case view.Variable:
		words = "<var>" + words + "</var>"
	}
	b.WriteString(words)
}

// flow is the text so far as running words, the newest piece marked.
func flow(a *view.Appended) templ.Component {
	return writer(func(b *strings.Builder) {
		b.WriteString(`<p class="flow">`)
		if a.Left != "" {
			b.WriteString(`<small class="flow__left">` + templ.EscapeString(a.Left) + `</small>`)
		}
		b.WriteString(`<span class="flow__given">` + templ.EscapeString(a.Prompt) + `</span>`)
		b.WriteString(`<span class="flow__gen">` + templ.EscapeString(a.Before) + `</span>`)
		if a.New != "" {
			b.WriteString(`<mark>` + templ.EscapeString(a.New) + `</mark>`)
		}
		if len(a.Held) > 0 {
			b.WriteString(`<span class="flow__held">`)
			pieces(b, a.Held, `<i class="ws">`, `</i>`)
			b.WriteString(`</span>`)
		}
		b.WriteString(`</p>`)
	})
}
