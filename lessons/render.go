package lessons

import (
	"html"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/tokenbytoken/viz/infer/terms"
)

// htmlRenderer renders the dialect's own nodes, and it renders code and tables with the pages'
// classes. It emits no style attributes, because the security policy forbids them.
type htmlRenderer struct{}

func (r htmlRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindFormula, leaf(func(n ast.Node, _ []byte) string { return n.(*formula).mathML }))
	reg.Register(kindDisplay, leaf(func(node ast.Node, _ []byte) string {
		n, class := node.(*display), "formula"
		if utf8.RuneCountInString(plainTeX(n.tex)) > longFormula {
			class = "formula formula--long"
		}
		return scrolls(class, n.label) + n.mathML + "</div>\n"
	}))
	reg.Register(kindFigure, leaf(func(n ast.Node, _ []byte) string { return html.EscapeString(n.(*figureNode).text) }))
	reg.Register(kindMark, leaf(func(ast.Node, []byte) string { return "" }))
	reg.Register(kindGiven, leaf(func(n ast.Node, _ []byte) string {
		text := n.(*givenNode).text
		return `<span class="given"` + dirOf(text) + `>` + html.EscapeString(text) + `</span>`
	}))
	reg.Register(kindTerm, leaf(func(n ast.Node, _ []byte) string {
		t := n.(*termNode)
		if t.inPlace {
			return `<button type="button" class="term" popovertarget="` + TermNoteID(t.id) + `">` +
				html.EscapeString(t.text) + `</button>`
		}
		return `<a class="term" href="` + termHref(t.id) + `">` + html.EscapeString(t.text) + `</a>`
	}))
	reg.Register(kindHold, around(`<span class="nb">`, "</span>"))
	reg.Register(kindCite, leaf(renderCite))
	reg.Register(ast.KindCodeSpan, leaf(renderCode))
	reg.Register(ast.KindFencedCodeBlock, leaf(renderFence))
	reg.Register(ast.KindCodeBlock, leaf(renderFence))
	reg.Register(ast.KindHeading, renderHeading)
	reg.Register(extast.KindTable, renderTable)
	reg.Register(extast.KindTableCell, renderCell)
}

// TermNoteID returns the id of the element that contains a term's note in a lesson's page. The
// term's button opens the note.
func TermNoteID(term string) string { return "note-" + term }

// longFormula is the maximum number of letters in a formula that fits on one line of a phone at
// full size.
const longFormula = 42

// leaf renders a node in one step, including its children.
func leaf(write func(n ast.Node, source []byte) string) renderer.NodeRendererFunc {
	return func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(write(n, source))
		}
		return ast.WalkSkipChildren, nil
	}
}

// around renders text before and after a node's children.
func around(before, after string) renderer.NodeRendererFunc {
	return func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(before)
		} else {
			_, _ = w.WriteString(after)
		}
		return ast.WalkContinue, nil
	}
}

func renderCite(n ast.Node, _ []byte) string {
	var links []string
	for _, r := range n.(*citeNode).works {
		links = append(links, `<a href="`+referenceHref(r.ID)+`">`+html.EscapeString(r.Short)+`</a>`)
	}
	return `<span class="cite">(` + strings.Join(links, "; ") + `)</span>`
}

// tokenMarks holds the marks for a space, a newline and a tab, which are styled differently from a
// token's letters.
const tokenMarks = "·↵⇥"

func renderCode(n ast.Node, source []byte) string {
	code := codeText(n, source)
	_, marked := n.AttributeString("tk")
	if !marked && !strings.ContainsRune(tokenMarks, firstRune(code)) {
		return "<code" + dirOf(code) + ">" + html.EscapeString(code) + "</code>"
	}
	var b strings.Builder
	b.WriteString(`<span class="tk"` + dirOf(code) + `>`)
	for _, r := range code {
		if strings.ContainsRune(tokenMarks, r) {
			b.WriteString(`<i class="ws">` + string(r) + `</i>`)
		} else {
			b.WriteString(html.EscapeString(string(r)))
		}
	}
	b.WriteString(`</span>`)
	return b.String()
}

// dirOf returns the dir attribute for an element with the given text, or "" if the text does not
// need its own direction.
func dirOf(text string) string {
	if terms.RightToLeft(text) {
		return ` dir="auto"`
	}
	return ""
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

// codeText returns the text of a code span, with newlines replaced by spaces.
func codeText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		} else if s, ok := c.(*ast.String); ok {
			b.Write(s.Value)
		}
	}
	return strings.NewReplacer("\n", " ", string(bar), "|").Replace(b.String())
}

func renderFence(n ast.Node, source []byte) string {
	text := linesText(n, source)
	return `<pre class="code" tabindex="0"><code` + dirOf(text) + `>` + html.EscapeString(text) + "</code></pre>\n"
}

// linesText returns the source of a block.
func linesText(n ast.Node, source []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		b.Write(segment.Value(source))
	}
	return strings.ReplaceAll(b.String(), string(bar), "|")
}

// directed returns the dir attribute of a block, or "" if [fragment.direct] has not given it a
// direction.
func directed(n ast.Node) string {
	if _, ok := n.AttributeString("dir"); ok {
		return ` dir="auto"`
	}
	return ""
}

func renderHeading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<h3" + directed(n) + ">")
	} else {
		_, _ = w.WriteString("</h3>\n")
	}
	return ast.WalkContinue, nil
}

func renderTable(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, _ = w.WriteString("</table></div>\n")
		return ast.WalkContinue, nil
	}
	class := "tc"
	if _, given := n.AttributeString("given"); given {
		class += " given"
	}
	if _, stack := n.AttributeString("stack"); stack {
		class += " tc--stack"
	}
	label, _ := n.AttributeString("label")
	_, _ = w.WriteString(scrolls("scroll", label.(string)) + `<table class="` + class + `"` + directed(n) + ">\n")
	return ast.WalkContinue, nil
}

// scrolls returns the opening tag of an element that scrolls, with a label for screen readers.
func scrolls(class, label string) string {
	return `<div class="` + class + `" tabindex="0" role="group" aria-label="` + html.EscapeString(label) + `">`
}

// renderCell renders a table cell. The first cell of a row is the row's header.
func renderCell(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*extast.TableCell)
	tag, scope := "td", ""
	if n.ChildCount() == 0 {
		tag = "td" // an empty cell is not a header
	} else if n.Parent().Kind() == extast.KindTableHeader {
		tag, scope = "th", ` scope="col"`
	} else if n.PreviousSibling() == nil {
		tag, scope = "th", ` scope="row"`
	}
	if !entering {
		_, _ = w.WriteString("</" + tag + ">\n")
		return ast.WalkContinue, nil
	}
	class := map[extast.Alignment]string{
		extast.AlignRight: ` class="num"`, extast.AlignCenter: ` class="mid"`,
	}[n.Alignment]
	if head, ok := n.AttributeString("head"); ok && head != "" && tag == "td" {
		class += ` data-head="` + html.EscapeString(head.(string)) + `"`
	}
	_, _ = w.WriteString("<" + tag + scope + class + directed(n) + ">")
	return ast.WalkContinue, nil
}
