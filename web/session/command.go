package session

import "github.com/tokenbytoken/viz/infer"

// Command is something a learner can ask of a run: [Start], [Open], [Rebuild],
// [StepStage], [Back], [StepToken], [Seek], [Reset], [Play], [Finish], [Pause], [SetSpeed],
// [Set], [SetPreset], [Choose], [TakeBranch], [GoOn], [Redraw],
// [WhatIf], [Try] or [SetLook].
type Command interface{ command() }

// Start begins a new text with a prompt; what the run held before is gone.
// The forward pass over the prompt runs at once.
type Start struct{ Prompt string }

// Open makes the run that a link describes, at the stage that the link shows. It does
// not play.
type Open struct{ Link Link }

// Rebuild is Open for a run that was lost: one that has a text already, since
// another of its pages came first, stays as it is.
type Rebuild struct{ Link Link }

// StepStage goes one stage forward: to one that has run already if the
// learner was looking back, else by running it.
type StepStage struct{}

// Back looks one stage back. Nothing is undone.
type Back struct{}

// StepToken goes on to the end of this turn of the loop, or, where that is
// already reached, to the end of the next.
type StepToken struct{}

// Seek looks at a stage that has run: step 1 is the first generated token.
type Seek struct {
	Step  int
	Stage infer.Kind
}

// Reset goes back to the prompt: everything generated is dropped.
type Reset struct{}

// Play goes forward by itself at the set speed until something stops it.
type Play struct{}

// Finish plays whole tokens as fast as the model makes them, whatever the
// speed, until a stop condition fires.
type Finish struct{}

// Pause stops playing. Why, if it was not the learner who paused, is told in
// [State.Notice].
type Pause struct{ Why string }

// Choose makes a step take another token than the one drawn. What was
// generated after it becomes a branch of its own.
type Choose struct{ Step, Token int }

// TakeBranch goes back to a branch that was left. The one left now is kept.
type TakeBranch struct{ ID int }

// GoOn goes on after a stop condition as if it had not counted; a limit on
// tokens is raised.
type GoOn struct{}

// WhatIf asks, at the sample stage, on which token another u would have
// fallen. Nil takes the question back. Nothing is drawn.
type WhatIf struct{ U *float64 }

// Redraw draws the step shown again with another seed, which counts from there
// on. What was generated after it becomes a branch of its own.
type Redraw struct{ Seed uint64 }

// Try starts one of [Suggestions], by its key, with its settings.
type Try struct{ Key string }

// SetLook says whether the forward stage is to be looked into.
type SetLook struct{ On bool }

// SetSpeed sets how fast Play goes.
type SetSpeed struct{ Speed Speed }

// Set turns knobs, by their keys, and sets the stop strings where Stop is not
// nil. Before a step's draw it acts at once on the stages shown, after it on the
// next step; what was generated beyond that point is dropped.
type Set struct {
	Knobs infer.Knobs
	Stop  *[]string
}

// SetKnob is [Set] for one knob.
func SetKnob(key string, x float64) Set { return Set{Knobs: infer.Knobs{key: x}} }

// SetStops is [Set] for the stop strings.
func SetStops(list ...string) Set {
	list = append([]string{}, list...)
	return Set{Stop: &list}
}

// SetAll is [Set] for everything.
func SetAll(s infer.Settings) Set {
	c := SetStops(s.Stop.Strings...)
	c.Knobs = s.Knobs()
	return c
}

// Begin are the commands that begin a text with its own settings.
func Begin(s infer.Settings, prompt string) []Command {
	return []Command{SetAll(s), Start{Prompt: prompt}}
}

// SetPreset is Set with all of sampling's knobs but the seed, by a preset's name.
type SetPreset struct{ Key string }

func (Start) command()      {}
func (Open) command()       {}
func (Rebuild) command()    {}
func (StepStage) command()  {}
func (Back) command()       {}
func (StepToken) command()  {}
func (Seek) command()       {}
func (Reset) command()      {}
func (Play) command()       {}
func (Pause) command()      {}
func (SetSpeed) command()   {}
func (Set) command()        {}
func (SetPreset) command()  {}
func (Finish) command()     {}
func (Choose) command()     {}
func (TakeBranch) command() {}
func (GoOn) command()       {}
func (WhatIf) command()     {}
func (Redraw) command()     {}
func (Try) command()        {}
func (SetLook) command()    {}

// Speed is how fast a run plays.
type Speed string

// The speeds: a stage every 2.4, 1.2, 0.6 or 0.3 seconds, or whole tokens as
// fast as the model makes them.
const (
	SpeedHalf   Speed = "0.5"
	SpeedNormal Speed = "1"
	SpeedDouble Speed = "2"
	SpeedFour   Speed = "4"
	SpeedMax    Speed = "max"
)

// Speeds in the order in which screens show them.
var Speeds = []Speed{SpeedHalf, SpeedNormal, SpeedDouble, SpeedFour, SpeedMax}
