package lessons

import (
	"regexp"
	"strings"
)

// isRule matches the line under a table's head.
var isRule = regexp.MustCompile(`^\|[\s:|-]+\|$`)

// readChecklist reads checklist.md: under `## Group` tables with the columns
// number, point, place; several places are parted by commas. A place is an
// address (/learn/slug#id) or a link of the dialect (practice:softmax).
func (l *loader) readChecklist(d *document) {
	for _, s := range d.sections {
		at, text := l.plainParts(s)
		head := true
		for i, line := range strings.Split(text, "\n") {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "|") {
				head = true
				continue
			}
			if head || isRule.MatchString(line) {
				head = head && !isRule.MatchString(line)
				continue
			}
			l.point(at.down(i), s.title, line)
		}
	}
}

// point reads a row of the checklist.
func (l *loader) point(at place, group, line string) {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	if len(cells) != 3 {
		l.problems.add(at, "a row has three columns: number, point, place")
		return
	}
	p := Point{Group: group, Number: strings.TrimSpace(cells[0]), Text: strings.TrimSpace(cells[1])}
	for _, w := range strings.Split(cells[2], ",") {
		w = strings.Trim(strings.TrimSpace(w), "`")
		href, ok := l.placeOf(w)
		if !ok {
			l.problems.add(at, "there is no place %q", w)
		}
		p.Places = append(p.Places, href)
	}
	if p.Text == "" || !l.once(at, p.Number) {
		l.problems.add(at, "a row without a number or a text of its own")
	}
	l.course.Checklist = append(l.course.Checklist, p)
}

// once reports whether a point's number is there and new.
func (l *loader) once(at place, number string) bool {
	if number == "" || l.targets["point:"+number] {
		return false
	}
	l.targets["point:"+number] = true
	return true
}

// placeOf resolves a place of the checklist.
func (l *loader) placeOf(w string) (href string, ok bool) {
	for _, prefix := range []struct{ path, scheme string }{
		{"/learn/", "learn:"},
		{"/practice/", "practice:"},
		{"/quiz#", "quiz:"},
		{"/cards#", "card:"},
		{"/glossary#", "term:"},
		{"/reference#ref-", "ref:"},
		{"/reference#", "reference:"},
	} {
		if rest, found := strings.CutPrefix(w, prefix.path); found {
			return l.resolve(prefix.scheme + rest)
		}
	}
	for _, href := range pages {
		if w == href {
			return w, true
		}
	}
	return l.resolve(w)
}
