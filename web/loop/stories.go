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

// story is a state of the Loop page and how to get there. Nothing in it is
// canned: the bundled model runs the commands each time the page is asked for.
type story struct {
	Story
	commands []session.Command
	ticks    int                       // of playing, after the commands
	tune     func(v *Page)             // what is not in a state
	conn     string                    // how the connection is shown: "" or "reconnecting"
	until    func(*session.State) bool // steps whole tokens until it is true
	then     func(*session.State) []session.Command
}

const (
	storyPrompt = "Once upon a time there was a"
	storyLimit  = 200 // tokens that a story may take to come about
)

var (
	oneStage = session.StepStage{}
	oneToken = session.StepToken{}
	greedy   = session.SetPreset{Key: "greedy"}
	begun    = session.Start{Prompt: storyPrompt}
)

// stories in the order in which they are listed.
var stories = []story{
	tell("States", "empty", "Empty", "No text yet: the prompt box and what to try.").with(),
	tell(
		"States", "expired", "Expired", "The address is of a run that is not on this server.",
	).tuned(func(v *Page) {
		v.Notice = Notice{Head: "This run is not on this server.", Say: goneText}
	}),
	tell(
		"States", "bad-link", "A link that cannot be opened", "Damaged, cut short or edited by hand.",
	).tuned(func(v *Page) {
		bad := linkProblem(
			&terms.Refusal{
				Code: session.CodeLink, Message: "This link is damaged or was cut short. Start with a prompt instead.",
			},
		)
		v.Notice = Notice{Head: bad.head, Say: bad.say}
	}),
	tell(
		"States", "reconnecting", "Reconnecting", "What you see is still true, but nothing can be sent.",
	).with(begun, oneToken).lost(),
	tell("States", "playing", "Playing", "At one stage every 1.2 seconds.").with(begun, oneToken, session.Play{}),
	tell(
		"States", "finishing", "Running to the end", "With progress, and a way to cancel.",
	).with(begun, session.Finish{}).ticking(12),
	tell(
		"States", "stopped-limit", "Stopped: max tokens", "Go on anyway, or start again.",
	).with(session.SetKnob("max_tokens", 4), begun, oneToken, oneToken, oneToken, oneToken),
	tell(
		"States", "stopped-end", "Stopped: end of text", "The model has ended the text.",
	).with(
		greedy, session.SetKnob("max_tokens", float64(storyLimit)), session.Start{Prompt: "Two plus two is"},
	).upTo(func(st *session.State) bool {
		return st.Stopped != infer.StopNone
	}),
	tell(
		"States", "stopped-string", "Stopped: a stop string", "The text ends before it.",
	).with(greedy, session.SetStops("."), begun).upTo(func(st *session.State) bool {
		return st.Stopped != infer.StopNone
	}),
	tell(
		"States", "idle", "Idle controls", "Under greedy no filter changes anything.",
	).with(greedy, session.Set{Knobs: infer.Knobs{"top_k": 40, "top_p": 0.5}}, begun, oneStage, oneStage, oneStage),
	tell(
		"States", "rewound", "Rewound", "Looking back: later tokens are still there.",
	).with(begun, oneToken, oneToken, oneToken, session.Seek{Step: 2, Stage: infer.KindSample}),
	tell(
		"States", "ghosts", "Ghosts",
		"A changed setting has dropped later tokens; they stay, dashed, until the next draw.",
	).with(
		begun, oneToken, oneToken, oneToken, session.Seek{Step: 1, Stage: infer.KindFilter},
		session.SetKnob("temperature", 1.4),
	),
	tell(
		"States", "branches", "Branches", "Another token taken by hand; the first line is kept.",
	).with(begun, oneToken, oneToken, oneToken).going(func(st *session.State) []session.Command {
		return []session.Command{
			session.Choose{Step: 2, Token: second(st, 2)},
			oneToken, oneToken,
			// Not the second: the other line may have drawn that by itself.
			session.Choose{Step: 3, Token: int(sampling.Rank(st.Steps[2].Logits)[9])},
			oneToken,
		}
	}),
	tell(
		"States", "bytes", "Bytes and white space", "Characters made of several tokens, line breaks, tabs.",
	).with(session.Start{Prompt: "Grüße 🦉\n\n\tend  of<|line|>"}, oneToken),
	tell(
		"States", "long", "A long text", "The strip scrolls; heatmaps sum what does not fit.",
	).with(session.SetKnob("max_tokens", float64(storyLimit)), begun).upTo(func(st *session.State) bool {
		return len(st.Steps) == 80
	}).going(func(*session.State) []session.Command { return []session.Command{oneStage} }),

	tell("Stages", "prefill", "1 Forward, the prompt", "All prompt tokens in one pass, a wide band.").with(begun),
	tell("Stages", "decode", "1 Forward, one token", "One new column, a thin slice.").with(begun, oneToken, oneStage),
	tell(
		"Stages", "not-looking", "1 Forward, not looked into", "Looking inside is switched off.",
	).with(session.SetLook{On: false}, begun),
	tell("Stages", "logits", "2 Logits", "Scores, sorted.").with(begun, oneToken, oneStage, oneStage),
	tell(
		"Stages", "softmax", "3 Softmax", "Scores become probabilities.",
	).with(begun, oneToken, oneStage, oneStage, oneStage),
	tell(
		"Stages", "filter", "4 Filter", "What is cut, and by which rule.",
	).with(
		session.Set{Knobs: infer.Knobs{"top_k": 8, "min_p": 0.05}}, begun, oneToken, oneStage, oneStage, oneStage,
		oneStage,
	),
	tell("Stages", "sample", "5 Sample", "u falls on a token.").with(begun, oneToken).going(to(infer.KindSample)),
	tell(
		"Stages", "what-if", "5 Sample, another u", "What another u would have chosen.",
	).with(begun, oneToken).going(to(infer.KindSample, session.WhatIf{U: ptrTo(0.97)})),
	tell(
		"Stages", "greedy", "5 Sample, greedy", "No u: the likeliest.",
	).with(greedy, begun, oneToken).going(to(infer.KindSample)),
	tell(
		"Stages", "forced", "5 Sample, by hand", "A token that a person chose.",
	).with(begun, oneToken).going(func(st *session.State) []session.Command {
		return []session.Command{session.Choose{Step: 1, Token: second(st, 1)}}
	}),
	tell(
		"Stages", "append", "6 Append", "The token joins the text; the stops are asked.",
	).with(begun, oneToken).going(to(infer.KindAppend)),
	tell("Stages", "cache", "7 Cache", "A column for every layer; back to stage 1.").with(begun, oneToken, oneToken),
}

