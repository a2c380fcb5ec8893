package room

import (
	"maps"
	"time"
)

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
