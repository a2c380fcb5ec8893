package room

import (
	"maps"
	"time"
)

// Report lists the pages of a room that are open on a server. A report of thousands of pages is
// sent in parts, each of which fits in a message between servers.
type Report struct {
	Server      string
	N           uint64 // increases with each report from the server
	Part, Parts int    // the index of this part and the number of parts; both are 0 for a complete report
	Pages       map[string]int
	Presenters  map[string]int
}

// partPages is the average number of learners in a part of a large report.
const partPages = 2000

// Split splits a report into its parts.
func (a Report) Split() []Report {
	parts := max((len(a.Pages)+partPages-1)/partPages, 1)
	list := make([]Report, parts)
	for i := range list {
		list[i] = Report{Server: a.Server, N: a.N, Part: i, Parts: parts, Pages: map[string]int{}}
	}
	i := 0
	for learner, n := range a.Pages {
		list[i%parts].Pages[learner] = n
		i++
	}
	list[0].Presenters = a.Presenters
	return list
}

// serverPages holds the open pages of one server, as last reported.
type serverPages struct {
	n                 uint64
	at                time.Time
	pages, presenters map[string]int
	next              partial // a report that is not complete yet
}

// partial is an incomplete report.
type partial struct {
	n                 uint64
	got               map[int]bool
	pages, presenters map[string]int
}

// take adds a part of a report, and reports whether the report is complete.
func (s *serverPages) take(a Report) bool {
	if a.N <= s.n || a.N < s.next.n {
		return false // a newer report exists
	}
	if a.N > s.next.n {
		s.next = partial{a.N, map[int]bool{}, map[string]int{}, map[string]int{}}
	}
	s.next.got[a.Part] = true
	maps.Copy(s.next.pages, a.Pages)
	maps.Copy(s.next.presenters, a.Presenters)
	if len(s.next.got) < a.Parts {
		return false
	}
	s.n, s.pages, s.presenters, s.next = a.N, s.next.pages, s.next.presenters, partial{}
	return true
}