func tell(group, name, title, say string) story {
	return story{Story: Story{Group: group, Name: name, Title: title, Say: say}}
}

func (s story) with(commands ...session.Command) story { s.commands = commands; return s }
func (s story) tuned(tune func(*Page)) story           { s.tune = tune; return s }
func (s story) ticking(n int) story                    { s.ticks = n; return s }
func (s story) lost() story                            { s.conn = "reconnecting"; return s }

func (s story) upTo(until func(*session.State) bool) story              { s.until = until; return s }
func (s story) going(then func(*session.State) []session.Command) story { s.then = then; return s }

// to steps to a stage of the next turn, and does what comes then.
func to(k infer.Kind, commands ...session.Command) func(*session.State) []session.Command {
	return func(*session.State) []session.Command {
		return slices.Concat(slices.Repeat([]session.Command{oneStage}, int(k)), commands)
	}
}

// second is the likeliest token that a step did not take.
func second(st *session.State, step int) int {
	s := st.Steps[step-1]
	order := sampling.Rank(s.Logits)
	if int(order[0]) != s.Chosen {
		return int(order[0])
	}
	return int(order[1])
}

func ptrTo[T any](v T) *T { return &v }

// state runs the story.
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

const storyData = "/data"

// storybook answers GET /storybook with a list, and GET /storybook/NAME with
// the page in that state; its script asks for NAME/data instead of opening a
// socket.
func (s *Server) storybook(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if !s.Storybook {
		shell.NotFound(w, r)
		return
	}
	if name == "" {
		var list []Story
		for _, st := range stories {
			list = append(list, st.Story)
		}
		s.HTML(w, r, http.StatusOK, StorybookPage(list))
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
	page.Title = stories[i].Title + " · Storybook"
	if tune := stories[i].tune; tune != nil {
		tune(&page)
	}
	s.HTML(w, r, http.StatusOK, PageHTML(page))
}
