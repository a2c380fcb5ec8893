package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/static"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/ui"
	"github.com/tokenbytoken/viz/web/view"
)

// home leads to the loop.
func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/loop", http.StatusSeeOther)
}

// notHere tells that a run is not on this server. Pages and sockets say the same.
const notHere = "The server does not have this run: it has expired, the server was restarted, " +
	"or it belongs to another browser. Start with a prompt."

// loop answers GET /loop: a page without a run, or, with ?run=ID, that run of
// this learner as it stands, complete without a socket.
func (s *Server) loop(w http.ResponseWriter, r *http.Request) {
	learner, cookie := s.learners.of(r)
	page, status := view.NewLoop(s.empty), http.StatusOK
	if id := r.URL.Query().Get("run"); id != "" {
		switch state, err := s.stateOf(r.Context(), learner, id); {
		case err == nil:
			page = view.NewLoop(state)
		case errors.Is(err, errGone):
			page.Notice = view.Notice{Head: "This run is not here.", Say: notHere}
			status = http.StatusNotFound
		default:
			s.cfg.Logger.Error("showing a run", "err", err)
			sentence(w, http.StatusServiceUnavailable, "The run could not be shown just now. Try again in a moment.")
			return
		}
		page.Run = id // also one that is not here: the page's socket asks for it again, and is told
	}
	var b bytes.Buffer
	if err := ui.LoopPage(page).Render(r.Context(), &b); err != nil {
		s.cfg.Logger.Error("rendering the page", "err", err)
		sentence(w, http.StatusInternalServerError, "The page could not be made. It has been logged.")
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

// stateOf returns the newest state of a learner's run, or errGone.
func (s *Server) stateOf(ctx context.Context, learner, id string) (*session.State, error) {
	run := s.runs.find(learner, id)
	if run == nil {
		return nil, errGone
	}
	return run.current(ctx)
}

const staticPrefix = "/static/"

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
	name := strings.TrimPrefix(r.URL.Path, staticPrefix)
	data, err := fs.ReadFile(static.FS(), name)
	if err != nil { // folders are no files either
		sentence(w, http.StatusNotFound, "There is no file at this address.")
		return
	}
	kind, ok := types[path.Ext(name)]
	if !ok {
		kind = mime.TypeByExtension(path.Ext(name))
	}
	if kind == "" {
		kind = "application/octet-stream"
	}
	sum := sha256.Sum256(data)
	w.Header().Set("Content-Type", kind)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	w.Header().Set("Cache-Control", "no-cache")
	if r.URL.RequestURI() == static.Asset(name) {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}
