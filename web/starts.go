package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/session"
)

// openStart answers GET /loop?start=KEY, an address in a lesson's text: it leads
// to the link of that run, at the stage the lesson speaks of. The run is made
// once to be sure that it comes so far.
func (s *Server) openStart(w http.ResponseWriter, r *http.Request, start *lessons.LoopStart) *trouble {
	ctx, cancel := context.WithTimeout(r.Context(), replayTime)
	defer cancel()
	select {
	case s.replays <- struct{}{}:
		defer func() { <-s.replays }()
	case <-ctx.Done():
		return linkTrouble(ctx.Err())
	}
	run := session.New(s.runs.pool.Seat().Model(), session.Limits{PromptBytes: s.cfg.Limits.PromptBytes})
	st := run.State()
	for _, c := range startCommands(start) {
		var err error
		st, err = run.Apply(ctx, c)
		if e := new(terms.Refusal); errors.As(err, &e) && e.Code == session.CodeStopped {
			break
		} else if err != nil {
			return linkTrouble(err)
		}
	}
	http.Redirect(w, r, "/loop?"+url.Values{"log": {session.LinkOf(st)}}.Encode(), http.StatusSeeOther)
	return nil
}

// startCommands are what brings a run to where a lesson wants it. A text that
// stops before that is shown where it stops.
func startCommands(start *lessons.LoopStart) []session.Command {
	list := session.Begin(start.Settings, start.Prompt)
	for range start.Step - 1 {
		list = append(list, session.StepToken{})
	}
	stage, ok := infer.ParseKind(start.Stage)
	if !ok {
		stage = infer.KindForward
	}
	stages := int(stage) // of the next turn: its forward pass is a step too
	if start.Step <= 1 {
		stages-- // which Start has run
	}
	for range stages {
		list = append(list, session.StepStage{})
	}
	return list
}
