package classroom

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// screen is the run of a class as its screens show it: the text so far, the position in the
// loop, and the stage.
type screen struct {
	View    shell.View
	Started bool
	Prompt  string
	Strip   stage.Strip
	Rail    []stage.RailStage
	N       int
	Name    string
	Lead    stage.Rich
	Stopped string      // the reason why the text has ended
	Panel   stage.Stage // set in Numbers
	Story   stage.Story // set in the Story
	// Veiled means that a poll asks about the stage. Panel and Story are then empty.
	Veiled bool
}

// newScreen returns the screen for a complete state. If inside is set and the run looks inside, it
// shows the forward stage from inside. The result is then several times as long, and its pictures
// need the data returned by [stage.NewHeat].
func newScreen(w stage.Words, st *session.State, view shell.View, inside bool) screen {
	seen := *discreet(st)
	if !inside {
		seen.Look = nil
	}
	s := screen{
		View: view, Started: st.Started(), Prompt: st.Prompt, Strip: w.NewStrip(&seen),
		Rail: named(view, linked(st, w.NewRail(&seen).Stages)),
	}
	if view == shell.Story {
		s.Story = w.NewStory(&seen)
		s.N, s.Name, s.Lead = s.Story.N, s.Story.Verb, s.Story.Say
		s.Story.Past, s.Story.Point = "", "" // these pages do not point at anything
		return s
	}
	s.Panel, s.Stopped = w.New(&seen), w.StopReason(st)
	if s.Started {
		s.N, s.Name, s.Lead = s.Panel.N, s.Panel.Name, s.Panel.Lead
	}
	s.Panel.Past = ""
	return s
}

// tells reports whether the inside of the forward pass, which contains the blocks' guesses,
// would give away the next token before a class could be asked about it.
func tells(st *session.State) bool {
	n := len(st.Steps)
	return n > 0 && st.Cursor.Step == n && st.Steps[n-1].Ran <= infer.KindForward
}

// discreet returns the state without the blocks' guesses if these give away the next token.
// It does not remove the heads' attention.
func discreet(st *session.State) *session.State {
	if st.Look == nil || !tells(st) {
		return st
	}
	seen, look := *st, *st.Look
	look.Blocks = slices.Clone(look.Blocks)
	for i := range look.Blocks {
		look.Blocks[i].Says = nil
	}
	seen.Look = &look
	return &seen
}

// named sets the names of the stages according to the view.
func named(view shell.View, rail []stage.RailStage) []stage.RailStage {
	if view == shell.Story {
		return stage.Verbs(rail)
	}
	return rail
}

// stageNames returns the names of all stages in a view, for use by a page's script.
func stageNames(w stage.Words, view shell.View) string {
	var names []string
	for i, k := range infer.Kinds {
		if view == shell.Story {
			names = append(names, w.T("verb."+k.String()))
		} else {
			names = append(names, w.Stage(i+1).Short)
		}
	}
	return strings.Join(names, ",")
}

// linked adds links for looking back at the stages that have run.
func linked(st *session.State, rail []stage.RailStage) []stage.RailStage {
	for i := range rail {
		if rail[i].Ran {
			rail[i].Link = "?at=" + at(session.Cursor{Step: st.Cursor.Step, Stage: infer.Kind(rail[i].N)})
		}
	}
	return rail
}

// newVeiled returns the screen for a state while a class is being asked about the token of a step.
// The results of that step are removed from the state before rendering, so that pages cannot reveal
// them. The number of stages that have run in that step is not secret.
func newVeiled(w stage.Words, st *session.State, view shell.View, step int) screen {
	if step < 1 || step > len(st.Steps) {
		return newScreen(w, st, view, false)
	}
	rail := named(view, w.NewRail(st).Stages)
	s := newScreen(w, veiled(st, step), view, false)
	if st.Cursor.Step < step || (st.Cursor.Step == step && st.Cursor.Stage <= infer.KindForward) {
		return s // the selected stage reveals nothing
	}
	s.Veiled, s.Panel, s.Story = true, stage.Stage{}, stage.Story{}
	now := rail[st.Shown()-1]
	s.N, s.Name, s.Lead = now.N, now.Name, stage.Rich{{S: now.Say}}
	s.Rail = rail
	s.Rail[0].Link = "?at=" + at(session.Cursor{Step: step, Stage: infer.KindForward})
	return s
}

// veiled returns the state as it was after only the forward pass of the given step had run.
func veiled(st *session.State, step int) *session.State {
	v := *st
	v.Steps = slices.Clone(st.Steps[:step])
	last := *v.Steps[step-1]
	kept := &infer.Step{
		N: last.N, Ran: infer.KindForward, Settings: last.Settings, Input: last.Input, Start: last.Start,
		Blocks: last.Blocks,
	}
	kept.Took[infer.KindForward] = last.Took[infer.KindForward]
	v.Steps[step-1] = kept
	v.Ghosts, v.Branches, v.WhatIf, v.Stopped, v.Undrawn = nil, nil, nil, infer.StopNone, false
	if v.Cursor.Step >= step {
		v.Cursor, v.Dist = session.Cursor{Step: step, Stage: infer.KindForward}, nil
	}
	v.Look = nil // the blocks' early predictions would give away the model's guess
	return &v
}

// at formats a position in a run for use in links: "12.3" is step 12, stage 3.
func at(c session.Cursor) string { return fmt.Sprintf("%d.%d", c.Step, c.Stage) }

// parseAt parses a position. ok is false if the state does not have that position.
func parseAt(st *session.State, text string) (c session.Cursor, ok bool) {
	var stage int
	if n, err := fmt.Sscanf(text, "%d.%d", &c.Step, &stage); n != 2 || err != nil {
		return c, false
	}
	c.Stage = infer.Kind(stage)
	if at(c) != text || c.Step < 1 || c.Step > len(st.Steps) || c.Stage < infer.KindForward {
		return c, false
	}
	return c, c.Stage <= st.Steps[c.Step-1].Ran
}

// lookAt returns a state as seen at another position. If temperature is not nil, the scores are
// recomputed with it. The run does not move.
func lookAt(st *session.State, c session.Cursor, temperature *float64) *session.State {
	v := *st
	v.Cursor, v.Look, v.WhatIf, v.Ghosts, v.Dist, v.Undrawn = c, nil, nil, nil, nil, false
	if temperature != nil {
		v.Steps = slices.Clone(st.Steps)
		step := *v.Steps[c.Step-1]
		step.Settings.Temperature = *temperature
		step.Ran = min(step.Ran, c.Stage)
		if d := step.Distribution(); d != nil {
			step.Entropy = d.Entropy()
		}
		v.Steps[c.Step-1] = &step
	}
	if c.Stage >= infer.KindLogits {
		v.Dist = v.DistAt(c.Step)
	}
	return &v
}

// neighbors returns the positions before and after c, or "" at the beginning or end.
func neighbors(st *session.State, c session.Cursor) (back, next string) {
	number := func(c session.Cursor) int { return (c.Step-1)*len(infer.Kinds) + int(c.Stage) }
	place := func(n int) session.Cursor {
		return session.Cursor{Step: (n-1)/len(infer.Kinds) + 1, Stage: infer.Kind((n-1)%len(infer.Kinds) + 1)}
	}
	if n := number(c); n > 1 {
		back = at(place(n - 1))
	}
	if n := number(c); n < number(st.Frontier()) {
		next = at(place(n + 1))
	}
	return back, next
}

// sized formats a share as an SVG length, relative to the surrounding box.
func sized(share float64) string {
	return strconv.FormatFloat(100*min(max(share, 0), 1), 'f', 2, 64) + "%"
}
