package loop

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// openStart handles GET /loop?start=KEY. Lessons link to this address to open a run that they
// describe. openStart replays the run, checks that it reaches the stage that the lesson describes,
// and redirects to a link to the run at that stage. A chat is not started, but only filled into the
// form.
func (s *Server) openStart(w http.ResponseWriter, r *http.Request, key string) {
	refuse := func(p *problem) { s.Refuse(w, r, p.status, p.head, p.say) }
	start := s.Course.In(r.Context()).Start(key)
	if start == nil {
		refuse(newProblem(r.Context(), http.StatusNotFound, "start"))
		return
	}
	if start.Chat != nil { // the learner starts the chat
		page := NewPage(stage.In(r.Context()), s.empty)
		page.Chat.On, page.Chat.Messages, page.View = true, start.Chat, view(shell.ViewOf(r))
		s.HTML(w, r, http.StatusOK, PageHTML(page))
		return
	}
	who, _ := s.Caller(r)
	ctx, release, err := s.acquire(r.Context(), who, start.Step)
	if err != nil {
		refuse(linkProblem(r.Context(), err))
		return
	}
	defer release()
	run := s.Runs.NewSession()
	st := run.State()
	for _, c := range startCommands(start) {
		st, err = run.Apply(ctx, c)
		if e := new(terms.Refusal); errors.As(err, &e) && e.Code == session.CodeStopped {
			break
		} else if err != nil {
			refuse(linkProblem(r.Context(), err))
			return
		}
	}
	http.Redirect(w, r, "/loop?"+url.Values{"log": {session.LinkOf(st)}}.Encode(), http.StatusSeeOther)
}

// openPrompt handles GET /loop?prompt=TEXT, which the form on the home page requests. It redirects
// to a link to a new run that starts with that text. If no run can start with that text, the page
// shows the text in its field, with the reason.
func (s *Server) openPrompt(
	w http.ResponseWriter, r *http.Request, who admission.Caller, prompt string,
) *problem {
	ctx, release, err := s.acquire(r.Context(), who, 1)
	if err != nil {
		return linkProblem(r.Context(), err)
	}
	defer release()
	st, err := s.Runs.NewSession().Apply(ctx, session.Start{Prompt: prompt})
	if e := new(terms.Refusal); errors.As(err, &e) {
		say := stage.In(r.Context())
		return &problem{http.StatusBadRequest, say.T("loop.prompt.bad"), e.In(say.Language)}
	} else if err != nil {
		return linkProblem(r.Context(), err)
	}
	link := session.LinkOf(st)
	if link == "" {
		return newProblem(r.Context(), http.StatusBadRequest, "long")
	}
	to := "/loop?" + url.Values{"log": {link}}.Encode()
	http.Redirect(w, r, shell.Within(r.Context(), to), http.StatusSeeOther)
	return nil
}

// startCommands returns the commands that bring a run to the stage that a lesson requests. If the
// text ends earlier, the run is shown at its end.
func startCommands(start *lessons.LoopStart) []session.Command {
	list := session.Begin(start.Settings, start.Prompt)
	for range start.Step - 1 {
		list = append(list, session.StepToken{})
	}
	last, ok := infer.ParseKind(start.Stage)
	if !ok {
		last = infer.KindForward
	}
	stages := int(last) // stages of the next turn, whose forward pass is the first
	if start.Step <= 1 {
		stages-- // Start has run one already
	}
	for range stages {
		list = append(list, session.StepStage{})
	}
	return list
}
