package session

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// State is a run at one moment. It is immutable and shares only immutable parts with the session,
// so any number of viewers can keep it for any length of time.
type State struct {
	// Version increases by one with every change.
	Version uint64
	// Model is the model that generates the text. It is always set.
	Model *infer.Model
	// Text counts the texts begun, so that a viewer can tell a new text from the previous one
	// even if the prompt is the same. It is 0 before the first Start.
	Text uint64
	// Prompt is the text as typed, or "" before the first Start.
	Prompt string
	// Marks are the positions of special tokens in the prompt, if it is a chat: see
	// [chat.Text].
	Marks []int
	// IDs are the prompt's tokens, if they were given and differ from the encoded prompt; otherwise
	// nil.
	IDs []int
	// Chat is the conversation from which the prompt was formatted, or nil: see [StartChat].
	Chat *Chat
	// PromptTokens are the prompt's tokens, preceded by the start token if the model has one.
	PromptTokens []infer.Token
	// Steps are the turns so far, oldest first. The last one may be in progress, in which case its
	// Ran is less than KindCache.
	Steps []*infer.Step
	// Cursor is the stage shown, or the zero Cursor before the first Start.
	Cursor Cursor
	// Undrawn is set while the learner is at the sample stage of the last step but has not made its
	// draw yet (see [StepStage]). The model has not drawn yet either: Cursor is at the filter
	// stage, the last stage that has run, and there is no u and no chosen token that a screen could
	// reveal. A screen shows the stage that [State.Shown] returns.
	Undrawn bool
	// Dist is the distribution of the step shown, or nil before its softmax has run.
	Dist *sampling.Distribution
	// Settings are the settings that the next stage will use when it runs.
	Settings infer.Settings
	// Ghosts are the tokens that a rewind or a change of settings has dropped. They are shown with
	// dashed outlines until the next draw.
	Ghosts []infer.Token
	// Playing and Speed determine when the owner of the clock calls Tick.
	Playing bool
	Speed   Speed
	// Finishing is set while the run plays to its end, at any speed setting.
	Finishing bool
	// Branches are the texts that this run has generated, oldest first. They include the current
	// one.
	Branches []Branch
	// WhatIf is the u of the what-if question at the sample stage, or nil.
	WhatIf *float64
	// Looking is set while the learner looks inside the forward stage. Look holds the internal
	// values of the pass; it is nil at every other stage.
	Looking bool
	Look    *infer.Inspection
	// Notice is the reason why the run has paused ([WhyMemory] or [WhyFailed]), or "" if the
	// learner paused it or it has not paused. The next command clears it.
	Notice string
	// Stuck is the refusal that ended playing, or nil. The next command clears it.
	Stuck *terms.Refusal
	// Stopped is the reason why generation ended, or StopNone if it can continue.
	Stopped infer.StopReason
}

// Branch is one continuation: the tokens chosen at each step.
type Branch struct {
	ID      int
	Chosen  []int
	Current bool
}

// Cursor identifies a stage of a step. Steps are numbered from 1.
type Cursor struct {
	Step  int
	Stage infer.Kind
}

// Whole returns the prompt with its special tokens.
func (s *State) Whole() chat.Text { return chat.Text{Text: s.Prompt, Marks: s.Marks, IDs: s.IDs} }

// Started reports whether a prompt has been given.
func (s *State) Started() bool { return s.Cursor.Step > 0 }

// Step returns the step shown, or nil before the first Start (and while the
// run is evicted).
func (s *State) Step() *infer.Step {
	if !s.Started() || s.Cursor.Step > len(s.Steps) {
		return nil
	}
	return s.Steps[s.Cursor.Step-1]
}

// Frontier returns the last stage that has run.
func (s *State) Frontier() Cursor {
	if len(s.Steps) == 0 {
		return Cursor{}
	}
	return Cursor{len(s.Steps), s.Steps[len(s.Steps)-1].Ran}
}

// Shown returns the stage that a screen shows: the sample stage while its draw is withheld
// ([State.Undrawn]), otherwise the stage of Cursor.
func (s *State) Shown() infer.Kind {
	if s.Undrawn {
		return infer.KindSample
	}
	return s.Cursor.Stage
}

// AtFrontier reports whether the stage shown is the last that has run.
func (s *State) AtFrontier() bool { return s.Cursor == s.Frontier() }

// Stage returns the stage shown as a typed value, or nil before the first Start. Results for
// the whole vocabulary are shortened to the given number of rows.
func (s *State) Stage(rows int) infer.Stage {
	if !s.Started() {
		return nil
	}
	return s.Model.Stage(s.Step(), s.Cursor.Stage, s.Dist, rows)
}

// StageOf returns another stage of the step shown, which must have run.
func (s *State) StageOf(k infer.Kind, rows int) infer.Stage {
	return s.Model.Stage(s.Step(), k, s.Dist, rows)
}
