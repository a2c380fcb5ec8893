package jinja

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	end      kind = iota // of the template
	data                 // text between tags
	openTag              // {%
	closeTag             // %}
	openOut              // {{
	closeOut             // }}
	name
	text // the value of a string
	integer
	float
	operator
)

type token struct {
	kind kind
	text string
	line int
}

// lexer splits a template into tokens, like Jinja's lexer with trim_blocks and
// lstrip_blocks: it drops the first newline after a block or comment, and blanks between
// the start of a line and a block or comment.
type lexer struct {
	source string
	at     int
	line   int
	list   []token
	open   []byte // brackets
}

func fail(line int, format string, args ...any) *Error {
	return &Error{Line: line, Message: fmt.Sprintf(format, args...)}
}

func lex(source string) ([]token, error) {
	source = strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n")
	l := &lexer{source: strings.TrimSuffix(source, "\n"), line: 1}
	for l.at < len(l.source) {
		if err := l.next(); err != nil {
			return nil, err
		}
	}
	l.add(end, "")
	return l.list, nil
}

func (l *lexer) add(k kind, text string) { l.list = append(l.list, token{k, text, l.line}) }

// move advances by n bytes.
func (l *lexer) move(n int) {
	l.line += strings.Count(l.source[l.at:l.at+n], "\n")
	l.at += n
}

// next reads the text before the next tag, and then the tag itself.
func (l *lexer) next() error {
	rest := l.source[l.at:]
	i, found := 0, false
	for ; i+1 < len(rest); i++ {
		if rest[i] == '{' && strings.IndexByte("%{#", rest[i+1]) >= 0 {
			found = true
			break
		}
	}
	if !found {
		l.add(data, rest)
		l.move(len(rest))
		return nil
	}
	before, mark, sign := rest[:i], rest[i+1], byte(0)
	size := i + 2
	if size < len(rest) && (rest[size] == '-' || rest[size] == '+') {
		sign = rest[size]
		size++
	}
	begins := l.at == 0 || l.source[l.at-1] == '\n' // whether a line begins here
	switch line := strings.LastIndexByte(before, '\n') + 1; {
	case sign == '-':
		before = trimRight(before)
	case sign == 0 && mark != '{' && (line > 0 || begins) && trimRight(before[line:]) == "":
		before = before[:line]
	}
	if before != "" {
		l.add(data, before)
	}
	l.move(size)
	switch mark {
	case '#':
		return l.comment()
	case '{':
		l.add(openOut, "")
		return l.tag(closeOut, "}}")
	}
	if raw, ok := l.rawTag("raw"); ok {
		return l.raw(raw)
	}
	l.add(openTag, "")
	return l.tag(closeTag, "%}")
}

// comment skips to the end of a comment.
func (l *lexer) comment() error {
	i := strings.Index(l.source[l.at:], "#}")
	if i < 0 {
		return fail(l.line, "unclosed comment")
	}
	sign := byte(0)
	if i > 0 {
		sign = l.source[l.at+i-1]
	}
	l.move(i + 2)
	l.afterBlock(sign)
	return nil
}

// afterBlock skips the newline or blanks that are removed after a block.
func (l *lexer) afterBlock(sign byte) {
	rest := l.source[l.at:]
	switch {
	case sign == '-':
		l.move(len(rest) - len(trimLeft(rest)))
	case sign != '+' && strings.HasPrefix(rest, "\n"):
		l.move(1)
	}
}

// rawTag reports whether the tag that has just been opened consists only of the given word, and
// returns the tag's length.
func (l *lexer) rawTag(word string) (size int, ok bool) {
	rest := l.source[l.at:]
	s := trimLeft(rest)
	if s, ok = strings.CutPrefix(s, word); !ok {
		return 0, false
	}
	s = trimLeft(s)
	for _, close := range []string{"%}", "-%}", "+%}"} {
		if strings.HasPrefix(s, close) {
			return len(rest) - len(s) + len(close), true
		}
	}
	return 0, false
}

// raw reads the text between raw and endraw verbatim.
func (l *lexer) raw(size int) error {
	sign := l.source[l.at+size-3]
	l.move(size)
	if sign == '-' { // unlike other tags, raw keeps the newline after it
		l.afterBlock(sign)
	}
	for from := l.at; ; {
		i := strings.Index(l.source[from:], "{%")
		if i < 0 {
			return fail(l.line, "raw without endraw")
		}
		inner := l.source[l.at : from+i]
		tag := from + i + 2
		sign := byte(0)
		if tag < len(l.source) && (l.source[tag] == '-' || l.source[tag] == '+') {
			sign = l.source[tag]
			tag++
		}
		if size, ok := (&lexer{source: l.source, at: tag}).rawTag("endraw"); ok {
			switch line := strings.LastIndexByte(inner, '\n') + 1; {
			case sign == '-':
				inner = trimRight(inner)
			case sign == 0 && trimRight(inner[line:]) == "" && line > 0:
				inner = inner[:line]
			}
			l.add(data, inner)
			l.move(tag + size - l.at)
			l.afterBlock(l.source[l.at-3])
			return nil
		}
		from += i + 2
	}
}

