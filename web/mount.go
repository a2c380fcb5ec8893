package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/web/labs"
	"github.com/tokenbytoken/viz/web/learn"
	"github.com/tokenbytoken/viz/web/wire"
)

// formWait is how long a form may take to arrive: an import of some MiB over a
// slow network.
const formWait = 20 * time.Second

// learnRooms are the addresses of package learn, with all below them. The home
// page is its as well.
var learnRooms = []string{
	"/learn", "/practice", "/cards", "/quiz", "/predict", "/reference", "/glossary", "/search", "/progress",
}

// learns tells whether an address is one of Learn and Practise.
func learns(path string) bool {
	return path == "/" || slices.ContainsFunc(learnRooms, func(room string) bool {
		return path == room || strings.HasPrefix(path, room+"/")
	})
}

// mountLearn returns the pages of Learn and Practise, or nil where the server
// was given no course or nowhere to keep progress. Like those of classes they take
// forms; their handlers bound what a form may hold.
func (s *Server) mountLearn() http.Handler {
	if s.cfg.Course == nil || s.cfg.Progress == nil {
		return nil
	}
	deps := learn.Deps{
		Course: s.cfg.Course, Progress: s.cfg.Progress, Model: s.cfg.Model, Draft: s.cfg.Draft,
		Seat: s.runs.pool.Seat, Learner: s.learners.of, Log: s.cfg.Logger,
	}
	if s.drafts != nil {
		deps.DraftSeat = s.drafts.Seat
	}
	deps.Forget = func(ctx context.Context, learner string) error {
		if s.hub == nil { // set after this room, where classes are held
			return nil
		}
		return s.hub.Forget(ctx, learner)
	}
	room := learn.New(deps)
	s.add(room.Feeds())
	return inTime(room.Handler())
}

// inTime gives forms [formWait] to arrive.
func inTime(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if changes(r) {
			// Not every writer can: those of tests have no connection.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(formWait))
		}
		pages.ServeHTTP(w, r)
	})
}

// labsRoom is where the labs are, with all below it.
const labsRoom = "/labs"

// mountLabs returns the pages of the labs, and adds their feed to the server's.
func (s *Server) mountLabs() http.Handler {
	deps := labs.Deps{
		Context: s.ctx, Target: s.cfg.Model, Draft: s.cfg.Draft, Seat: s.runs.pool.Seat, Learner: s.learners.of, Log: s.cfg.Logger,
	}
	if s.drafts != nil {
		deps.DraftSeat = s.drafts.Seat
	}
	room := labs.New(deps)
	s.add(room.Feeds())
	return room.Handler()
}

// add makes the live parts of a room of pages known to the sockets, for pages only.
func (s *Server) add(parts map[string]wire.Open) {
	for name, open := range parts {
		s.parts[name] = wire.Kind{Open: open}
	}
}
