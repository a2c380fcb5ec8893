package jinja

import (
	"fmt"
	"slices"
	"strings"
)

// Template is a parsed template. It is immutable.
type Template struct{ body []statement }

// Parse parses a template. If it is malformed or not supported, the error is an *[Error].
func Parse(source string) (t *Template, err error) {
	if len(source) > maxSource {
		return nil, fail(1, "the template is %d bytes long; the limit is %d", len(source), maxSource)
	}
	list, err := lex(source)
	if err != nil {
		return nil, err
	}
	p := &parser{list: list}
	defer caught(&err)
	body := p.statements()
	if p.now().kind != end {
		p.fail("%s, but nothing of that name is open", describe(p.list[p.at+1]))
	}
	return &Template{body}, nil
}

// caught turns a panic with an *[Error] into an error.
func caught(err *error) {
	switch fault := recover().(type) {
	case nil:
	case *Error:
		*err = fault
	default:
		panic(fault)
	}
}

// parser turns tokens into a tree. On failure it panics with an *[Error], which [Parse]
// recovers.
type parser struct {
	list  []token
	at    int
	depth int
	loops int // open loops, for break and continue
}

func (p *parser) now() token { return p.list[p.at] }

func (p *parser) take() token {
	t := p.list[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

func (p *parser) fail(format string, args ...any) { panic(fail(p.now().line, format, args...)) }

// deeper counts a level of nesting, and returns a function to call at its end.
func (p *parser) deeper() func() {
	if p.depth++; p.depth > 3*maxDepth { // an expression in brackets counts up to three times
		p.fail("more than %d nested expressions or blocks", maxDepth)
	}
	return func() { p.depth-- }
}

// chain counts operators, filters or calls in a row.
func (p *parser) chain(n int) {
	if n >= maxChain {
		p.fail("more than %d operators, filters or calls in a row", maxChain)
	}
}

// skip skips an operator, if it is next, and reports whether it did.
func (p *parser) skip(o string) bool {
	if t := p.now(); t.kind == operator && t.text == o {
		p.at++
		return true
	}
	return false
}

// skipName skips a word, if it is next, and reports whether it did.
func (p *parser) skipName(word string) bool {
	if t := p.now(); t.kind == name && t.text == word {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(o string) {
	if !p.skip(o) {
		p.fail("got %s, want %s", describe(p.now()), o)
	}
}

func (p *parser) name() string {
	t := p.take()
	if t.kind != name {
		p.at--
		p.fail("got %s, want a name", describe(t))
	}
	return t.text
}

// close reads the end of a tag.
func (p *parser) close() {
	if t := p.take(); t.kind != closeTag {
		p.at--
		p.fail("got %s, want the end of the tag", describe(t))
	}
}

// describe describes a token in an error message.
func describe(t token) string {
	switch t.kind {
	case end:
		return "the end of the template"
	case closeTag, closeOut:
		return "the end of the tag"
	case text:
		return "a string"
	case data, openTag, openOut:
		return "text"
	}
	return shortened(t.text)
}

// shortened quotes text of a template, cut to a readable length.
func shortened(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// statements parses up to the end of the template, or to a tag named in ends. That tag is
// opened but not read.
func (p *parser) statements(ends ...string) (list []statement) {
	defer p.deeper()()
	for {
		switch t := p.now(); t.kind {
		case end:
			if len(ends) > 0 {
				p.fail("%s is missing", ends[len(ends)-1])
			}
			return list
		case data:
			p.at++
			list = append(list, output{constant{t.text}, t.line})
		case openOut:
			p.at++
			e := p.tuple(false)
			if p.take().kind != closeOut {
				p.at--
				p.fail("got %s, want the end of the tag", describe(p.now()))
			}
			list = append(list, output{e, t.line})
		case openTag:
			word := p.list[p.at+1]
			if word.kind == name && (slices.Contains(ends, word.text) || strings.HasPrefix(word.text, "end") ||
				word.text == "else" || word.text == "elif") {
				if len(ends) > 0 && !slices.Contains(ends, word.text) {
					p.at++
					p.fail("got %s, want %s", word.text, strings.Join(ends, " or "))
				}
				return list
			}
			p.at++
			list = append(list, p.statement())
		default:
			p.fail("got %s, want text", describe(t))
		}
	}
}

// statement parses a tag, and everything up to the end of what it opens.
func (p *parser) statement() statement {
	line := p.now().line
	switch word := p.name(); word {
	case "if":
		return p.ifElse(line)
	case "for":
		return p.loop(line)
	case "set":
		return p.set(line)
	case "macro":
		return p.macro(line)
	case "generation": // marks what a model wrote, for training
		p.close()
		body := p.statements("endgeneration")
		p.ending()
		p.close()
		return group(body)
	case "break", "continue":
		if p.loops == 0 {
			p.fail("%s outside of a loop", word)
		}
		p.close()
		return jump(word == "break")
	default:
		p.at--
		p.fail("the tag %s is not supported", shortened(word))
		panic("unreachable: fail does not return")
	}
}

// ending reads a tag that ends something.
func (p *parser) ending() string {
	p.at++ // the opening
	return p.name()
}

func (p *parser) ifElse(line int) statement {
	s := branches{line: line}
	for word := "if"; ; {
		b := branch{}
		if word != "else" {
			b.test = p.expression()
		}
		p.close()
		if word == "else" {
			b.body = p.statements("endif")
		} else {
			b.body = p.statements("elif", "else", "endif")
		}
		s.list = append(s.list, b)
		if word = p.ending(); word == "endif" {
			p.close()
			return s
		}
	}
}

// target parses the target of an assignment: a name, names separated by commas, or an
// attribute.
func (p *parser) target() (names []string, attribute string) {
	brackets := p.skip("(")
	names = []string{p.name()}
	if p.skip(".") {
		return names, p.name()
	}
	for p.skip(",") {
		names = append(names, p.name())
	}
	if brackets {
		p.expect(")")
	}
	return names, ""
}

func (p *parser) loop(line int) statement {
	s := forEach{line: line}
	var attribute string
	if s.names, attribute = p.target(); attribute != "" {
		p.fail("a loop sets names, not attributes")
	}
	if !p.skipName("in") {
		p.fail("in is missing after the loop's names")
	}
	s.over = p.or() // without if, which here filters the list
	if p.skipName("if") {
		s.test = p.expression()
	}
	if p.skipName("recursive") {
		p.fail("recursive loops are not supported")
	}
	p.close()
	p.loops++
	s.body = p.statements("else", "endfor")
	p.loops--
	if p.ending() == "else" {
		p.close()
		s.otherwise = p.statements("endfor")
		p.ending()
	}
	p.close()
	return s
}

func (p *parser) set(line int) statement {
	s := assignment{line: line}
	s.names, s.attribute = p.target()
	if p.skip("=") {
		s.value = p.tuple(false)
		p.close()
		return s
	}
	body := &captured{}
	s.value = body
	for n := 0; p.skip("|"); n++ {
		p.chain(n)
		s.value = p.filter(s.value)
	}
	p.close()
	body.body = p.statements("endset")
	p.ending()
	p.close()
	return s
}

func (p *parser) macro(line int) statement {
	m := &macro{name: p.name()}
	p.expect("(")
	for first := true; !p.skip(")"); first = false {
		if !first {
			p.expect(",")
		}
		a := argument{name: p.name()}
		if p.skip("=") {
			a.value = p.expression()
		}
		m.parameters = append(m.parameters, a)
	}
	p.close()
	loops := p.loops
	p.loops = 0
	m.body = p.statements("endmacro")
	p.loops = loops
	p.ending()
	p.close()
	return definition{m, line}
}
