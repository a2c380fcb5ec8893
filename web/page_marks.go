package web

import (
	"slices"
	"strings"
)

// pagesMost bounds how many pages a run remembers; those that came last are
// the ones that may come back.
const pagesMost = 32

// pageMarks says for each page that has watched a run, the one met last at the end,
// which of its commands was the last to be carried out. A page numbers its
// commands from 1 on through all its connections. So a command that was on its
// way when a connection broke can be sent again: it is carried out once, whether
// it had arrived or not.
type pageMarks []pageMark

type pageMark struct {
	page string
	n    uint64
}

// meet notes that a page watches and returns the number of its last command
// carried out; again is false where the page is new here.
func (p *pageMarks) meet(page string) (n uint64, again bool) {
	if page == "" {
		return 0, false
	}
	mark := pageMark{page: page}
	if i := p.index(page); i >= 0 {
		mark, again = (*p)[i], true
		*p = slices.Delete(*p, i, i+1)
	}
	if *p = append(*p, mark); len(*p) > pagesMost {
		*p = slices.Delete(*p, 0, 1)
	}
	return mark.n, again
}

// done returns the number of a page's last command carried out.
func (p *pageMarks) done(page string) uint64 {
	if i := p.index(page); i >= 0 {
		return (*p)[i].n
	}
	return 0
}

// note says that a page's command n has been carried out.
func (p *pageMarks) note(page string, n uint64) {
	if i := p.index(page); i >= 0 {
		(*p)[i].n = max((*p)[i].n, n)
	}
}

func (p *pageMarks) index(page string) int {
	return slices.IndexFunc(*p, func(m pageMark) bool { return m.page == page })
}

// pageName returns the name that a page gave itself, "" where it is none: 1 to
// 40 letters, digits, - and _.
func pageName(asked string) string {
	if len(asked) > 40 || strings.ContainsFunc(asked, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	}) {
		return ""
	}
	return asked
}
