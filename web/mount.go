package web

import (
	"context"
	"net/http"

	"github.com/tokenbytoken/viz/web/api"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/embed"
	"github.com/tokenbytoken/viz/web/first"
	"github.com/tokenbytoken/viz/web/labs"
	"github.com/tokenbytoken/viz/web/learn"
	"github.com/tokenbytoken/viz/web/loop"
	"github.com/tokenbytoken/viz/web/model"
	"github.com/tokenbytoken/viz/web/practice"
	"github.com/tokenbytoken/viz/web/why"
	"github.com/tokenbytoken/viz/web/wire"
)

// mountLoop adds the Loop's page and live part, the first run (which continues in the Loop), “Why
// this token?”, and the page about the model.
func (s *Server) mountLoop(mux *http.ServeMux) {
	loopDeps := loop.Deps{
		Context: s.ctx, Model: s.cfg.Model, Runs: s.runs, Course: s.cfg.Course, Caller: s.learners.Caller,
		Storybook: s.cfg.Storybook, Replays: s.replays, Log: s.cfg.Logger,
	}
	if s.cfg.Course != nil && s.cfg.Progress != nil {
		loopDeps.Sentence = s.cfg.Progress.Sentence
	}
	room := loop.New(loopDeps)
	s.parts[""] = room.Part()
	room.Mount(mux)
	deps := first.Deps{
		Model: s.cfg.Model, Runs: s.runs, Replays: s.replays, Caller: s.learners.Caller, Log: s.cfg.Logger,
	}
	if s.cfg.Course != nil && s.cfg.Progress != nil {
		deps.Lesson = s.cfg.Course.Lessons[0].Href()
		for _, l := range s.cfg.Course.Lessons {
			deps.Minutes += l.Minutes
		}
		deps.SaveSentence = s.cfg.Progress.SetSentence
	}
	first.New(deps).Mount(mux)
	why.New(why.Deps{
		Model: s.cfg.Model, Runs: s.runs, Replays: s.replays, Caller: s.learners.Caller, Log: s.cfg.Logger,
	}).Mount(mux)
	model.New(model.Deps{
		Model: s.cfg.Model, Place: s.cfg.OwnModel, Caller: s.learners.Caller, Log: s.cfg.Logger,
	}).Mount(mux)
}

// mountCourse adds the pages of Learn, including the home page, and of Practice. Without a course
// or a place to store progress, the home page redirects to the Loop.
func (s *Server) mountCourse(mux *http.ServeMux) {
	if s.cfg.Course == nil || s.cfg.Progress == nil {
		mux.Handle("GET /{$}", http.RedirectHandler("/loop", http.StatusSeeOther))
		return
	}
	work := coursework.Deps{
		Course: s.cfg.Course, Progress: s.cfg.Progress, Learner: s.learners.Of, Log: s.cfg.Logger,
	}
	deps := learn.Deps{
		Deps: work, Model: s.cfg.Model, Slot: s.targets.Slot, Replays: s.replays, Caller: s.learners.Caller,
		FirstRun: first.Due,
	}
	if s.drafts != nil {
		deps.Draft = s.drafts.Slot
	}
	room := learn.New(deps)
	s.add(room.Feeds())
	room.Mount(mux)
	practice.New(practice.Deps{
		Deps: work, Model: s.cfg.Model, Forget: s.forget, Limiter: s.limiter, Caller: s.learners.Caller,
		Keeping: s.cfg.Keeping,
	}).Mount(mux)
}

// forget deletes a learner's name from the member lists of all classes.
func (s *Server) forget(ctx context.Context, learner string) error {
	if s.hub == nil { // no classes are held
		return nil
	}
	return s.hub.Forget(ctx, learner)
}

// mountLabs adds the pages of the labs and their feed.
func (s *Server) mountLabs(mux *http.ServeMux) {
	deps := labs.Deps{
		Context: s.ctx, Target: s.cfg.Model, Slot: s.targets.Slot, Caller: s.learners.Caller,
		Log: s.cfg.Logger,
	}
	if s.drafts != nil {
		deps.Draft = s.drafts.Slot
	}
	s.labs = labs.New(deps)
	s.add(s.labs.Feeds())
	s.labs.Mount(mux)
}

// mountAPI adds the API endpoints, for clients that were written for other servers.
func (s *Server) mountAPI(mux *http.ServeMux) {
	s.api = api.New(api.Deps{
		Context: s.ctx, Model: s.cfg.Model, Runs: s.runs, Slot: s.targets.Slot, Caller: s.learners.Caller,
		Places: s.limiter.API, Access: s.cfg.API, MAC: s.learners.MAC, Log: s.cfg.Logger,
	})
	s.add(s.api.Feeds())
	s.api.Mount(mux)
}

// mountEmbed adds the pages that other sites can embed in their own pages.
func (s *Server) mountEmbed(mux *http.ServeMux) {
	deps := embed.Deps{
		Pages: mux, Origins: s.cfg.EmbedOrigins, Caller: s.learners.Caller, Log: s.cfg.Logger,
	}
	if s.cfg.Progress != nil {
		deps.Course = s.cfg.Course
	}
	embed.New(deps).Mount(mux)
}

// add registers a package's live parts with the sockets. Only this server's pages can open them.
func (s *Server) add(parts map[string]wire.Open) {
	for name, open := range parts {
		s.parts[name] = wire.Kind{Open: open}
	}
}
