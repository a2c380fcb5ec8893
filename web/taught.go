package web

import (
	"context"
	"net/http"
	"sync"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/learn"
	"github.com/tokenbytoken/viz/web/pages"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/wire"
)

// teaching is what a server teaches, and where it keeps what learners do. It may have neither.
type teaching struct {
	course   *lessons.Course
	progress *progress.Store
}

// whole reports whether there is both.
func (t teaching) whole() bool { return t.course != nil && t.progress != nil }

// taught returns what a server teaches, and opens it when it is first called, if it was not
// given open.
func taught(cfg Config) func() (teaching, error) {
	if cfg.OpenCourse == nil {
		return func() (teaching, error) { return teaching{cfg.Course, cfg.Progress}, nil }
	}
	return sync.OnceValues(func() (t teaching, err error) {
		t.course, t.progress, err = cfg.OpenCourse()
		return t, err
	})
}

// startsOf returns what the Loop asks for the runs that lessons lead to; nil without lessons.
func (s *Server) startsOf() func() (*lessons.Course, error) {
	if s.cfg.Course == nil && s.cfg.OpenCourse == nil {
		return nil
	}
	return func() (*lessons.Course, error) {
		t, err := s.taught()
		return t.course, err
	}
}

// courseInShort is the address of the first lesson and the minutes of all; "" for none.
func (s *Server) courseInShort() (first string, minutes int) {
	t, err := s.taught()
	if err != nil || !t.whole() {
		return "", 0
	}
	for _, l := range t.course.Lessons {
		minutes += l.Minutes
	}
	return t.course.Lessons[0].Href(), minutes
}

// mountTaught adds the rooms of the course to those that mux has, or what makes them when a
// page first asks for one.
func (s *Server) mountTaught(mux *http.ServeMux) error {
	elsewhere := shell.Elsewhere(mux)
	if s.cfg.OpenCourse == nil {
		t, err := s.taught()
		if err != nil {
			return err
		}
		s.add(s.mountCourse(mux, t))
		s.mountEmbed(mux, t, mux)
		mux.Handle("/", elsewhere)
		return s.mountClasses(mux, t)
	}
	rooms := sync.OnceValues(func() (lateRooms, error) { return s.openRooms(mux) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if len(shell.Allowed(mux, r)) > 0 { // another method has an answer
			elsewhere(w, r)
			return
		}
		late, err := rooms()
		if err != nil {
			s.cfg.Logger.Error("the course cannot be opened", "error", err)
			shell.Text(w, http.StatusInternalServerError, pages.Sentence(err))
			return
		}
		late.mux.ServeHTTP(w, r)
	})
	s.parts[learn.Feed] = wire.Kind{Open: func(ctx context.Context, v wire.Visit) (wire.Part, error) {
		late, err := rooms()
		if err != nil {
			return nil, err
		}
		return late.feeds[learn.Feed](ctx, v)
	}}
	return nil
}

// lateRooms are the rooms of a course that was opened when a page needed it.
type lateRooms struct {
	mux   *http.ServeMux
	feeds map[string]wire.Open
}

// openRooms opens the course and makes its rooms. all has the others.
func (s *Server) openRooms(all http.Handler) (late lateRooms, err error) {
	t, err := s.taught()
	if err != nil {
		return late, err
	}
	late.mux = http.NewServeMux()
	late.feeds = s.mountCourse(late.mux, t)
	s.mountEmbed(late.mux, t, all)
	late.mux.HandleFunc("/", shell.Elsewhere(late.mux))
	return late, s.mountClasses(late.mux, t)
}
