package stage

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
)

// The text of a token keeps all its spaces, so these components must not write any spaces between
// elements. templ cannot guarantee that.

// writer returns a component from a function that fills a builder.
func writer(fill func(*strings.Builder)) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		fill(&b)
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// TextHTML writes a token's text, with the marks in separate elements. It isolates right-to-left
// text, so that the elements next to it keep their order and tokens remain a sequence.
func TextHTML(t Text) templ.Component {
	return writer(func(b *strings.Builder) { isolated(b, t) })
}

func isolated(b *strings.Builder, t Text) {
	turns := terms.RightToLeft(t.String())
	if turns {
		b.WriteString("<bdi>")
	}
	writeText(b, t, `<i class="ws">`, `</i>`)
	if turns {
		b.WriteString("</bdi>")
	}
}

// svgTextHTML writes a text inside an SVG text element.
func svgTextHTML(t Text) templ.Component {
	return writer(func(b *strings.Builder) { writeText(b, t, `<tspan class="ws">`, `</tspan>`) })
}

func writeText(b *strings.Builder, t Text, open, end string) {
	for _, p := range t {
		if p.Mark {
			b.WriteString(open + templ.EscapeString(p.S) + end)
			continue
		}
		b.WriteString(running(p.S))
	}
}

// RunningHTML writes a part of a text as prose. Use it in an element with dir="auto".
func RunningHTML(text string) templ.Component {
	return writer(func(b *strings.Builder) { b.WriteString(running(text)) })
}

// running returns a part of a running text, escaped. It omits marks that change the direction of
// the text, which are shown only in tokens.
func running(text string) string { return templ.EscapeString(terms.Running(text)) }

// chipClass maps the styles of tokens within a sentence to their classes.
var chipClass = map[Style]string{Given: "tk", Gen: "tk tk--gen", Pick: "tk tk--pick"}

