package grammar

import (
	"fmt"
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// FromRegexp returns the language of the texts that a regular expression matches as a whole. The
// syntax is RE2's, as in Go's package regexp: no look-around and no backreferences. Anchors are
// allowed only at the two ends of the expression. The error is a *[terms.Refusal].
func FromRegexp(expression string) (*Grammar, error) {
	b := newBuilder()
	re, err := parseExpression(expression)
	if err != nil {
		return nil, err
	}
	return b.grammar(patternBuilder{b, false}.pattern(re.Regexp, end))
}

// expression is a regular expression whose anchors at the ends have been removed.
type expression struct {
	*syntax.Regexp
	begins, ends bool // whether an anchor was removed there
}

// parseExpression parses an expression and removes the anchors at its ends.
func parseExpression(text string) (*expression, error) {
	if len(text) > MaxSource {
		return nil, refuse("an expression has %d bytes; the limit is %d", len(text), MaxSource)
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, refuse("cannot parse the expression %q (%v)", short(text), err)
	}
	var e expression
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	if len(parts) > 0 && parts[0].Op == syntax.OpBeginText {
		parts, e.begins = parts[1:], true
	}
	if n := len(parts); n > 0 && parts[n-1].Op == syntax.OpEndText {
		parts, e.ends = parts[:n-1], true
	}
	e.Regexp = &syntax.Regexp{Op: syntax.OpConcat, Sub: parts}
	return &e, nil
}

// patternBuilder builds an automaton for the texts that an expression matches, either verbatim or
// within a JSON string.
type patternBuilder struct {
	*builder
	quoted bool
}

func (c patternBuilder) pattern(re *syntax.Regexp, next int32) int32 {
	c.spend(1)
	part := func(next int32) int32 { return c.pattern(re.Sub[0], next) }
	switch re.Op {
	case syntax.OpEmptyMatch:
		return next
	case syntax.OpLiteral:
		for i := len(re.Rune) - 1; i >= 0; i-- {
			next = c.letter(re.Rune[i], re.Flags&syntax.FoldCase != 0, next)
		}
		return next
	case syntax.OpCharClass:
		return c.class(re.Rune, next)
	case syntax.OpAnyChar:
		return c.class([]rune{0, utf8.MaxRune}, next)
	case syntax.OpAnyCharNotNL:
		return c.class([]rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune}, next)
	case syntax.OpCapture:
		return part(next)
	case syntax.OpStar:
		return c.repeat(part, 0, -1, next)
	case syntax.OpPlus:
		return c.repeat(part, 1, -1, next)
	case syntax.OpQuest:
		return c.repeat(part, 0, 1, next)
	case syntax.OpRepeat:
		return c.repeat(part, re.Min, re.Max, next)
	case syntax.OpConcat:
		for i := len(re.Sub) - 1; i >= 0; i-- {
			next = c.pattern(re.Sub[i], next)
		}
		return next
	case syntax.OpAlternate:
		var list []int32
		for _, sub := range re.Sub {
			list = append(list, c.pattern(sub, next))
		}
		return c.either(list...)
	case syntax.OpNoMatch:
		return dead
	}
	return c.fail(
		"an expression can have ^ only at its start, $ only at its end, and no word boundaries: %q", short(re.String()),
	)
}

// letter builds a part that reads one character, in upper or lower case if fold is set.
func (c patternBuilder) letter(r rune, fold bool, next int32) int32 {
	set := []rune{r, r}
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			set = append(set, f, f)
		}
	}
	return c.class(set, next)
}

// class builds a part that reads one character from a set of ranges, given as lo, hi, lo, hi, and
// so on.
func (c patternBuilder) class(ranges []rune, next int32) int32 {
	var plain, escapes []int32
	for i := 0; i+1 < len(ranges); i += 2 {
		if lo, hi := ranges[i], ranges[i+1]; c.quoted {
			raw, escaped := c.within(lo, hi, next)
			plain, escapes = append(plain, raw...), append(escapes, escaped...)
		} else {
			plain = append(plain, c.runes(lo, hi, next))
		}
	}
	return c.either(append(plain, c.bytes('\\', '\\', c.either(escapes...)))...)
}

// within returns nodes that read one character from lo to hi as it appears in a JSON string.
// Quotation marks, backslashes and control characters are read as escapes, here without their
// backslash; other characters are read unescaped.
func (c patternBuilder) within(lo, hi rune, next int32) (raw, escapes []int32) {
	for _, piece := range [][2]rune{{0x20, '"' - 1}, {'"' + 1, '\\' - 1}, {'\\' + 1, utf8.MaxRune}} {
		if from, to := max(lo, piece[0]), min(hi, piece[1]); from <= to {
			raw = append(raw, c.runes(from, to, next))
		}
	}
	short, long := "", [2]string{} // short escapes, and the last digits of \u escapes by the digit before them
	for _, r := range "\"\\\n\r\t" {
		if lo <= r && r <= hi {
			short += escaped(r)[1:]
		}
	}
	for r := lo; r <= min(hi, 0x1f); r++ {
		if text := escaped(r); len(text) == len(`\u0000`) {
			long[r>>4] += text[len(text)-1:]
		}
	}
	digits := c.either(c.bytes('0', '0', c.anyOf(long[0], next)), c.bytes('1', '1', c.anyOf(long[1], next)))
	return raw, append(escapes, c.anyOf(short, next), c.literal("u00", digits))
}

// escaped returns a character's escape in a JSON string.
func escaped(r rune) string {
	switch r {
	case '"', '\\':
		return `\` + string(r)
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	}
	return fmt.Sprintf(`\u%04x`, r)
}
