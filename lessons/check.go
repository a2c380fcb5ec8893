package lessons

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// check visits every node of a fragment. It reports syntax that is not part of the dialect,
// resolves links, and attaches marks such as {.tk} to the nodes that they apply to.
func (p *fragment) check() {
	p.joinLines()
	var marks []*markNode
	var formulas []*formula
	_ = ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			p.checkNode(n)
			switch n := n.(type) {
			case *markNode:
				marks = append(marks, n)
			case *formula:
				formulas = append(formulas, n)
			case *extast.Table:
				n.SetAttributeString("label", p.l.words.T("lessons.table"))
				p.headCells(n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, m := range marks {
		p.mark(m)
	}
	for _, f := range formulas {
		p.hold(f)
	}
}

// stackWidth is the maximum width, in characters, of a table that fits on a phone. A table's width
// is the sum of the lengths of each column's longest cell.
const stackWidth = 80

// headCells labels each cell of a table that is too wide for a phone with the
// name of its column, so that the page can stack the cells of a row.
func (p *fragment) headCells(table *extast.Table) {
	heads, longest := []string{}, []int{}
	for cell := table.FirstChild().FirstChild(); cell != nil; cell = cell.NextSibling() {
		heads, longest = append(heads, p.text(cell)), append(longest, 0)
	}
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		i := 0
		for cell := row.FirstChild(); cell != nil; cell, i = cell.NextSibling(), i+1 {
			longest[i] = max(longest[i], utf8.RuneCountInString(p.text(cell)))
		}
	}
	total := 0
	for _, n := range longest {
		total += n
	}
	if len(heads) < 4 || total <= stackWidth {
		return
	}
	table.SetAttributeString("stack", true)
	for row := table.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
		i := 0
		for cell := row.FirstChild(); cell != nil; cell, i = cell.NextSibling(), i+1 {
			cell.SetAttributeString("head", heads[i])
		}
	}
}

// hold prevents line breaks between a formula and an adjacent opening bracket or punctuation mark.
func (p *fragment) hold(f *formula) {
	held := &holdNode{}
	f.Parent().InsertBefore(f.Parent(), f, held)
	if before, ok := held.PreviousSibling().(*ast.Text); ok && bytes.HasSuffix(
		before.Segment.Value(p.source), []byte("("),
	) {
		cut := before.Segment.Stop - 1
		held.AppendChild(held, ast.NewTextSegment(before.Segment.WithStart(cut)))
		before.Segment = before.Segment.WithStop(cut)
	}
	held.AppendChild(held, f) // moves the node out of its old position
	for {
		after, ok := held.NextSibling().(*ast.Text)
		if !ok {
			break
		}
		text := after.Segment.Value(p.source)
		n := len(text) - len(bytes.TrimLeft(text, ".,;:?!)"))
		if n == len(text) && !after.SoftLineBreak() {
			held.AppendChild(held, after)
			continue
		}
		if n > 0 {
			held.AppendChild(held, ast.NewTextSegment(after.Segment.WithStop(after.Segment.Start+n)))
			after.Segment = after.Segment.WithStart(after.Segment.Start + n)
		}
		break
	}
	if held.ChildCount() == 1 { // no bracket or punctuation to hold
		held.Parent().ReplaceChild(held.Parent(), held, f)
	}
}

func (p *fragment) checkNode(n ast.Node) {
	switch n := n.(type) {
	case *ast.RawHTML:
		segment := n.Segments.At(0)
		p.problem(
			segment.Start, "HTML is not supported: %s; put model input in `code`",
			segment.Value(p.source),
		)
	case *ast.HTMLBlock:
		p.problem(offsetOf(n), "HTML is not supported")
	case *ast.Image:
		p.problem(offsetOf(n), "images are not supported")
	case *ast.Heading:
		if n.Level != 3 {
			p.problem(offsetOf(n), "headings within a section must begin with ###")
		}
	case *ast.ThematicBreak:
		p.problem(offsetOf(n), "horizontal rules are not supported")
	case *ast.Link:
		p.link(n)
	case *ast.AutoLink:
		url := string(n.URL(p.source))
		if !p.l.outside || !strings.HasPrefix(url, "https://") {
			p.problem(offsetOf(n), "link to %s: only references.md may link to other sites, with https", url)
		}
	case *ast.CodeSpan:
		if code := codeText(n, p.source); isTexFigure.MatchString(code) {
			p.problem(offsetOf(n), "figures cannot be used in `code`: %s", code)
		}
	case *ast.FencedCodeBlock:
		if isTexFigure.MatchString(linesText(n, p.source)) {
			p.problem(offsetOf(n), "figures cannot be used in code blocks")
		}
	}
}

// offsetOf returns the offset of a node or, if it has none, of a descendant or an ancestor.
func offsetOf(n ast.Node) int {
	if n.Pos() >= 0 {
		return n.Pos()
	}
	at := -1
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch t, isText := n.(*ast.Text); {
		case isText:
			at = t.Segment.Start
		case n.Type() != ast.TypeInline && n.Lines() != nil && n.Lines().Len() > 0:
			at = n.Lines().At(0).Start
		default:
			return ast.WalkContinue, nil
		}
		return ast.WalkStop, nil
	})
	for ; at < 0 && n != nil; n = n.Parent() {
		if n.Type() != ast.TypeInline && n.Lines() != nil && n.Lines().Len() > 0 {
			at = n.Lines().At(0).Start
		}
	}
	return max(at, 0)
}

// link resolves a link, or reports that its target does not exist.
func (p *fragment) link(n *ast.Link) {
	to := string(n.Destination)
	if len(n.Title) > 0 {
		p.problem(offsetOf(n), "link titles are not supported: %q", n.Title)
	}
	href, ok := p.l.resolve(to)
	switch {
	case ok:
		n.Destination = []byte(href)
		p.l.usesDrill(href)
	case p.l.outside && strings.HasPrefix(to, "https://"):
	case strings.Contains(to, "//"):
		p.problem(offsetOf(n), "link to %s: only references.md may link to other sites, with https", to)
	default:
		p.problem(offsetOf(n), "broken link %q%s", to, p.l.nearest(to))
	}
}

// mark attaches {.tk} to the code before it and {.given} to the table after it.
func (p *fragment) mark(m *markNode) {
	switch m.class {
	case "tk":
		code, ok := m.PreviousSibling().(*ast.CodeSpan)
		if !ok {
			p.problem(m.offset, "{.tk} must directly follow `code`")
			return
		}
		code.SetAttributeString("tk", true)
	case "given":
		paragraph := m.Parent()
		table, ok := paragraph.NextSibling().(*extast.Table)
		if !ok || paragraph.ChildCount() != 1 {
			p.problem(m.offset, "{.given} must be on the line before a table, or directly after [text]")
			return
		}
		table.SetAttributeString("given", true)
		paragraph.Parent().RemoveChild(paragraph.Parent(), paragraph)
	}
}
