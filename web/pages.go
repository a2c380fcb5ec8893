package web

import (
	"bytes"
	"net/http"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/loop"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
)

// home leads to the loop, on a server without lessons.
func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/loop", http.StatusSeeOther)
}

// notHere tells that a run is not on this server. Pages and sockets say the same.
const notHere = "The server does not have this run: it has expired, the server was restarted, " +
	"or it belongs to another browser. Start with a prompt."

// loop answers GET /loop: a page without a run; with ?run=ID that run of this
// learner as it stands; with &log=LINK, where the run is not here, the one
// that the link describes; with ?start=KEY it leads to a run of a lesson. All are
// complete without a socket. A page that could not show what was asked for says
// why, and can be used. &class=CODE leads back to the class that someone has
// gone on from alone.
func (s *Server) loop(w http.ResponseWriter, r *http.Request) {
	learner, cookie := s.learners.Of(r)
	page, status := loop.NewPage(s.empty), http.StatusOK
	if key := r.URL.Query().Get("start"); key != "" && s.cfg.Course != nil {
		bad := &trouble{
			http.StatusNotFound, "There is no such run.",
			"The lesson may have changed. Start with a prompt, or try one of these.",
		}
		if start := s.cfg.Course.Start(key); start != nil {
			bad = s.openStart(w, r, start)
		}
		if bad == nil {
			return
		}
		page.Notice, status = loop.Notice{Head: bad.head, Say: bad.say}, bad.status
	}
	if a := askedOf(r); a != (asked{}) {
		st, bad := s.stateOf(r.Context(), learner, a)
		if bad == nil {
			page = loop.NewPage(st)
		} else {
			page.Notice, status = loop.Notice{Head: bad.head, Say: bad.say}, bad.status
		}
		// Also a run or a link that leads nowhere: the page's socket asks for it
		// again, and is told why not.
		page.Run, page.Link = a.run, a.link
		if st != nil {
			page.Link = session.LinkOf(st)
		}
	}
	if code := r.URL.Query().Get("class"); class.IsCode(code) {
		page.Class = code
	}
	s.html(w, r, status, cookie, loop.PageHTML(page))
}

// html sends a page.
func (s *Server) html(w http.ResponseWriter, r *http.Request, status int, cookie *http.Cookie, c templ.Component) {
	var b bytes.Buffer
	if err := c.Render(r.Context(), &b); err != nil {
		s.cfg.Logger.Error("rendering a page", "err", err)
		shell.Text(w, http.StatusInternalServerError, "This page could not be shown. The error has been logged.")
		return
	}
	if cookie != nil {
		http.SetCookie(w, cookie)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store") // a run changes, and belongs to one learner
	w.WriteHeader(status)
	b.WriteTo(w)
}
