package lessons

import (
	"slices"
	"strings"
)

// readCards reads cards.md. Each card consists of a heading with its id, the front, a line with
// ---, and the back.
func (l *loader) readCards(d *document) {
	for _, s := range d.sections {
		l.attrsOf(s, "outcome", "section")
		at, text := l.plainParts(s)
		lines := strings.Split(text, "\n")
		n := slices.IndexFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "---" })
		if n < 0 {
			l.problems.add(s.at, "the card has no --- line between its front and back")
			continue
		}
		c := &Card{ID: s.attrs.id}
		c.Outcome, c.Section = l.known(s)
		c.Front, c.FrontText = l.blockText(at, strings.Join(lines[:n], "\n"))
		c.Back, c.BackText = l.blockText(at.down(n+1), strings.Join(lines[n+1:], "\n"))
		if c.FrontText == "" || c.BackText == "" {
			l.problems.add(s.at, "the front or back of the card is empty")
		}
		l.course.Cards = append(l.course.Cards, c)
		l.course.cards[c.ID] = c
	}
}

// readTerms reads glossary.md: each term is a heading `## Name {#id section=slug#id}` followed by
// its meaning. Terms are keyed by name.
func (l *loader) readTerms(d *document) {
	for _, s := range d.sections {
		l.attrsOf(s, "section")
		if s.title == "" {
			l.problems.add(s.at, "the term has no name; want ## Name {#id section=slug#id}")
		}
		section := s.attrs.keys["section"]
		l.knownSection(s.at, section)
		t := Term{ID: s.attrs.id, Where: "/learn/" + section}
		_, t.Name = l.inline(s.at, s.title)
		at, text := l.plainParts(s)
		t.HTML, t.Text = l.blockText(at, text)
		l.course.Terms = append(l.course.Terms, t)
	}
	slices.SortFunc(l.course.Terms, func(a, b Term) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	for i := range l.course.Terms {
		l.course.terms[l.course.Terms[i].ID] = &l.course.Terms[i]
	}
}

// readReferences reads references.md: each reference is a heading `## Short name {#id}` followed by
// the full entry. Only this file may link to other sites.
func (l *loader) readReferences(d *document) {
	l.outside = true
	defer func() { l.outside = false }()
	l.announce(d, "ref:")
	for _, s := range d.sections {
		l.attrsOf(s)
		r := Reference{ID: s.attrs.id}
		if s.title == "" {
			l.problems.add(s.at, "the reference has no short name; want ## Name et al. 2020 {#id}")
		}
		_, r.Short = l.inline(s.at, s.title)
		at, text := l.plainParts(s)
		r.HTML, r.Text = l.inline(at, text)
		l.references[r.ID] = r
		l.where["ref:"+r.ID] = s.at
		l.course.References = append(l.course.References, r)
	}
}

// readSheet reads a page of sections: reference.md (the course on one page) or checked.md
// (recomputed figures from other sources).
func (l *loader) readSheet(d *document) *Sheet {
	if len(d.sections) == 0 {
		return nil
	}
	sheet := &Sheet{}
	title, lead := l.field(d, "title"), l.field(d, "lead")
	_, sheet.Title = l.inline(title.at, title.value)
	sheet.Lead, _ = l.inline(lead.at, lead.value)
	for _, raw := range d.sections {
		l.attrsOf(raw)
		s := &Section{ID: raw.attrs.id}
		s.TitleHTML, s.Title = l.inline(raw.at, raw.title)
		at, text := l.plainParts(raw)
		html, plain := l.blockText(at, text)
		s.Blocks, s.text = []Block{Prose{html}}, plain
		sheet.Sections = append(sheet.Sections, s)
	}
	return sheet
}
