package lessons

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/tokenbytoken/viz/infer/terms"
)

// md parses the dialect. HTML in the source never reaches the output: goldmark omits it, and check
// reports it as an error. The dialect's inline forms are parsed before emphasis and links, so an
// underscore in a formula does not mark emphasis.
var md = goldmark.New(
	goldmark.WithExtensions(
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)),
		extension.NewTypographer(),
	),
	goldmark.WithParserOptions(
		parser.WithBlockParsers(util.Prioritized(displayParser{}, 650)),
		parser.WithInlineParsers(
			util.Prioritized(formulaParser{}, 50),
			util.Prioritized(braceParser{}, 51),
			util.Prioritized(bracketParser{}, 52),
			util.Prioritized(newEmphasisParser(), 499), // before Markdown's own parser
		),
	),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(htmlRenderer{}, 100))),
)

// mdLine parses a single line of text, such as a title or a choice, in which a leading "1." or "-"
// does not start a list.
var mdLine = parser.NewParser(
	parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
	parser.WithInlineParsers(append(parser.DefaultInlineParsers(),
		util.Prioritized(formulaParser{}, 50),
		util.Prioritized(braceParser{}, 51),
		util.Prioritized(bracketParser{}, 52),
		util.Prioritized(newEmphasisParser(), 499),
		util.Prioritized(extension.NewTypographerParser(), 9999),
	)...),
)

// fragmentKey is the key under which a parser's context holds the fragment being parsed.
var fragmentKey = parser.NewContextKey()

// A fragment is a run of Markdown with its position in a file.
type fragment struct {
	l      *loader
	at     position // the position of the first line
	source []byte
	doc    ast.Node
}

func fragmentOf(pc parser.Context) *fragment { return pc.Get(fragmentKey).(*fragment) }

// place returns the position of a byte of the fragment.
func (p *fragment) place(offset int) position {
	return p.at.down(bytes.Count(p.source[:min(offset, len(p.source))], []byte("\n")))
}

func (p *fragment) problem(offset int, format string, args ...any) {
	p.l.problems.add(p.place(offset), format, args...)
}

// bar replaces | inside the dialect's own forms while Markdown is parsed, since | would end a table
// cell.
const bar = '\x1f'

// hideBars replaces | with bar inside [[…]] and {=…}, byte for byte, so offsets do not change.
func hideBars(source []byte) {
	for i := 0; i+1 < len(source); i++ {
		var end string
		switch string(source[i : i+2]) {
		case "[[":
			end = "]]"
		case "{=":
			end = "}"
		default:
			continue
		}
		line := source[i:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		n := bytes.Index(line, []byte(end))
		for j := range max(n, 0) {
			if line[j] == '|' {
				line[j] = bar
			}
		}
	}
}

// parse parses Markdown that begins at a position, checks everything in it and resolves
// its links.
func (l *loader) parse(at position, markdown string) *fragment {
	return l.parseWith(md.Parser(), at, markdown)
}

func (l *loader) parseWith(with parser.Parser, at position, markdown string) *fragment {
	p := &fragment{l: l, at: at, source: []byte(markdown)}
	if i := bytes.IndexByte(p.source, bar); i >= 0 {
		p.problem(i, "unexpected control character")
	}
	hideBars(p.source)
	pc := parser.NewContext()
	pc.Set(fragmentKey, p)
	p.doc = with.Parse(text.NewReader(p.source), parser.WithContext(pc))
	p.check()
	p.direct()
	if l.onPiece != nil {
		l.onPiece(p)
	}
	return p
}

// direct gives each block of a fragment with right-to-left letters the direction of the block's
// first letter.
func (p *fragment) direct() {
	if !terms.RightToLeft(string(p.source)) {
		return
	}
	_ = ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && n.Type() == ast.TypeBlock {
			n.SetAttributeString("dir", "auto")
		}
		return ast.WalkContinue, nil
	})
}

// html renders a node of the fragment.
func (p *fragment) html(n ast.Node) string {
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, p.source, n); err != nil {
		p.problem(0, "rendering: %v", err)
	}
	return strings.TrimSpace(b.String())
}

// block renders Markdown as HTML paragraphs, lists and tables.
func (l *loader) block(at position, markdown string) string {
	p := l.parse(at, markdown)
	return p.html(p.doc)
}

// blockText renders Markdown as HTML and as plain text.
func (l *loader) blockText(at position, markdown string) (html, plain string) {
	p := l.parse(at, markdown)
	return p.html(p.doc), p.text(p.doc)
}

// inline renders Markdown that consists of a single paragraph, without the paragraph element.
func (l *loader) inline(at position, markdown string) (html, plain string) {
	if strings.TrimSpace(markdown) == "" {
		return "", ""
	}
	p := l.parseWith(mdLine, at, markdown)
	first := p.doc.FirstChild()
	if first == nil || first.NextSibling() != nil {
		l.problems.add(at, "got several blocks or a special block, want a single paragraph")
		return "", ""
	}
	var b strings.Builder
	for n := first.FirstChild(); n != nil; n = n.NextSibling() {
		var part bytes.Buffer
		if err := md.Renderer().Render(&part, p.source, n); err != nil {
			p.problem(0, "rendering: %v", err)
		}
		b.Write(part.Bytes())
	}
	return strings.TrimSpace(b.String()), p.text(first)
}
