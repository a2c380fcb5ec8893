package web

import (
	"bytes"
	"cmp"
	"mime"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/static"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/loop"
	"github.com/tokenbytoken/viz/web/session"
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
	learner, cookie := s.learners.of(r)
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
		sentence(w, http.StatusInternalServerError, "This page could not be shown. The error has been logged.")
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

// types of the files served; the machine's own table may lack or change some.
var types = map[string]string{
	".js":    "text/javascript; charset=utf-8",
	".css":   "text/css; charset=utf-8",
	".svg":   "image/svg+xml",
	".png":   "image/png",
	".ico":   "image/x-icon",
	".woff2": "font/woff2",
	".txt":   "text/plain; charset=utf-8",
}

// file answers GET /static/NAME. An address with the hash of the file's
// content never changes its meaning and may be kept for ever; any other is
// asked for again each time, at the price of an empty answer.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	f, err := static.Open(name)
	if err != nil { // folders are not files either
		sentence(w, http.StatusNotFound, "There is no file at this address.")
		return
	}
	ending := path.Ext(name)
	kind := cmp.Or(types[ending], mime.TypeByExtension(ending), "application/octet-stream")
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("ETag", `W/"`+f.Version+`"`) // weak: the same content may come in other bytes
	h.Set("Cache-Control", "no-cache")
	if r.URL.RequestURI() == f.Address() {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	data := f.Data
	// What ServeContent may answer with less than all of it goes out as it is.
	partly := r.Header.Get("Range") != "" || r.Header.Get("If-Match") != ""
	if z := f.Zipped(); z != nil && worth(kind) && takesGzip(w) && !partly {
		data = z
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(z)))
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}