// RichHTML writes a sentence or formula. It keeps a punctuation mark on the same line as the token
// before it.
func RichHTML(r Rich) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var b strings.Builder
		if err := richHTML(ctx, &b, r); err != nil {
			return err
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func richHTML(ctx context.Context, b *strings.Builder, r Rich) error {
	mark := "" // written together with the token before it
	for i, s := range r {
		s.S = strings.TrimPrefix(s.S, mark)
		if mark = ""; i+1 < len(r) && chipClass[s.Style] != "" {
			mark = leadingMark(r[i+1])
		}
		if mark == "" {
			if err := spanHTML(ctx, b, s); err != nil {
				return err
			}
			continue
		}
		b.WriteString(`<span class="nb">`)
		if err := spanHTML(ctx, b, s); err != nil {
			return err
		}
		b.WriteString(templ.EscapeString(mark) + `</span>`)
	}
	return nil
}

// leadingMark returns the punctuation mark that plain words begin with, or "".
func leadingMark(s Span) string {
	if s.Style == Plain && s.S != "" && strings.ContainsRune(".,;:!?)", rune(s.S[0])) {
		return s.S[:1]
	}
	return ""
}

func spanHTML(ctx context.Context, b *strings.Builder, s Span) error {
	if s.HTML != nil {
		return s.HTML.Render(ctx, b)
	}
	if s.Element != nil {
		return s.Element.html(ctx, b)
	}
	if class, ok := chipClass[s.Style]; ok {
		b.WriteString(`<span class="` + class + `" data-token="` + templ.EscapeString(s.Token.String()) + `">`)
		isolated(b, s.Token)
		b.WriteString(`</span>`)
		return nil
	}
	words := templ.EscapeString(s.S)
	switch s.Style {
	case Bold:
		words = "<b>" + words + "</b>"
	case Super:
		words = "<sup>" + words + "</sup>"
	case Variable:
		words = "<var>" + words + "</var>"
	case Code:
		words = "<code>" + words + "</code>"
	}
	b.WriteString(words)
	return nil
}

func (e *Element) html(ctx context.Context, b *strings.Builder) error {
	if e.Name == "" {
		return richHTML(ctx, b, e.words) // for example, the name of a page to which this page does not link
	}
	b.WriteString("<" + e.Name)
	if err := templ.RenderAttributes(ctx, b, e.Attrs); err != nil {
		return err
	}
	b.WriteString(">")
	if err := richHTML(ctx, b, e.words); err != nil {
		return err
	}
	b.WriteString("</" + e.Name + ">")
	return nil
}

// FlowPart is a part of a running text. If Label is not "", a screen reader reads it before the
// part.
type FlowPart struct {
	Class, Label string
	Text         Text
}

// FlowHTML writes a running text, omitting empty parts.
func (w Words) FlowHTML(parts ...FlowPart) templ.Component {
	return writer(func(b *strings.Builder) {
		for _, p := range parts {
			w.flowPart(b, p)
		}
	})
}

// flowPart writes a part of a running text. Its label has the direction of the page rather than the
// text's.
func (w Words) flowPart(b *strings.Builder, p FlowPart) {
	if p.Text.String() == "" {
		return
	}
	b.WriteString(`<span class="` + p.Class + `">`)
	if p.Label != "" {
		b.WriteString(`<span class="sr" dir="` + w.T("page.dir") + `"> ` + templ.EscapeString(p.Label) + `: </span>`)
	}
	writeText(b, p.Text, `<i class="ws">`, `</i>`)
	b.WriteString(`</span>`)
}

// flowHTML writes the text so far as running text, with the newest part marked.
func (w Words) flowHTML(a *Appended) templ.Component {
	return writer(func(b *strings.Builder) {
		b.WriteString(`<p class="flow" dir="auto">`)
		if a.Left != "" {
			b.WriteString(`<small class="flow__left" dir="` + w.T("page.dir") + `">`)
			b.WriteString(templ.EscapeString(a.Left) + `</small>`)
		}
		w.flowPart(b, FlowPart{Class: "flow__given", Text: Text{{S: a.Prompt}}})
		w.flowPart(b, FlowPart{Class: "flow__gen", Text: Text{{S: a.Before}}})
		if a.New != "" {
			b.WriteString(`<mark>` + running(a.New) + `</mark>`)
		}
		w.flowPart(b, FlowPart{Class: "flow__held", Text: a.Held})
		b.WriteString(`</p>`)
	})
}

// ProseTextHTML is the text as prose: the prompt, the generated text, and the slot or mark after
// it. These parts must not be separated by a space.
func (w Words) ProseTextHTML(given Text, v Strip) templ.Component {
	return inProse(ProsePromptHTML(given), w.ProseHTML(v.Tokens), w.ProseNextHTML(given, v))
}

// ReadingHTML is a finished text, like [Words.ProseTextHTML], for a page that also shows the text's
// tokens elsewhere. Its elements therefore have no ids.
func (w Words) ReadingHTML(given Text, v Strip) templ.Component {
	return inProse(prosePrompt("", given), w.proseMade("", v.Tokens), w.proseEndHTML("", v.Next.Over))
}

func inProse(parts ...templ.Component) templ.Component {
	return templ.Join(templ.Raw(`<p class="prose" dir="auto">`), templ.Join(parts...), templ.Raw(`</p>`))
}

// idAttr returns the attribute for an id, if there is one.
func idAttr(id string) string {
	if id == "" {
		return ""
	}
	return ` id="` + id + `"`
}

// ProsePromptHTML is the prompt within the text ([GivenText]).
func ProsePromptHTML(given Text) templ.Component { return prosePrompt("prose-prompt", given) }

func prosePrompt(id string, given Text) templ.Component {
	return writer(func(b *strings.Builder) {
		b.WriteString(`<span` + idAttr(id) + ` class="prose__given">`)
		writeText(b, given, `<i class="sp">`, `</i>`)
		b.WriteString(`</span>`)
	})
}

// ProseHTML is the text that the model has generated. Each token has its own element, which also
// shows the token's share.
func (w Words) ProseHTML(tokens []Token) templ.Component { return w.proseMade("strip-gen", tokens) }

func (w Words) proseMade(id string, tokens []Token) templ.Component {
	return writer(func(b *strings.Builder) {
		b.WriteString(`<span` + idAttr(id) + ` class="prose__gen" role="group" aria-label="` +
			templ.EscapeString(w.T("story.made")) + `">`)
		for _, t := range tokens {
			if id == "" {
				t.ID = ""
			}
			w.proseToken(b, t)
		}
		b.WriteString(`</span>`)
	})
}

// ProseTokenHTML is one token of the text. It is not a button element, because a button would not
// break across lines as the words around it do.
func (w Words) ProseTokenHTML(t Token) templ.Component {
	return writer(func(b *strings.Builder) { w.proseToken(b, t) })
}

func (w Words) proseToken(b *strings.Builder, t Token) {
	tab, esc := "-1", templ.EscapeString[string]
	if t.Tab {
		tab = "0"
	}
	b.WriteString(`<span` + idAttr(t.ID) + proseShare(t) + ` role="button" tabindex="` + tab + `" data-pos="` +
		strconv.Itoa(t.Pos) + `" data-token="` + esc(t.Text.String()) + `" data-step="` +
		strconv.Itoa(t.Step) + `" data-cmd="` + esc(t.Seek) + `" data-peek="` + esc(t.hint(w)) + `">` +
		running(t.Prose) + `</span>`)
}

// proseShare returns the attributes of a token in the text: its style, and its share as a
// tooltip.
func proseShare(t Token) string {
	class, now := "w", ""
	for _, c := range []struct {
		on   bool
		name string
	}{
		{t.Bold, "w--bold"},
		{t.Now, "is-now"},
		{t.Now && strings.HasPrefix(t.Prose, " "), "is-apart"},
		{t.Later, "is-later"},
		{t.Forced, "w--forced"},
	} {
		if c.on {
			class += " " + c.name
		}
	}
	if t.Now {
		now = ` aria-current="true"`
	}
	return ` class="` + class + `" title="` + templ.EscapeString(t.Percent) + `"` + now
}

// plainly returns a string as a [Text] without marks or special tokens.
func plainly(text string) Text {
	if text == "" {
		return nil
	}
	return Text{{S: text}}
}

// ProseRowHTML is the text so far as prose, for the screens of a class, where tokens are not
// buttons. If links is true, each generated token links to its draw.
func (w Words) ProseRowHTML(id, prompt string, v Strip, links bool) templ.Component {
	gen := writer(func(b *strings.Builder) {
		b.WriteString(`<span class="prose__gen" role="group" aria-label="` +
			templ.EscapeString(w.T("story.made")) + `">`)
		for _, t := range v.Tokens {
			name, link := "span", ""
			if links {
				name, link = "a", ` href="?at=`+strconv.Itoa(t.Step)+`.5" data-look`
			}
			b.WriteString("<" + name + proseShare(t) + link + ">" + running(t.Prose) + "</" + name + ">")
		}
		b.WriteString(`</span>`)
	})
	given := plainly(prompt)
	return proseRow(id, w.T("strip.aria.text"), inProse(prosePrompt("", given), gen, w.proseNext("", given, v)))
}
