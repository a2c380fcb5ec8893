package session

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// Command is an operation on a run: [Start], [StartChat], [Open], [Rebuild], [StepStage],
// [Draw], [Back], [StepToken], [Seek], [Reset], [Play], [Finish], [Pause], [SetSpeed],
// [Set], [SetPreset], [Choose], [TakeBranch], [GoOn], [Redraw], [WhatIf], [Try] or
// [SetLook].
type Command interface{ command() }

// Start begins a new text with a prompt and drops the previous one. It runs the
// forward pass over the prompt immediately.
type Start struct {
	Prompt string
	Marks  []int // positions of special tokens from a chat template: see [chat.Text]
	IDs    []int // the prompt's tokens, if they were given and differ from the encoded prompt
}

// Open opens the run that a link describes, at the stage in the link. The run does not play.
type Open struct{ Link Link }

// Rebuild is like [Open], but for a run that was lost. If the run already has a text, because
// another of its pages has rebuilt it first, Rebuild does nothing.
type Rebuild struct{ Link Link }

// StepStage moves one stage forward. If that stage has not run yet, StepStage runs it. It has run
// if the learner was looking back.
type StepStage struct {
	// Withhold stops before a draw that has not been made yet, with [State.Undrawn] set. The
	// next StepStage makes the draw. Greedy decoding makes no draw, so nothing is withheld.
	Withhold bool
}

// Draw makes the draw of the step shown, whose filter stage has run, and clears [State.Undrawn]. It
// does not repeat a draw that has already been made.
type Draw struct{}

// Back moves one stage back. It does not undo anything.
type Back struct{}

// StepToken continues to the end of this turn of the loop or, if it is already there, to the
// end of the next turn.
type StepToken struct{}

// Seek moves to a stage that has run. Step 1 is the first generated token.
type Seek struct {
	Step  int
	Stage infer.Kind
}

// Reset goes back to the prompt and drops all generated tokens.
type Reset struct{}

// Play steps automatically, at the current speed, until the run stops or pauses.
type Play struct{}

// Finish plays whole tokens as fast as the model generates them, whatever the speed setting, until
// a stop condition fires.
type Finish struct{}

// Pause stops playing. If the run was not paused by the learner, Why becomes
// [State.Notice].
type Pause struct{ Why string }

// The values of [Pause.Why].
const (
	WhyMemory = "memory" // the memory for runs is used up
	WhyFailed = "failed" // playing failed inside the program
)

// Choose replaces the token drawn at a step. The text generated after it becomes a branch.
type Choose struct{ Step, Token int }

// TakeBranch returns to a saved branch and keeps the current one.
type TakeBranch struct{ ID int }

// GoOn continues past the stop condition that fired. If that was the token limit, GoOn raises
// the limit.
type GoOn struct{}

// WhatIf asks, at the sample stage, which token another u would have drawn. A nil U withdraws the
// question. No draw is made.
type WhatIf struct{ U *float64 }

// Redraw draws the step shown again with another seed, which also applies to all later steps. The
// text generated after it becomes a branch.
type Redraw struct{ Seed uint64 }

// Try starts one of [Suggestions], given its key, with the suggestion's settings.
type Try struct{ Key string }

// SetLook sets whether the forward stage has an inside view.
type SetLook struct{ On bool }

// SetSpeed sets the speed of Play.
type SetSpeed struct{ Speed Speed }

// Set changes knobs, by key, and sets the logit bias, the order of the rules, the grammar and
// the stop strings if they are not nil. A grammar applies to a text from its first token on.
// Before a step's draw, a change affects the stages shown immediately. After the draw, it
// affects the next step. Tokens generated after that point are dropped.
type Set struct {
	Knobs infer.Knobs
	Bias  *sampling.Bias
	Order *sampling.Order
	Stop  *[]string
	// Grammar is a JSON schema, or "regexp:" followed by a regular expression.
	Grammar *string
}

// Move is [Set] for the order of the rules. It moves one rule to another position, counted from 0
// ([sampling.Order.Move]).
type Move struct {
	Rule string
	To   int
}

// SetKnob is [Set] for one knob.
func SetKnob(key string, x float64) Set { return Set{Knobs: infer.Knobs{key: x}} }

// SetStops is [Set] for the stop strings.
func SetStops(list ...string) Set {
	list = append([]string{}, list...)
	return Set{Stop: &list}
}

// SetAll is [Set] for all settings.
func SetAll(s infer.Settings) Set {
	c := SetStops(s.Stop.Strings...)
	c.Knobs, c.Bias, c.Order, c.Grammar = s.Knobs(), &s.LogitBias, &s.Order, &s.Grammar
	return c
}

// Begin returns the commands that apply the given settings and begin a text with the given
// prompt.
func Begin(s infer.Settings, prompt string) []Command {
	return []Command{SetAll(s), Start{Prompt: prompt}}
}

// SetPreset sets all sampling knobs except the seed to the values of the preset with the given
// key.
type SetPreset struct{ Key string }

func (Start) command()      {}
func (StartChat) command()  {}
func (Open) command()       {}
func (Rebuild) command()    {}
func (StepStage) command()  {}
func (Draw) command()       {}
func (Back) command()       {}
func (StepToken) command()  {}
func (Seek) command()       {}
func (Reset) command()      {}
func (Play) command()       {}
func (Pause) command()      {}
func (SetSpeed) command()   {}
func (Set) command()        {}
func (SetPreset) command()  {}
func (Move) command()       {}
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

// The speeds are a stage every 2.4, 1.2, 0.6 or 0.3 seconds, or whole tokens as fast as the
// model generates them.
const (
	SpeedHalf   Speed = "0.5"
	SpeedNormal Speed = "1"
	SpeedDouble Speed = "2"
	SpeedFour   Speed = "4"
	SpeedMax    Speed = "max"
)

// Speeds lists the speeds in the order in which screens show them.
var Speeds = []Speed{SpeedHalf, SpeedNormal, SpeedDouble, SpeedFour, SpeedMax}
