package jinja

import (
	"slices"
	"strconv"
	"strings"
)

// expression parses one expression. The operators, from the lowest to the highest precedence, are:
// if else, or, and, not, comparisons, + and -, ~, * / // %, **, signs, and the suffixes of a value:
// attributes, items, calls, filters and tests.
func (p *parser) expression() expression {
	defer p.deeper()()
	e := p.or()
	for n := 0; p.skipName("if"); n++ {
		p.chain(n)
		c := conditional{then: e, test: p.or()}
		if p.skipName("else") {
			c.otherwise = p.expression()
		}
		e = c
	}
	return e
}

func (p *parser) or() expression {
	e := p.and()
	for n := 0; p.skipName("or"); n++ {
		p.chain(n)
		e = logical{e, p.and(), true}
	}
	return e
}

func (p *parser) and() expression {
	e := p.not()
	for n := 0; p.skipName("and"); n++ {
		p.chain(n)
		e = logical{e, p.not(), false}
	}
	return e
}

func (p *parser) not() expression {
	if p.skipName("not") {
		defer p.deeper()()
		return negation{p.not()}
	}
	return p.compare()
}

func (p *parser) compare() expression {
	c := comparison{first: p.sum()}
	for {
		p.chain(len(c.rest))
		switch o := p.now(); {
		case o.kind == operator && slices.Contains([]string{"==", "!=", "<", ">", "<=", ">="}, o.text):
			p.at++
			c.rest = append(c.rest, compared{o.text, p.sum()})
		case p.skipName("in"):
			c.rest = append(c.rest, compared{"in", p.sum()})
		case o.kind == name && o.text == "not" && p.list[p.at+1].text == "in":
			p.at += 2
			c.rest = append(c.rest, compared{"not in", p.sum()})
		case len(c.rest) == 0:
			return c.first
		default:
			return c
		}
	}
}

// binary parses an expression with operators of one precedence.
func (p *parser) binary(inner func() expression, operators ...string) expression {
	e := inner()
	for n := 0; p.now().kind == operator && slices.Contains(operators, p.now().text); n++ {
		p.chain(n)
		o := p.take().text
		e = arithmetic{o, e, inner()}
	}
	return e
}

func (p *parser) sum() expression    { return p.binary(p.joined, "+", "-") }
func (p *parser) joined() expression { return p.binary(p.product, "~") }
func (p *parser) product() expression {
	return p.binary(p.power, "*", "/", "//", "%")
}

func (p *parser) power() expression {
	return p.binary(func() expression { return p.unary(true) }, "**")
}

// unary parses a value with its sign and suffixes.
func (p *parser) unary(filters bool) expression {
	defer p.deeper()()
	var e expression
	switch {
	case p.skip("-"):
		e = sign{p.unary(false), true}
	case p.skip("+"):
		e = sign{p.unary(false), false}
	default:
		e = p.primary()
	}
	e = p.postfix(e)
	for n := 0; filters; n++ {
		p.chain(n)
		switch {
		case p.skip("|"):
			e = p.filter(e)
		case p.skipName("is"):
			e = p.test(e)
		case p.now() == token{operator, "(", p.now().line}:
			e = p.call(e)
		default:
			return e
		}
	}
	return e
}

// primary parses a name, a literal, or an expression in brackets.
func (p *parser) primary() expression {
	t := p.take()
	switch t.kind {
	case name:
		switch t.text {
		case "true", "True", "false", "False":
			return constant{t.text[0]|0x20 == 't'}
		case "none", "None":
			return constant{nil}
		}
		return variable(t.text)
	case text:
		parts := []string{t.text}
		for p.now().kind == text {
			parts = append(parts, p.take().text)
		}
		return constant{strings.Join(parts, "")}
	case integer:
		n, err := strconv.ParseInt(t.text, 10, 64)
		if err != nil {
			p.fail("the number %s is too large", shortened(t.text))
		}
		return constant{n}
	case float:
		x, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			p.fail("the number %s is too large", shortened(t.text))
		}
		return constant{x}
	}
	if t.kind == operator {
		switch t.text {
		case "(":
			e := p.tuple(true, ")")
			p.expect(")")
			return e
		case "[":
			return sequence{p.items("]"), false}
		case "{":
			return p.dictionary()
		}
	}
	p.at--
	p.fail("got %s, want an expression", describe(t))
	return nil
}

// items parses expressions up to a closing bracket.
func (p *parser) items(closing string) (list []expression) {
	for !p.skip(closing) {
		if len(list) > 0 {
			p.expect(",")
			if p.skip(closing) {
				break
			}
		}
		list = append(list, p.expression())
	}
	return list
}

