package lessons

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/terms"
)

// A document is a file of the course, split but not interpreted.
type document struct {
	at       position
	front    map[string]field // front matter
	order    []string         // the keys of the front matter in order
	intro    block            // the text before the first heading
	sections []*rawSection
}

// A field is a line `key: value`.
type field struct {
	value string
	at    position
}

// list returns the elements of a value such as `[loop, cache]`. It omits empty ones.
func (f field) list() (list []string) {
	for _, element := range strings.Split(strings.Trim(f.value, "[]"), ",") {
		if element = strings.TrimSpace(element); element != "" {
			list = append(list, element)
		}
	}
	return list
}

// A rawSection is the text under a heading `## Title {#id key=value}`.
type rawSection struct {
	at    position
	title string
	attrs attrs
	parts []block
}

// A block is a run of Markdown, or a directive with its text.
type block struct {
	at        position // the first line; for a directive, the line with `:::`
	directive string
	words     string // the text after the directive's name
	lines     []string
}

func (p block) text() string { return strings.Join(p.lines, "\n") }

// body returns the position at which a part's text begins.
func (p block) body() position {
	if p.directive != "" {
		return p.at.down(1)
	}
	return p.at
}

func (p block) blank() bool { return strings.TrimSpace(p.text()) == "" }

// isHeading matches a section's heading. Its groups are the title and the attributes.
var isHeading = regexp.MustCompile(`^##[ \t]+(.*?)[ \t]*(?:\{([^{}=][^{}]*)\})?[ \t]*$`)

// split splits a file into front matter, sections and directives. It does not look inside fenced
// code.
func split(name, text string, ps *problems) *document {
	d := &document{at: position{name, 1}, front: map[string]field{}, intro: block{at: position{name, 1}}}
	if !utf8.ValidString(text) {
		ps.add(d.at, "the file is not valid UTF-8")
		return d
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		ps.add(position{name, 1 + strings.Count(text[:i], "\n")}, "unexpected NUL character")
		return d
	}
	// Characters that change the direction of text are removed: in a title, they would also reverse
	// the words after it on the page.
	lines := strings.Split(strings.ReplaceAll(terms.Running(text), "\r\n", "\n"), "\n")
	s := &splitter{d: d, ps: ps, at: position{name, 1}}
	if len(lines) > 0 && lines[0] == "---" {
		n := s.frontMatter(lines)
		lines, s.at = lines[n:], s.at.down(n)
		d.intro.at = s.at
	}
	for _, line := range lines {
		s.line(line)
		s.at = s.at.down(1)
	}
	s.end()
	return d
}

// splitter is the state of split while it reads the lines.
type splitter struct {
	d      *document
	ps     *problems
	at     position // the current line
	open   *block   // the open directive
	fence  string   // the fence that closes the open code block
	fenced position
}

// frontMatter reads `key: value` lines between two `---` lines and returns the number of lines. An
// indented line belongs to the key above it: `loop: x` under `outcomes:` is the key
// `outcomes.loop`.
func (s *splitter) frontMatter(lines []string) int {
	above := ""
	for i, line := range lines[1:] {
		at := s.at.down(i + 1)
		if line == "---" {
			return i + 2
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		name := strings.TrimSpace(key)
		if !ok || name == "" {
			s.ps.add(at, "invalid line %q in the front matter; want `key: value`", line)
			continue
		}
		if key != strings.TrimLeft(key, " \t") {
			name = above + "." + name
		} else {
			above = name
		}
		if _, twice := s.d.front[name]; twice {
			s.ps.add(at, "duplicate front matter key %q", name)
			continue
		}
		s.d.front[name] = field{strings.TrimSpace(value), at}
		s.d.order = append(s.d.order, name)
	}
	s.ps.add(s.at, "unclosed front matter; want a closing --- line")
	return len(lines)
}

// current returns the Markdown run that a line belongs to.
func (s *splitter) current() *block {
	if s.open != nil {
		return s.open
	}
	if len(s.d.sections) == 0 {
		return &s.d.intro
	}
	section := s.d.sections[len(s.d.sections)-1]
	if n := len(section.parts); n > 0 && section.parts[n-1].directive == "" {
		return &section.parts[n-1]
	}
	section.parts = append(section.parts, block{at: s.at})
	return &section.parts[len(section.parts)-1]
}

func (s *splitter) line(line string) {
	trimmed := strings.TrimSpace(line)
	if f := fenceOf(trimmed); s.fence == "" && f != "" {
		s.fence, s.fenced = f, s.at
	} else if s.fence != "" {
		if trimmed == s.fence {
			s.fence = ""
		}
	} else if rest, ok := strings.CutPrefix(line, ":::"); ok {
		s.colons(strings.TrimSpace(rest))
		return
	} else if strings.HasPrefix(line, "## ") || line == "##" {
		s.heading(line)
		return
	}
	p := s.current()
	p.lines = append(p.lines, line)
}

// fenceOf returns the fence that a line opens a code block with, or "" if it opens none.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 && !strings.Contains(line[n:], c) {
			return line[:n]
		}
	}
	return ""
}

func (s *splitter) colons(rest string) {
	switch {
	case s.open == nil && rest == "":
		s.ps.add(s.at, "unmatched :::")
	case s.open == nil && len(s.d.sections) == 0:
		s.ps.add(s.at, "the directive %q must come after the first heading", rest)
	case s.open == nil:
		name, words, _ := strings.Cut(rest, " ")
		s.open = &block{at: s.at, directive: name, words: strings.TrimSpace(words)}
	case rest == "":
		section := s.d.sections[len(s.d.sections)-1]
		section.parts = append(section.parts, *s.open)
		s.open = nil
	default:
		s.ps.add(s.at, "the directive %q is inside the directive on line %d; directives cannot be nested", rest,
			s.open.at.line)
	}
}

func (s *splitter) heading(line string) {
	if s.open != nil {
		s.ps.add(s.at, "heading inside the directive on line %d, which is missing its closing ::: line", s.open.at.line)
		return
	}
	m := isHeading.FindStringSubmatch(line)
	if m == nil {
		s.ps.add(s.at, "the heading has no title or id")
		return
	}
	section := &rawSection{at: s.at, title: m[1]}
	var err error
	if section.attrs, err = parseAttrs(m[2]); err != nil {
		s.ps.add(s.at, "%v", err)
	}
	s.d.sections = append(s.d.sections, section)
}

func (s *splitter) end() {
	if s.open != nil {
		s.ps.add(s.open.at, "unclosed directive %q; want a closing ::: line", s.open.directive)
	}
	if s.fence != "" {
		s.ps.add(s.fenced, "unclosed code block; want a closing %s", s.fence)
	}
}
