package runs

import (
	"slices"
	"strings"
)

// maxPages is the maximum number of pages that a run remembers. It remembers the most recently
// connected pages, because they may reconnect.
const maxPages = 32

// pageAcks holds, for each page that has watched a run, the number of the page's last command that
// was carried out. The page that connected last is at the end. A page numbers its commands from 1,
// and continues across connections. A command that was in flight when a connection broke can
// therefore be sent again: it is carried out once, whether or not it had arrived.
type pageAcks []pageAck

type pageAck struct {
	page string
	n    uint64
}

// connect records that a page watches the run and returns the number of the page's last command
// that was carried out. again reports whether the page has watched the run before.
func (p *pageAcks) connect(page string) (n uint64, again bool) {
	if page == "" {
		return 0, false
	}
	ack := pageAck{page: page}
	if i := p.index(page); i >= 0 {
		ack, again = (*p)[i], true
		*p = slices.Delete(*p, i, i+1)
	}
	if *p = append(*p, ack); len(*p) > maxPages {
		*p = slices.Delete(*p, 0, 1)
	}
	return ack.n, again
}

// last returns the number of a page's last command that was carried out.
func (p *pageAcks) last(page string) uint64 {
	if i := p.index(page); i >= 0 {
		return (*p)[i].n
	}
	return 0
}

// done records that a page's command n has been carried out.
func (p *pageAcks) done(page string, n uint64) {
	if i := p.index(page); i >= 0 {
		(*p)[i].n = max((*p)[i].n, n)
	}
}

func (p *pageAcks) index(page string) int {
	return slices.IndexFunc(*p, func(a pageAck) bool { return a.page == page })
}

// pageName returns the name that a page has given itself, or "" if the name is invalid. A valid
// name consists of 1 to 40 letters, digits, - and _.
func pageName(given string) string {
	if len(given) > 40 || strings.ContainsFunc(given, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	}) {
		return ""
	}
	return given
}