func (p *parser) dictionary() expression {
	var d mapping
	for !p.skip("}") {
		if len(d) > 0 {
			p.expect(",")
			if p.skip("}") {
				break
			}
		}
		key := p.expression()
		p.expect(":")
		d = append(d, [2]expression{key, p.expression()})
	}
	return d
}

// tuple parses one expression, or several separated by commas. It stops before any word in ends, or
// at the end of the tag.
func (p *parser) tuple(empty bool, ends ...string) expression {
	var list []expression
	for several := false; ; several = true {
		t := p.now()
		if t.kind == closeTag || t.kind == closeOut || t.kind == operator && slices.Contains(ends, t.text) {
			if !several && !empty {
				p.fail("missing expression")
			}
			return sequence{list, true}
		}
		list = append(list, p.expression())
		if !p.skip(",") {
			if several {
				return sequence{list, true}
			}
			return list[0]
		}
	}
}

// postfix parses attributes, items and calls after a value.
func (p *parser) postfix(e expression) expression {
	for n := 0; ; n++ {
		p.chain(n)
		switch t := p.now(); {
		case p.skip("."):
			attribute := p.take()
			switch attribute.kind {
			case name:
				e = member{e, attribute.text}
			case integer:
				i, err := strconv.ParseInt(attribute.text, 10, 64)
				if err != nil {
					p.fail("the number %s is too large", shortened(attribute.text))
				}
				e = item{e, constant{i}}
			default:
				p.fail("missing name after the dot")
			}
		case p.skip("["):
			e = p.subscript(e)
		case t.kind == operator && t.text == "(":
			e = p.call(e)
		default:
			return e
		}
	}
}

// subscript parses the brackets after a value.
func (p *parser) subscript(e expression) expression {
	var parts [3]expression // from, to, step
	n := 0
	for ; ; n++ {
		if t := p.now(); t.kind != operator || t.text != ":" && t.text != "]" {
			parts[n] = p.expression()
		}
		if n == 2 || !p.skip(":") {
			break
		}
	}
	p.expect("]")
	if n > 0 {
		return slice{e, parts}
	}
	if parts[0] == nil {
		p.fail("missing index")
	}
	return item{e, parts[0]}
}

// call parses the arguments of a call.
func (p *parser) call(e expression) expression {
	c := call{of: e, line: p.now().line}
	c.positional, c.named = p.arguments()
	return c
}

// arguments parses arguments in parentheses, if there are any.
func (p *parser) arguments() (positional []expression, named []argument) {
	if !p.skip("(") {
		return nil, nil
	}
	for first := true; !p.skip(")"); first = false {
		if !first {
			p.expect(",")
			if p.skip(")") {
				break
			}
		}
		if t := p.now(); t.kind == name && p.list[p.at+1].kind == operator && p.list[p.at+1].text == "=" {
			p.at += 2
			named = append(named, argument{t.text, p.expression()})
			continue
		}
		if t := p.now(); t.kind == operator && (t.text == "*" || t.text == "**") {
			p.fail("argument lists with %s are not supported", t.text)
		}
		if len(named) > 0 {
			p.fail("a positional argument follows a named one")
		}
		positional = append(positional, p.expression())
	}
	return positional, named
}

// filter parses a filter after its |.
func (p *parser) filter(e expression) expression {
	f := filtered{of: e, name: p.dotted(), line: p.now().line}
	if f.filter = filters[f.name]; f.filter == nil {
		p.fail("the filter %s is not supported", shortened(f.name))
	}
	f.positional, f.named = p.arguments()
	return f
}

// dotted parses a name that may contain dots.
func (p *parser) dotted() string {
	full := p.name()
	for p.skip(".") {
		full += "." + p.name()
	}
	return full
}

// test parses a test after the word "is".
func (p *parser) test(e expression) expression {
	t := tested{of: e, not: p.skipName("not")}
	t.name = p.dotted()
	if t.test = tests[t.name]; t.test == nil {
		p.fail("the test %s is not supported", shortened(t.name))
	}
	switch next := p.now(); {
	case next.kind == operator && next.text == "(":
		t.arguments, _ = p.arguments()
	case next.kind == name && !slices.Contains([]string{"else", "or", "and", "if", "is", "in", "not"}, next.text),
		next.kind == text, next.kind == integer, next.kind == float,
		next.kind == operator && (next.text == "[" || next.text == "{"):
		t.arguments = []expression{p.postfix(p.primary())}
	}
	return t
}
