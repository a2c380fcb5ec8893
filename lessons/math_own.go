package lessons

import (
	"errors"
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainMath renders TeX in an instructor's own lesson, for which no table is generated. It supports
// letters, numbers and signs, sub- and superscripts, \frac, \sqrt, \text and the names in
// plainNames. Anything else is an error.
func plainMath(tex string, displayed bool) (string, error) {
	p := &texParser{rest: tex}
	body := p.row(0)
	if p.err == nil && p.rest != "" {
		p.err = errors.New("unmatched }")
	}
	if p.err != nil {
		return "", p.err
	}
	open := "<math>"
	if displayed {
		open = `<math display="block">`
	}
	return open + "<mrow>" + body + "</mrow></math>", nil
}

// plainNames maps commands to the single signs for which they stand. Greek letters are identifiers;
// the others are operators.
var plainNames = map[string]string{
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "theta": "θ",
	"lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "omega": "ω",
	"times": "×", "cdot": "·", "le": "≤", "ge": "≥", "ne": "≠", "approx": "≈", "pm": "±", "to": "→",
	"sum": "∑", "prod": "∏", "in": "∈", "ldots": "…", "infty": "∞", "log": "log", "exp": "exp", "max": "max",
	"min": "min",
}

// mathDepth is the maximum nesting depth of groups.
const mathDepth = 20

type texParser struct {
	rest string
	err  error
}

func (p *texParser) fail(format string, args ...any) string {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.rest = ""
	return ""
}

// row parses atoms with their sub- and superscripts, up to the end or a closing brace.
func (p *texParser) row(depth int) string {
	if depth > mathDepth {
		return p.fail("groups are nested more than %d levels deep", mathDepth)
	}
	var b strings.Builder
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\n")
		if p.rest == "" || p.rest[0] == '}' {
			return b.String()
		}
		b.WriteString(p.scripted(depth))
	}
}

// scripted parses one atom with its sub- and superscripts.
func (p *texParser) scripted(depth int) string {
	atom, below, above := p.atom(depth), "", ""
	for p.rest != "" && (p.rest[0] == '_' || p.rest[0] == '^') {
		to := &below
		if p.rest[0] == '^' {
			to = &above
		}
		p.rest = p.rest[1:]
		if *to != "" {
			return p.fail("multiple subscripts or superscripts in a row")
		}
		*to = "<mrow>" + p.atom(depth) + "</mrow>"
	}
	switch {
	case below != "" && above != "":
		return "<msubsup>" + atom + below + above + "</msubsup>"
	case below != "":
		return "<msub>" + atom + below + "</msub>"
	case above != "":
		return "<msup>" + atom + above + "</msup>"
	}
	return atom
}

// atom parses a group, a command, a number, a letter or a sign.
func (p *texParser) atom(depth int) string {
	r, size := utf8.DecodeRuneInString(p.rest)
	switch {
	case p.rest == "":
		return p.fail("missing symbol at the end")
	case r == '{':
		return "<mrow>" + p.group(depth) + "</mrow>"
	case r == '\\':
		return p.command(depth)
	case r >= '0' && r <= '9':
		n := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789.,"))
		number := strings.TrimRight(p.rest[:n], ".,")
		p.rest = p.rest[len(number):]
		return "<mn>" + number + "</mn>"
	case unicode.IsLetter(r):
		p.rest = p.rest[size:]
		return "<mi>" + html.EscapeString(string(r)) + "</mi>"
	case strings.ContainsRune("+-−=<>()[]|/*,.:;!'%", r):
		p.rest = p.rest[size:]
		if r == '-' {
			r = '−'
		}
		return "<mo>" + html.EscapeString(string(r)) + "</mo>"
	}
	return p.fail("unsupported symbol %q", r)
}

// group parses {…}.
func (p *texParser) group(depth int) string {
	if !strings.HasPrefix(p.rest, "{") {
		return p.fail("missing group {…}")
	}
	p.rest = p.rest[1:]
	body := p.row(depth + 1)
	if !strings.HasPrefix(p.rest, "}") {
		return p.fail("unmatched {")
	}
	p.rest = p.rest[1:]
	return body
}

// command parses the text after a backslash.
func (p *texParser) command(depth int) string {
	p.rest = p.rest[1:]
	name := p.rest[:len(p.rest)-len(strings.TrimLeftFunc(p.rest, func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}))]
	if name == "" {
		if p.rest != "" && strings.ContainsRune(",;: {}%", rune(p.rest[0])) {
			sign := p.rest[:1]
			if p.rest = p.rest[1:]; strings.Contains("{}%", sign) {
				return "<mo>" + sign + "</mo>"
			}
			return `<mspace width="0.17em"></mspace>`
		}
		return p.fail("a backslash must be followed by a name")
	}
	p.rest = p.rest[len(name):]
	sign, known := plainNames[name]
	switch {
	case name == "frac":
		p.rest = strings.TrimLeft(p.rest, " ")
		over := p.group(depth)
		return "<mfrac><mrow>" + over + "</mrow><mrow>" + p.group(depth) + "</mrow></mfrac>"
	case name == "sqrt":
		return "<msqrt>" + p.group(depth) + "</msqrt>"
	case name == "text":
		end := strings.IndexByte(p.rest, '}')
		if !strings.HasPrefix(p.rest, "{") || end < 0 {
			return p.fail(`\text must be followed by {…}`)
		}
		text := p.rest[1:end]
		p.rest = p.rest[end+1:]
		return "<mtext>" + html.EscapeString(text) + "</mtext>"
	case known && strings.ContainsAny(sign, "αβγδεηθλμπρστφω∞"),
		known && len(sign) == 3 && sign[0] < 0x80:
		return "<mi>" + sign + "</mi>"
	case known:
		return "<mo>" + sign + "</mo>"
	}
	return p.fail(`unsupported command \%s; only \frac, \sqrt, \text, Greek letters and a few symbols are `+
		"supported. Write other formulas in words", name)
}
