package loop

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// story describes a state of the Loop page and how to reach it. The state is computed each time the
// page is requested, by running the commands with the bundled model.
type story struct {
	Group string // the key of its heading: bookStates or bookStages
	Name  string // in the address, and in the keys of its title and of what the page shows

	commands []session.Command
	ticks    int                          // number of ticks to play after the commands
	tune     func(w stage.Words, v *Page) // sets fields of the page that are not part of a state
	conn     string                       // how the connection is shown: "" or "reconnecting"
	until    func(*session.State) bool    // if set, whole tokens are generated after the commands until it returns true
	then     func(*session.State) []session.Command
}

const (
	storyPrompt = "Once upon a time there was a"
	storyLimit  = 200 // the number of tokens after which a story gives up
)

var (
	oneStage = session.StepStage{}
	oneToken = session.StepToken{}
	greedy   = session.SetPreset{Key: "greedy"}
	begun    = session.Start{Prompt: storyPrompt}
)

// The keys of the headings under which stories are listed.
const (
	bookStates = "loop.book.states"
	bookStages = "loop.book.stages"
)

// stories lists the stories in their order on the page.
var stories = []story{
	newStory(bookStates, "empty").with(),
	newStory(bookStates, "expired").tuned(func(w stage.Words, v *Page) {
		v.Notice = Notice{Head: w.T("loop.problem.gone"), Say: w.T("loop.problem.gone.say")}
	}),
	newStory(bookStates, "bad-link").tuned(func(w stage.Words, v *Page) {
		v.Notice = Notice{Head: w.T("loop.link.bad"), Say: w.T("run.link.damaged")}
	}),
	newStory(bookStates, "reconnecting").with(begun, oneToken).lost(),
	newStory(bookStates, "playing").with(begun, oneToken, session.Play{}),
	newStory(bookStates, "finishing").with(begun, session.Finish{}).ticking(12),
	newStory(bookStates, "stopped-limit").with(
		session.SetKnob("max_tokens", 4), begun, oneToken, oneToken, oneToken, oneToken,
	),
	newStory(bookStates, "stopped-end").with(
		greedy, session.SetKnob("max_tokens", float64(storyLimit)), session.Start{Prompt: "Two plus two is"},
	).upTo(func(st *session.State) bool {
		return st.Stopped != infer.StopNone
	}),
	newStory(bookStates, "stopped-string").with(
		greedy, session.SetStops("."), begun,
	).upTo(func(st *session.State) bool {
		return st.Stopped != infer.StopNone
	}),
	newStory(bookStates, "idle").with(
		greedy, session.Set{Knobs: infer.Knobs{"top_k": 40, "top_p": 0.5}}, begun, oneStage, oneStage, oneStage,
	),
	newStory(bookStates, "rewound").with(
		begun, oneToken, oneToken, oneToken, session.Seek{Step: 2, Stage: infer.KindSample},
	),
	newStory(bookStates, "ghosts").with(
		begun, oneToken, oneToken, oneToken, session.Seek{Step: 1, Stage: infer.KindFilter},
		session.SetKnob("temperature", 1.4),
	),
	newStory(bookStates, "branches").with(
		begun, oneToken, oneToken, oneToken,
	).going(func(st *session.State) []session.Command {
		return []session.Command{
			session.Choose{Step: 2, Token: second(st, 2)},
			oneToken, oneToken,
			// Do not choose the second most probable token, because the other branch may have drawn
			// it.
			session.Choose{Step: 3, Token: int(sampling.Rank(st.Steps[2].Logits)[9])},
			oneToken,
		}
	}),
	newStory(bookStates, "bytes").with(session.Start{Prompt: "Grüße 🦉\n\n\tend  of<|line|>"}, oneToken),
	newStory(bookStates, "long").with(
		session.SetKnob("max_tokens", float64(storyLimit)), begun,
	).upTo(func(st *session.State) bool {
		return len(st.Steps) == 80
	}).going(func(*session.State) []session.Command { return []session.Command{oneStage} }),

	newStory(bookStages, "prefill").with(begun),
	newStory(bookStages, "decode").with(begun, oneToken, oneStage),
	newStory(bookStages, "not-looking").with(session.SetLook{On: false}, begun),
	newStory(bookStages, "logits").with(begun, oneToken, oneStage, oneStage),
	newStory(bookStages, "softmax").with(begun, oneToken, oneStage, oneStage, oneStage),
	newStory(bookStages, "filter").with(
		session.Set{Knobs: infer.Knobs{"top_k": 8, "min_p": 0.05}}, begun, oneToken, oneStage, oneStage, oneStage,
		oneStage,
	),
	newStory(bookStages, "undrawn").with(
		begun, oneToken,
	).going(to(infer.KindFilter, session.StepStage{Withhold: true})),
	newStory(bookStages, "sample").with(begun, oneToken).going(to(infer.KindSample)),
	newStory(bookStages, "what-if").with(begun, oneToken).going(to(infer.KindSample, session.WhatIf{U: ptrTo(0.97)})),
	newStory(bookStages, "greedy").with(greedy, begun, oneToken).going(to(infer.KindSample)),
	newStory(bookStages, "forced").with(begun, oneToken).going(func(st *session.State) []session.Command {
		return []session.Command{session.Choose{Step: 1, Token: second(st, 1)}}
	}),
	newStory(bookStages, "append").with(begun, oneToken).going(to(infer.KindAppend)),
	newStory(bookStages, "cache").with(begun, oneToken, oneToken),
}

