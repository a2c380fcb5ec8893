package lessons

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// display is a formula between $$ and $$ on separate lines.
type display struct {
	ast.BaseBlock
	text                 strings.Builder
	offset               int
	closed               bool
	written, tex, mathML string
	label                string // for screen readers
}

func (n *display) Kind() ast.NodeKind            { return kindDisplay }
func (n *display) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }
func (n *display) IsRaw() bool                   { return true }

// displayParser reads display formulas.
type displayParser struct{}

func (displayParser) Trigger() []byte             { return []byte{'$'} }
func (displayParser) CanInterruptParagraph() bool { return true }
func (displayParser) CanAcceptIndentedLine() bool { return false }
func (displayParser) open(line string) (rest string, ok bool) {
	return strings.CutPrefix(strings.TrimSpace(line), "$$")
}

func (d displayParser) Open(_ ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	rest, ok := d.open(string(line))
	if !ok {
		return nil, parser.NoChildren
	}
	n := &display{offset: segment.Start}
	n.SetPos(segment.Start)
	n.take(rest)
	return n, parser.NoChildren
}

func (displayParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	n := node.(*display)
	if n.closed {
		return parser.Close
	}
	line, segment := reader.PeekLine()
	n.take(strings.TrimSpace(string(line)))
	reader.Advance(segment.Len() - 1)
	return parser.Continue | parser.NoChildren
}

// take adds a line to the formula. If the line ends with $$, the formula is complete.
func (n *display) take(line string) {
	body, last := strings.CutSuffix(line, "$$")
	if n.text.Len() > 0 && body != "" {
		n.text.WriteByte('\n')
	}
	n.text.WriteString(body)
	n.closed = last
}

func (displayParser) Close(node ast.Node, _ text.Reader, pc parser.Context) {
	n, p := node.(*display), fragmentOf(pc)
	if !n.closed {
		p.problem(n.offset, "unclosed formula; want a closing $$")
	}
	n.written = strings.TrimSpace(n.text.String())
	if n.written == "" {
		p.problem(n.offset, "empty formula")
	}
	at := p.place(n.offset)
	n.tex = p.l.texFigures(at, n.written)
	n.mathML, n.label = p.l.mathML(at, n.tex, true), p.l.words.T("lessons.formula")
}

// isTexFigure matches a figure within TeX. It requires a letter or an opening parenthesis after {=,
// since {= can also occur in TeX itself.
var isTexFigure = regexp.MustCompile(`\{=([A-Za-z(][^{}]*)\}`)

// texFigures computes the figures within a formula.
func (l *loader) texFigures(at position, tex string) string {
	tex = strings.ReplaceAll(tex, string(bar), "|")
	return isTexFigure.ReplaceAllStringFunc(tex, func(whole string) string {
		return texOf(l.figure(at, whole[2:len(whole)-1]))
	})
}

// texOf returns the TeX that typesets a figure as a single number.
func texOf(figure string) string {
	number, unit, _ := strings.Cut(figure, " ")
	tex := strings.NewReplacer(",", "{,}", "%", `\%`, "×", `\times`, "−", "-").Replace(number)
	if unit != "" {
		return tex + `\,\text{` + unit + `}`
	}
	if number != "" && isLetter(number[0]) {
		return `\text{` + number + `}`
	}
	return tex
}