// tag reads tokens up to the end of a tag.
func (l *lexer) tag(closing kind, mark string) error {
	begun := l.line
	l.open = l.open[:0]
	for {
		l.move(len(l.source[l.at:]) - len(trimLeft(l.source[l.at:])))
		rest := l.source[l.at:]
		if rest == "" {
			return fail(begun, "unclosed tag")
		}
		if len(l.open) == 0 {
			for _, sign := range []string{"", "-", "+"} {
				if !strings.HasPrefix(rest, sign+mark) || sign == "+" && closing == closeOut {
					continue
				}
				l.add(closing, "")
				l.move(len(sign) + len(mark))
				switch {
				case closing == closeTag:
					l.afterBlock((sign + "\x00")[0])
				case sign == "-":
					l.afterBlock('-')
				}
				return nil
			}
		}
		if err := l.token(rest); err != nil {
			return err
		}
	}
}

// operators lists all operators, with two-character operators before one-character ones.
var operators = []string{
	"//", "**", "==", "!=", "<=", ">=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", "=", "<", ">",
	".", ":", "|", ",",
}

// token reads one token of a tag.
func (l *lexer) token(rest string) error {
	c, _ := utf8.DecodeRuneInString(rest)
	switch {
	case c == '\'' || c == '"':
		return l.quoted(rest)
	case c >= '0' && c <= '9':
		return l.number(rest)
	case wordRune(c):
		n := strings.IndexFunc(rest, func(r rune) bool { return !wordRune(r) })
		if n < 0 {
			n = len(rest)
		}
		l.add(name, rest[:n])
		l.move(n)
		return nil
	}
	for _, o := range operators {
		if !strings.HasPrefix(rest, o) {
			continue
		}
		if err := l.bracket(o[0]); err != nil {
			return err
		}
		l.add(operator, o)
		l.move(len(o))
		return nil
	}
	return fail(l.line, "unexpected %q in a tag", c)
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// bracket keeps track of brackets: a tag does not end inside them.
func (l *lexer) bracket(c byte) error {
	const opening, closings = "([{", ")]}"
	if strings.IndexByte(opening, c) >= 0 {
		l.open = append(l.open, c)
		return nil
	}
	i := strings.IndexByte(closings, c)
	if i < 0 {
		return nil
	}
	if n := len(l.open); n == 0 || l.open[n-1] != opening[i] {
		return fail(l.line, "unmatched %q", c)
	}
	l.open = l.open[:len(l.open)-1]
	return nil
}

// number reads a number.
func (l *lexer) number(rest string) error {
	digits := func(from int) int {
		for from < len(rest) && (rest[from] >= '0' && rest[from] <= '9' || rest[from] == '_') {
			from++
		}
		return from
	}
	n, k := digits(0), integer
	after := len(l.list) > 0 && l.list[len(l.list)-1] == token{operator, ".", l.line} // x.0.1 has two indexes
	if !after && n+1 < len(rest) && rest[n] == '.' && rest[n+1] >= '0' && rest[n+1] <= '9' {
		n, k = digits(n+1), float
	}
	if !after && n < len(rest) && rest[n]|0x20 == 'e' {
		m := n + 1
		if m < len(rest) && (rest[m] == '+' || rest[m] == '-') {
			m++
		}
		if to := digits(m); to > m {
			n, k = to, float
		}
	}
	l.add(k, strings.ReplaceAll(rest[:n], "_", ""))
	l.move(n)
	return nil
}

// quoted reads a string.
func (l *lexer) quoted(rest string) error {
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case rest[0]:
			value, err := unquote(rest[1:i])
			if err != "" {
				return fail(l.line, "%s", err)
			}
			l.add(text, value)
			l.move(i + 1)
			return nil
		}
	}
	return fail(l.line, "unclosed string")
}

// escapes maps the escapes in Python strings to the characters that they represent.
var escapes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", '\\': "\\", '\'': "'", '"': `"`, '\n': "",
	'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v",
}

// unquote returns the value of a string.
func unquote(s string) (value, fault string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c := s[i]
		if value, known := escapes[c]; known {
			b.WriteString(value)
			continue
		}
		size, known := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if !known {
			if c >= '0' && c <= '7' || c == 'N' {
				return "", fmt.Sprintf(`the escape \%c is not supported`, c)
			}
			b.WriteByte('\\')
			b.WriteByte(c)
			continue
		}
		r := rune(0)
		for k := range size {
			at := i + 1 + k
			if at >= len(s) || !strings.ContainsRune("0123456789abcdefABCDEF", rune(s[at])) || r > unicode.MaxRune {
				return "", fmt.Sprintf(`the escape \%c requires %d hexadecimal digits`, c, size)
			}
			d := rune(s[at])
			switch {
			case d >= 'a':
				d -= 'a' - 10
			case d >= 'A':
				d -= 'A' - 10
			default:
				d -= '0'
			}
			r = r<<4 | d
		}
		if !utf8.ValidRune(r) {
			return "", fmt.Sprintf(`the escape \%c does not represent a character`, c)
		}
		b.WriteRune(r)
		i += size
	}
	return b.String(), ""
}

// blank reports whether r is whitespace in Python.
func blank(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

func trimLeft(s string) string  { return strings.TrimLeftFunc(s, blank) }
func trimRight(s string) string { return strings.TrimRightFunc(s, blank) }
