package room

import (
	"context"
	"maps"
	"time"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
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

// pagesOn returns a server's pages and records that the server is still reporting.
func (c *core) pagesOn(server string) *serverPages {
	s := c.servers[server]
	if s == nil {
		s = &serverPages{pages: map[string]int{}, presenters: map[string]int{}}
		c.servers[server] = s
	}
	s.at = time.Now()
	return s
}

// dropSilent drops the pages of servers that have not reported for longer than gone.
func (c *core) dropSilent(gone time.Duration) {
	before := len(c.servers)
	maps.DeleteFunc(c.servers, func(_ string, s *serverPages) bool { return time.Since(s.at) > gone })
	if len(c.servers) < before {
		c.recount()
	}
}

// recount adds up the pages of all servers.
func (c *core) recount() {
	present, here, leading := c.present(), c.here, c.presenterPages[c.presenter]
	for _, m := range c.members {
		m.pages = 0
	}
	c.here, c.presenterPages = 0, map[string]int{}
	for _, s := range c.servers {
		for learner, n := range s.pages {
			if m := c.byLearner[learner]; m != nil && n > 0 {
				m.pages += n
				c.here += n
			}
		}
		for who, n := range s.presenters {
			c.presenterPages[who] += max(n, 0)
		}
	}
	if c.presenterPages[c.presenter] == 0 {
		delete(c.presenterPages, c.presenter)
		c.presenter = ""
	}
	if present != c.present() || here != c.here || leading != c.presenterPages[c.presenter] {
		c.publishSoon(crowdEvery)
	}
}

// SetPages records a server's report and returns the newest view. If the report lists any pages, the
// run is opened.
func (r *Local) SetPages(ctx context.Context, a Report) (*class.View, error) {
	watched := len(a.Pages)+len(a.Presenters) > 0
	err := r.ask(ctx, func(c *core) error {
		if c.pagesOn(a.Server).take(a) {
			c.recount()
		}
		return nil
	})
	if err == nil && watched {
		err = r.Wake(ctx)
	}
	return r.View(), err
}

// JoinFrom is [class.Room.Join] for a page on any server. It saves the member before it returns,
// since the next owner needs the record.
func (r *Local) JoinFrom(
	ctx context.Context, server string, who admission.Caller, nick string,
) (class.Member, error) {
	name, err := class.CleanNick(nick)
	if err != nil {
		return class.Member{}, err
	}
	if err := r.Wake(ctx); err != nil {
		return class.Member{}, err
	}
	return send(ctx, r, func(c *core, reply func(class.Member, error)) {
		m, err := c.join(who)
		if err != nil {
			reply(m, err)
			return
		}
		c.pagesOn(server).pages[who.Learner]++
		c.rename(who.Learner, name, func(m class.Member, err error) {
			if err != nil {
				reply(m, err)
				return
			}
			c.whenSaved(func(err error) { // another join may have renamed them by then
				if now := c.byLearner[who.Learner]; now != nil {
					m = now.Member
				}
				reply(m, err)
			})
		})
	})
}

// OpenPresenterFrom is [class.Room.OpenPresenter] for a page on any server. The secret has been
// checked.
func (r *Local) OpenPresenterFrom(ctx context.Context, server, who string) error {
	if err := r.Wake(ctx); err != nil {
		return err
	}
	return r.ask(ctx, func(c *core) error {
		c.openPresenter(who)
		c.pagesOn(server).presenters[who]++
		return nil
	})
}
