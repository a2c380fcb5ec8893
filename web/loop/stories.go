package loop

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
)

// story describes a state of the Loop page and how to reach it. The state is not canned: the
// bundled model runs the commands each time the page is requested.
type story struct {
	Group string // "States" or "Stages"
	Name  string // in the address
	Title string
	Say   string // what the page shows

	commands []session.Command
	ticks    int                       // number of playing ticks after the commands
	tune     func(v *Page)             // sets fields of the page that are not part of a state
	conn     string                    // how the connection is shown: "" or "reconnecting"
	until    func(*session.State) bool // if set, whole tokens follow the commands until it returns true
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

// stories lists the stories in their order on the page.
var stories = []story{
	newStory("States", "empty", "Empty", "No text yet: the prompt box and what to try.").with(),
	newStory(
		"States", "expired", "Expired", "The address is of a run that has expired.",
	).tuned(func(v *Page) {
		v.Notice = Notice{Head: "This run is gone.", Say: goneText}
	}),
	newStory(
		"States", "bad-link", "A link that cannot be opened", "Damaged, cut short or edited by hand.",
	).tuned(func(v *Page) {
		bad := linkProblem(
			&terms.Refusal{
				Code: session.CodeLink, Message: "This link is damaged or was cut short. Start with a prompt instead.",
			},
		)
		v.Notice = Notice{Head: bad.head, Say: bad.say}
	}),
	newStory(
		"States", "reconnecting", "Reconnecting", "What you see is still true, but nothing can be sent.",
	).with(begun, oneToken).lost(),
	newStory("States", "playing", "Playing", "At one stage every 1.2 seconds.").with(begun, oneToken, session.Play{}),
	newStory(
		"States", "finishing", "Running to the end", "With progress, and a way to cancel.",
	).with(begun, session.Finish{}).ticking(12),
	newStory(
		"States", "stopped-limit", "Stopped: max tokens", "Go on anyway, or start again.",
	).with(session.SetKnob("max_tokens", 4), begun, oneToken, oneToken, oneToken, oneToken),
	newStory(
		"States", "stopped-end", "Stopped: end of text", "The model has ended the text.",
	).with(
		greedy, session.SetKnob("max_tokens", float64(storyLimit)), session.Start{Prompt: "Two plus two is"},
	).upTo(func(st *session.State) bool {
		return st.Stopped != infer.StopNone
	}),
	newStory(
		"States", "stopped-string", "Stopped: a stop string", "The text ends before it.",
	).with(greedy, session.SetStops("."), begun).upTo(func(st *session.State) bool {
		return st.Stopped != infer.StopNone
	}),
	newStory(
		"States", "idle", "Idle controls", "Under greedy no filter changes anything.",
	).with(greedy, session.Set{Knobs: infer.Knobs{"top_k": 40, "top_p": 0.5}}, begun, oneStage, oneStage, oneStage),
	newStory(
		"States", "rewound", "Rewound", "Looking back: later tokens are still there.",
	).with(begun, oneToken, oneToken, oneToken, session.Seek{Step: 2, Stage: infer.KindSample}),
	newStory(
		"States", "ghosts", "Ghosts",
		"A changed setting has dropped later tokens; they stay, dashed, until the next draw.",
	).with(
		begun, oneToken, oneToken, oneToken, session.Seek{Step: 1, Stage: infer.KindFilter},
		session.SetKnob("temperature", 1.4),
	),
	newStory(
		"States", "branches", "Branches", "Another token taken by hand; the first line is kept.",
	).with(begun, oneToken, oneToken, oneToken).going(func(st *session.State) []session.Command {
		return []session.Command{
			session.Choose{Step: 2, Token: second(st, 2)},
			oneToken, oneToken,
			// Do not choose the second most probable token, which the other branch may have drawn.
			session.Choose{Step: 3, Token: int(sampling.Rank(st.Steps[2].Logits)[9])},
			oneToken,
		}
	}),
	newStory(
		"States", "bytes", "Bytes and white space", "Characters made of several tokens, line breaks, tabs.",
	).with(session.Start{Prompt: "Grüße 🦉\n\n\tend  of<|line|>"}, oneToken),
	newStory(
		"States", "long", "A long text", "The strip scrolls; heatmaps sum what does not fit.",
	).with(session.SetKnob("max_tokens", float64(storyLimit)), begun).upTo(func(st *session.State) bool {
		return len(st.Steps) == 80
	}).going(func(*session.State) []session.Command { return []session.Command{oneStage} }),

	newStory("Stages", "prefill", "1 Forward, the prompt", "All prompt tokens in one pass, a wide band.").with(begun),
	newStory(
		"Stages", "decode", "1 Forward, one token", "One new column, a thin slice.",
	).with(begun, oneToken, oneStage),
	newStory(
		"Stages", "not-looking", "1 Forward, not looked into", "Looking inside is switched off.",
	).with(session.SetLook{On: false}, begun),
	newStory("Stages", "logits", "2 Logits", "Scores, sorted.").with(begun, oneToken, oneStage, oneStage),
	newStory(
		"Stages", "softmax", "3 Softmax", "Scores become probabilities.",
	).with(begun, oneToken, oneStage, oneStage, oneStage),
	newStory(
		"Stages", "filter", "4 Filter", "What is cut, and by which rule.",
	).with(
		session.Set{Knobs: infer.Knobs{"top_k": 8, "min_p": 0.05}}, begun, oneToken, oneStage, oneStage, oneStage,
		oneStage,
	),
	newStory(
		"Stages", "undrawn", "5 Sample, before the draw", "Neither u nor its token exists yet.",
	).with(begun, oneToken).going(to(infer.KindFilter, session.StepStage{Withhold: true})),
	newStory("Stages", "sample", "5 Sample", "u falls on a token.").with(begun, oneToken).going(to(infer.KindSample)),
	newStory(
		"Stages", "what-if", "5 Sample, another u", "What another u would have chosen.",
	).with(begun, oneToken).going(to(infer.KindSample, session.WhatIf{U: ptrTo(0.97)})),
	newStory(
		"Stages", "greedy", "5 Sample, greedy", "No u: the likeliest.",
	).with(greedy, begun, oneToken).going(to(infer.KindSample)),
	newStory(
		"Stages", "forced", "5 Sample, by hand", "A token that a person chose.",
	).with(begun, oneToken).going(func(st *session.State) []session.Command {
		return []session.Command{session.Choose{Step: 1, Token: second(st, 1)}}
	}),
	newStory(
		"Stages", "append", "6 Append", "The token joins the text; the stops are asked.",
	).with(begun, oneToken).going(to(infer.KindAppend)),
	newStory(
		"Stages", "cache", "7 Cache", "A column for every layer; back to stage 1.",
	).with(begun, oneToken, oneToken),
}

func newStory(group, name, title, say string) story {
	return story{Group: group, Name: name, Title: title, Say: say}
}

// with sets the first commands. The other methods set other fields.
func (s story) with(commands ...session.Command) story { s.commands = commands; return s }
func (s story) tuned(tune func(*Page)) story           { s.tune = tune; return s }
func (s story) ticking(n int) story                    { s.ticks = n; return s }
func (s story) lost() story                            { s.conn = "reconnecting"; return s }

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
	name := r.PathValue("name")
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
		shell.Text(w, http.StatusNotFound, "There is no such story. They are listed at /storybook.")
		return
	}
	st, err := stories[i].state(r.Context(), s.Model)
	if err != nil {
		shell.Text(w, http.StatusConflict, "This story does not come about with this model: "+err.Error())
		return
	}
	if data {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		json.NewEncoder(w).Encode(struct {
			*pageData
			Conn string `json:"conn"`
		}{pageDataOf(st), stories[i].conn})
		return
	}
	page := NewPage(st)
	page.View = view(shell.ViewNamed(r.URL.Query().Get("view"), shell.Numbers))
	page.Title = stories[i].Title + " · Storybook"
	if tune := stories[i].tune; tune != nil {
		tune(&page)
	}
	s.HTML(w, r, http.StatusOK, PageHTML(page))
}