func newStory(group, name string) story { return story{Group: group, Name: name} }

// with sets the story's first commands. The other methods set other fields.
func (s story) with(commands ...session.Command) story    { s.commands = commands; return s }
func (s story) tuned(tune func(stage.Words, *Page)) story { s.tune = tune; return s }
func (s story) ticking(n int) story                       { s.ticks = n; return s }
func (s story) lost() story                               { s.conn = "reconnecting"; return s }

func (s story) upTo(until func(*session.State) bool) story              { s.until = until; return s }
func (s story) going(then func(*session.State) []session.Command) story { s.then = then; return s }

// to returns commands that step to a stage of the next turn and then run the given commands.
func to(k infer.Kind, commands ...session.Command) func(*session.State) []session.Command {
	return func(*session.State) []session.Command {
		return slices.Concat(slices.Repeat([]session.Command{oneStage}, int(k)), commands)
	}
}

// second returns the most probable token that a step did not draw.
func second(st *session.State, step int) int {
	s := st.Steps[step-1]
	order := sampling.Rank(s.Logits)
	if int(order[0]) != s.Chosen {
		return int(order[0])
	}
	return int(order[1])
}

func ptrTo[T any](v T) *T { return &v }

// state runs the story and returns its state.
func (s story) state(ctx context.Context, m *infer.Model) (*session.State, error) {
	run := session.New(m, session.DefaultLimits())
	apply := func(commands ...session.Command) error {
		for _, c := range commands {
			if _, err := run.Apply(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}
	if err := apply(s.commands...); err != nil {
		return nil, err
	}
	for s.until != nil && !s.until(run.State()) && len(run.State().Steps) < storyLimit {
		if err := apply(oneToken); err != nil {
			return nil, err
		}
	}
	for range s.ticks {
		if _, err := run.Tick(ctx); err != nil {
			return nil, err
		}
	}
	if s.then != nil {
		if err := apply(s.then(run.State())...); err != nil {
			return nil, err
		}
	}
	return run.State(), nil
}

// storyBase is the prefix of the stories' addresses: storyBase + story.Name.
const storyBase = "/storybook/"

const storyData = "/data"

// storybook handles GET /storybook, which lists the stories, and GET /storybook/NAME, which
// shows the page in that state. The page's script requests NAME/data instead of opening a
// socket.
func (s *Server) storybook(w http.ResponseWriter, r *http.Request) {
	name, say := r.PathValue("name"), stage.In(r.Context())
	if !s.Storybook {
		shell.NotFound(w, r)
		return
	}
	if name == "" {
		s.HTML(w, r, http.StatusOK, storybookPage(stories))
		return
	}
	name, data := strings.CutSuffix(name, storyData)
	i := slices.IndexFunc(stories, func(st story) bool { return st.Name == name })
	if i < 0 {
		shell.Text(w, http.StatusNotFound, say.T("loop.book.unknown"))
		return
	}
	st, err := stories[i].state(r.Context(), s.Model)
	if err != nil {
		shell.Text(w, http.StatusConflict, say.T("loop.book.failed", "why", err.Error()))
		return
	}
	if data {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		json.NewEncoder(w).Encode(struct {
			*pageData
			Conn string `json:"conn"`
		}{pageDataOf(say, st), stories[i].conn})
		return
	}
	page := NewPage(say, st)
	page.View = view(shell.ViewNamed(r.URL.Query().Get("view"), shell.Numbers))
	page.Title = say.T("loop.book.title", "story", say.T("loop.book."+name))
	if tune := stories[i].tune; tune != nil {
		tune(say, &page)
	}
	s.HTML(w, r, http.StatusOK, PageHTML(page))
}
