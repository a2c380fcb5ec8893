package lessons

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The dialect's additions to Markdown's syntax tree. Each node is created with its output, so the
// renderer only has to write it.
var (
	kindFormula = ast.NewNodeKind("Formula")
	kindDisplay = ast.NewNodeKind("Display")
	kindFigure  = ast.NewNodeKind("Figure")
	kindMark    = ast.NewNodeKind("Mark")
	kindCite    = ast.NewNodeKind("Cite")
	kindTerm    = ast.NewNodeKind("Term")
	kindGiven   = ast.NewNodeKind("Given")
	kindHold    = ast.NewNodeKind("Hold")
)

// A formula is $…$ in running text.
type formula struct {
	ast.BaseInline
	written, tex, mathML string // the formula as typed, with its figures computed, and as rendered
}

func (n *formula) Kind() ast.NodeKind              { return kindFormula }
func (n *formula) Dump(source []byte, level int)   { ast.DumpHelper(n, source, level, nil, nil) }
func (n *figureNode) Kind() ast.NodeKind           { return kindFigure }
func (n *figureNode) Dump(source []byte, lvl int)  { ast.DumpHelper(n, source, lvl, nil, nil) }
func (n *markNode) Kind() ast.NodeKind             { return kindMark }
func (n *markNode) Dump(source []byte, level int)  { ast.DumpHelper(n, source, level, nil, nil) }
func (n *citeNode) Kind() ast.NodeKind             { return kindCite }
func (n *citeNode) Dump(source []byte, level int)  { ast.DumpHelper(n, source, level, nil, nil) }
func (n *termNode) Kind() ast.NodeKind             { return kindTerm }
func (n *termNode) Dump(source []byte, level int)  { ast.DumpHelper(n, source, level, nil, nil) }
func (n *givenNode) Kind() ast.NodeKind            { return kindGiven }
func (n *givenNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// A figureNode is the computed result of {=…}.
type figureNode struct {
	ast.BaseInline
	text string
}

// A markNode is {.tk} or {.given}. It marks the node before or after it.
type markNode struct {
	ast.BaseInline
	class  string
	offset int
}

// A citeNode is [@id] or [@id; @id].
type citeNode struct {
	ast.BaseInline
	works []Reference
}

// A termNode is [[id]] or [[id|text]].
type termNode struct {
	ast.BaseInline
	id, text string
	inPlace  bool // the note opens in place instead of linking to the glossary
}

// A givenNode is [text]{.given}: a fact that is cited rather than computed.
type givenNode struct {
	ast.BaseInline
	text string
}

// A holdNode keeps its children on one line.
type holdNode struct{ ast.BaseInline }

func (n *holdNode) Kind() ast.NodeKind            { return kindHold }
func (n *holdNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// formulaParser parses $…$. A dollar sign is written \$.
type formulaParser struct{}

func (formulaParser) Trigger() []byte { return []byte{'$'} }

func (formulaParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	p := fragmentOf(pc)
	line, segment := block.PeekLine()
	if bytes.HasPrefix(line, []byte("$$")) {
		p.problem(segment.Start, "a $$ formula must be on separate lines; use $ within a line")
		return nil
	}
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '$':
			written := string(line[1:i])
			if strings.TrimSpace(written) != written || written == "" {
				p.problem(
					segment.Start,
					"the formula $%s$ is empty or begins or ends with a space; for a dollar sign, write \\$", written,
				)
			}
			block.Advance(i + 1)
			at := p.place(segment.Start)
			tex := p.l.texFigures(at, written)
			return &formula{written: written, tex: tex, mathML: p.l.mathML(at, tex, false)}
		}
	}
	p.problem(segment.Start, "unclosed formula on this line; for a dollar sign, write \\$")
	return nil
}

// braceParser parses {=…}, {.tk} and {.given}. Any other brace is literal.
type braceParser struct{}

func (braceParser) Trigger() []byte { return []byte{'{'} }

var isMark = regexp.MustCompile(`^\{\.([a-z]+)\}`)

func (braceParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	p := fragmentOf(pc)
	line, segment := block.PeekLine()
	if m := isMark.FindSubmatch(line); m != nil {
		if class := string(m[1]); class == "tk" || class == "given" {
			block.Advance(len(m[0]))
			return &markNode{class: class, offset: segment.Start}
		}
		p.problem(segment.Start, "unknown mark %s; want {.tk} or {.given}", m[0])
		return nil
	}
	if !bytes.HasPrefix(line, []byte("{=")) {
		return nil
	}
	end := bytes.IndexByte(line, '}')
	if end < 0 {
		p.problem(segment.Start, "unclosed figure on this line")
		return nil
	}
	block.Advance(end + 1)
	return &figureNode{text: p.l.figure(p.place(segment.Start), string(line[2:end]))}
}

// bracketParser parses [@…], [[…]] and […]{.given}, and leaves other
// brackets to Markdown's links.
type bracketParser struct{}

func (bracketParser) Trigger() []byte { return []byte{'['} }

var isGiven = regexp.MustCompile(`^\[([^\[\]]+)\]\{\.given\}`)

func (bracketParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	p := fragmentOf(pc)
	line, segment := block.PeekLine()
	if m := isGiven.FindSubmatch(line); m != nil {
		block.Advance(len(m[0]))
		return &givenNode{text: string(m[1])}
	}
	switch {
	case bytes.HasPrefix(line, []byte("[@")):
		end := 1 + bytes.IndexAny(line[1:], "[]")
		if end < 1 || line[end] != ']' {
			p.problem(segment.Start, "unclosed citation on this line")
			return nil
		}
		block.Advance(end + 1)
		return p.cite(segment.Start, string(line[1:end]))
	case bytes.HasPrefix(line, []byte("[[")):
		end := bytes.Index(line, []byte("]]"))
		if end < 0 {
			p.problem(segment.Start, "unclosed term on this line")
			return nil
		}
		block.Advance(end + 2)
		return p.term(segment.Start, string(line[2:end]))
	}
	return nil
}

func (p *fragment) cite(offset int, words string) ast.Node {
	n := &citeNode{}
	for _, w := range strings.Split(words, ";") {
		id, ok := strings.CutPrefix(strings.TrimSpace(w), "@")
		if !ok {
			p.problem(offset, "invalid citation [%s]; want [@id] or [@id; @id]", words)
			continue
		}
		r, ok := p.l.references[id]
		if !ok {
			p.problem(offset, "unknown reference %q", id)
			continue
		}
		p.l.cited[id] = true
		n.works = append(n.works, r)
	}
	return n
}

func (p *fragment) term(offset int, words string) ast.Node {
	id, said, ok := strings.Cut(words, string(bar))
	if !ok {
		said = strings.ReplaceAll(id, "-", " ")
	}
	if !p.l.targets["term:"+id] {
		p.problem(offset, "the glossary has no term %q", id)
	}
	lesson := p.l.lesson
	if lesson != nil && !contains(lesson.Terms, id) {
		lesson.Terms = append(lesson.Terms, id)
	}
	return &termNode{id: id, text: said, inPlace: lesson != nil}
}
