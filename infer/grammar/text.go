package grammar

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// anyCharacter is the set of characters in strings without a pattern: all characters except the
// control characters that need a numeric escape.
var anyCharacter = []rune{'\t', '\n', '\r', '\r', ' ', utf8.MaxRune}

// character builds a part that reads one character of a JSON string.
func (b *builder) character(next int32) int32 {
	return patternBuilder{b, true}.class(anyCharacter, next)
}

// text builds a part that reads a string accepted by all of the given schemas. Lengths are in
// characters.
func (c compiler) text(from []*schema, next int32) int32 {
	var patterns []*expression
	var chars span
	for _, s := range from {
		if s.chars.empty() {
			return c.fail("%s requires at least %d and at most %d characters, which is impossible",
				s.at, s.chars.least, s.chars.most)
		}
		chars = chars.and(s.chars)
		patterns = append(patterns, s.patterns...)
	}
	closed := c.bytes('"', '"', next)
	switch {
	case chars.empty():
		return dead
	case len(patterns) == 0:
		return c.bytes('"', '"', chars.characters(c.builder, closed))
	case len(patterns) == 1 && chars == span{}:
		return c.bytes('"', '"', patterns[0].anywhere(c.builder, closed))
	}
	return c.bytes('"', '"', c.copy(c.matching(patterns, chars), closed))
}

// characters builds a part that reads as many characters of a JSON string as the span allows.
func (a span) characters(b *builder, next int32) int32 {
	return b.repeat(b.character, a.least, a.limit(), next)
}

// matching returns an automaton for the strings of the given lengths that match all patterns.
// Results are cached, since item schemas are built repeatedly.
func (c compiler) matching(patterns []*expression, chars span) automaton {
	key := fmt.Sprint(chars)
	for _, e := range patterns {
		key += fmt.Sprintf(" %p", e)
	}
	x, ok := c.texts[key]
	if ok {
		return x
	}
	x = c.alone(patterns[0].anywhere)
	for _, e := range patterns[1:] {
		x = x.and(c.alone(e.anywhere))
	}
	if chars != (span{}) {
		count, ok := c.counts[chars]
		if !ok {
			count = c.alone(chars.characters)
			c.counts[chars] = count
		}
		x = x.and(count)
	}
	c.texts[key] = x
	return x
}

// anywhere builds a part that reads the rest of a JSON string that matches the expression. If the
// expression has no anchors, it can match anywhere in the string.
func (e *expression) anywhere(b *builder, next int32) int32 {
	c := patternBuilder{b, true}
	if !e.ends {
		next = b.repeat(b.character, 0, -1, next)
	}
	next = c.pattern(e.Regexp, next)
	if !e.begins {
		next = b.repeat(b.character, 0, -1, next)
	}
	return next
}

// ECMAScript's white space and its complement, as parts of an RE2 class, and the characters that a
// dot does not match.
const (
	space    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	notSpace = `\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
		`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	lineEnds = `\n\r\x{2028}\x{2029}`
)

// matches adds a pattern. Patterns have ECMAScript's syntax, limited to what RE2 supports.
func (s *schema) matches(text string) error {
	if format := published[text]; format != "" {
		return s.hasFormat(format)
	}
	re2, ok := fromECMA(text)
	if !ok {
		return refuse("the pattern %q of %s cannot be used: it must mean the same in RE2 and ECMAScript",
			short(text), s.at)
	}
	e, err := parseExpression(re2)
	s.patterns = append(s.patterns, e)
	return err
}

// fromECMA translates a pattern to RE2. ok is false if ECMAScript and RE2 interpret the pattern
// differently.
func fromECMA(text string) (re2 string, ok bool) {
	var b strings.Builder
	class := false // within brackets
	for i := 0; i < len(text); i++ {
		switch char, rest := text[i], text[i+1:]; {
		case char == '\\' && rest != "":
			i++
			written, more, ok := escapeFromECMA(rest, class)
			if !ok {
				return "", false
			}
			b.WriteString(written)
			i += more
		case class && char == '[' && strings.HasPrefix(rest, ":"), !class && char == '(' && hasFlags(rest),
			!class && char == '[' && strings.HasPrefix(strings.TrimPrefix(rest, "^"), "]"):
			return "", false
		case !class && char == '.':
			b.WriteString(`[^` + lineEnds + `]`)
		default:
			class = char == '[' || class && char != ']'
			b.WriteByte(char)
		}
	}
	return b.String(), true
}

// hasFlags reports whether the text after a parenthesis starts with flags, or with a group name in
// RE2's own syntax.
func hasFlags(rest string) bool {
	return strings.HasPrefix(rest, "?") && !strings.HasPrefix(rest, "?:") && !strings.HasPrefix(rest, "?<")
}

// escapeFromECMA translates the escape after a backslash. more is the number of bytes of the escape
// after its first byte.
func escapeFromECMA(rest string, class bool) (re2 string, more int, ok bool) {
	char := rest[0]
	switch char {
	case 's', 'S':
		set := map[byte]string{'s': space, 'S': notSpace}[char]
		if !class {
			set = `[` + set + `]`
		}
		return set, 0, true
	case 'u':
		if len(rest) < 5 || strings.Trim(rest[1:5], "0123456789abcdefABCDEF") != "" {
			return "", 0, false
		}
		return `\x{` + rest[1:5] + `}`, 4, true
	case 'x':
		return `\x`, 0, len(rest) > 1 && rest[1] != '{'
	case 'p', 'P':
		return `\` + rest[:1], 0, len(rest) > 1 && rest[1] == '{'
	case 'd', 'D', 'w', 'W', 'n', 'r', 't', 'f', 'v', 'b', 'B':
		return `\` + rest[:1], 0, true
	}
	letter := '0' <= char && char <= '9' || 'a' <= char|0x20 && char|0x20 <= 'z'
	return `\` + rest[:1], 0, !letter && char < utf8.RuneSelf
}
