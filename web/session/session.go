package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Limits bound the resources of one run.
type Limits struct {
	PromptBytes int // longest prompt, in bytes
}

// DefaultLimits allows prompts of 256 KiB, so that the model's context is the limit.
func DefaultLimits() Limits { return Limits{PromptBytes: infer.MaxPromptBytes} }

// Session is one learner's run. It belongs to one goroutine at a time.
type Session struct {
	model  *infer.Model
	limits Limits
	loop   *infer.Loop // nil before the first Start and while evicted
	log    *infer.Log  // set while evicted
	state  *State

	others  []branch // saved branches, oldest first
	current int      // ID of the current branch
	lastID  int      // highest ID given to a branch
}

// New returns a session without a prompt.
func New(m *infer.Model, limits Limits) *Session {
	return &Session{model: m, limits: limits, state: &State{
		Version: 1, Model: m, Settings: infer.DefaultSettings(), Speed: SpeedNormal, Looking: cheapToLook(m),
	}}
}

// State returns the run's current state.
func (s *Session) State() *State { return s.state }

// Apply carries out a command and returns the state after it. A refusal is a [*terms.Refusal] and
// changes nothing. If ctx ends while the model is running, Apply returns the context's error and
// the run stays where it was.
func (s *Session) Apply(ctx context.Context, c Command) (*State, error) {
	if err := s.restore(ctx); err != nil {
		return s.state, err
	}
	next := *s.state
	next.Notice, next.Stuck, next.Undrawn = "", nil, s.state.Undrawn && keepsUndrawn(c)
	if err := s.do(ctx, &next, c); err != nil {
		s.catchUp()
		return s.state, typed(err)
	}
	return s.publish(&next), nil
}

// catchUp is called if a command was interrupted because its context ended. It adds the stages that
// had already run to the state.
func (s *Session) catchUp() {
	if s.loop == nil || slices.Equal(s.loop.Steps(), s.state.Steps) {
		return
	}
	next := *s.state
	next.Steps = s.loop.Steps()
	next.Cursor, next.Undrawn = next.Frontier(), false
	s.publish(&next)
}

// Tick plays the run one step further: by one stage, or by one token at [SpeedMax]. It stops
// playing at a stop condition. If the run is not playing, Tick does nothing.
func (s *Session) Tick(ctx context.Context) (*State, error) {
	if !s.state.Playing {
		return s.state, nil
	}
	var c Command = StepStage{}
	if s.state.Speed == SpeedMax || s.state.Finishing {
		c = StepToken{}
	}
	st, err := s.Apply(ctx, c)
	if err != nil && ctx.Err() == nil {
		next := *s.state
		next.Playing, next.Finishing = false, false
		if r := terms.RefusalOf(err); r.Code == terms.CodeRange { // with these settings, playing cannot continue
			next.Stuck = r
		}
		return s.publish(&next), err
	}
	return st, err
}

// intervals are the pauses between ticks: 1.2 s per stage, divided by the speed.
var intervals = map[Speed]time.Duration{
	SpeedHalf: 2400 * time.Millisecond, SpeedNormal: 1200 * time.Millisecond,
	SpeedDouble: 600 * time.Millisecond, SpeedFour: 300 * time.Millisecond, SpeedMax: 0,
}

// Interval returns the pause between two ticks of a playing run.
func (s *Session) Interval() time.Duration {
	if s.state.Finishing {
		return 0
	}
	return intervals[s.state.Speed]
}

// publish fills in the fields of next that are derived from the loop, and then makes next the
// current state.
func (s *Session) publish(next *State) *State {
	next.Version = s.state.Version + 1
	if s.loop != nil {
		next.Steps, next.Settings, next.Stopped = s.loop.Steps(), s.loop.Settings(), s.loop.Stopped()
		// There is nothing left to play in a finished run.
		if next.Stopped != infer.StopNone && next.AtFrontier() && next.Cursor.Stage == infer.KindCache {
			next.Playing = false
		}
		next.Finishing = next.Finishing && next.Playing
		if next.Cursor != s.state.Cursor || next.Step() != s.state.Step() {
			next.WhatIf = nil
		}
		next.Branches = s.branches()
		s.look(next)
		next.Dist = s.distribution(next.Step())
	}
	s.state = next
	return next
}

// distribution returns the step's distribution. It reuses the current one if the step's scores and
// knobs have not changed. Before the softmax, it returns nil: the logits stage does not need the
// distribution, and ranking a large vocabulary takes longer than all other work for a screen.
func (s *Session) distribution(step *infer.Step) *sampling.Distribution {
	if step == nil || step.Ran < infer.KindSoftmax {
		return nil
	}
	d := s.state.Dist
	if d != nil && step.Logits != nil && len(s.state.Steps) > 0 {
		old := s.state.Step()
		if old.Logits != nil && &old.Logits[0] == &step.Logits[0] && d.Settings == step.Settings.Settings &&
			old.Settings.Seed == step.Settings.Seed { // a rule may use the seed for a draw
			return d
		}
	}
	if d := s.loop.Distribution(); d != nil && step == s.loop.Steps()[len(s.loop.Steps())-1] {
		return d
	}
	return step.Distribution()
}

// do carries out a command on the loop and on next. It changes the loop only when the command
// can no longer be refused.
func (s *Session) do(ctx context.Context, next *State, c Command) error {
	switch c := c.(type) {
	case Start:
		s.endChat(next)
		return s.start(ctx, next, chat.Text{Text: c.Prompt, Marks: c.Marks, IDs: c.IDs}, nil)
	case StartChat:
		return s.startChat(ctx, next, c.Chat)
	case Open:
		return s.open(ctx, next, c.Link)
	case Rebuild:
		if s.loop != nil {
			return nil
		}
		return s.open(ctx, next, c.Link)
	case Try:
		return s.try(ctx, next, c.Key)
	case SetSpeed:
		if !slices.Contains(Speeds, c.Speed) {
			return terms.RefuseField("speed", string(c.Speed), terms.PhraseOf("run.want.speed"))
		}
		next.Speed = c.Speed
		return nil
	case Pause:
		next.Playing, next.Finishing, next.Notice = false, false, c.Why
		return nil
	case SetLook:
		next.Looking = c.On
		return nil
	case Set:
		settings, err := c.on(s.state.Settings)
		if err != nil {
			return err
		}
		return s.set(next, settings)
	case Move:
		settings := s.state.Settings
		var err error
		if settings.Order, err = settings.Order.Move(sampling.Rule(c.Rule), c.To); err != nil {
			return err
		}
		return s.set(next, settings)
	case SetPreset:
		p, ok := sampling.PresetByKey(c.Key)
		if !ok {
			return terms.RefuseField("preset", c.Key, sampling.PresetKeys())
		}
		settings := s.state.Settings
		settings.Settings = p.Settings
		return s.set(next, settings)
	}
	if s.loop == nil {
		return terms.Refuse(CodeOrder, "run.text.none")
	}
	switch c := c.(type) {
	case StepStage:
		return s.stepStage(ctx, next, c.Withhold)
	case Draw:
		return s.draw(ctx, next)
	case StepToken:
		return s.stepToken(ctx, next)
	case Back:
		return s.back(next)
	case Seek:
		return seek(next, c)
	case Reset:
		s.keepBranch(Cursor{1, infer.KindForward})
		if err := s.loop.Cut(1, infer.KindForward); err != nil {
			return err
		}
		next.Cursor, next.Ghosts, next.Playing = Cursor{1, infer.KindForward}, nil, false
		return nil
	case Play:
		if s.state.Stopped != infer.StopNone && s.state.AtFrontier() && s.loop.BetweenTurns() {
			return s.stopped()
		}
		next.Playing = true
		return nil
	case Finish:
		if s.loop.BetweenTurns() && s.loop.Stopped() != infer.StopNone {
			return s.stopped()
		}
		next.Playing, next.Finishing, next.Cursor = true, true, s.state.Frontier()
		return nil
	case Choose:
		return s.choose(ctx, next, c)
	case TakeBranch:
		return s.takeBranch(ctx, next, c.ID)
	case GoOn:
		switch s.loop.Stopped() {
		case infer.StopNone:
			return terms.Refuse(CodeOrder, "run.goon.running")
		case infer.StopContext:
			return terms.Refuse(CodeOrder, "run.goon.full")
		}
		if err := s.loop.GoOn(); err != nil {
			return err
		}
		next.Cursor = s.state.Frontier()
		return nil
	case Redraw:
		return s.redraw(ctx, next, c.Seed)
	case WhatIf:
		return whatIf(next, c)
	}
	return terms.Refuse(terms.CodeUnknown, "run.command.unknown", "command", fmt.Sprintf("%T", c))
}

// TooLong reports whether a prompt is too long to begin a run, because it has more than maxBytes
// bytes or more tokens than the model can read. If so, keep is a hint for shortening the prompt:
// the number of its characters that fit, rounded down to two significant digits.
func TooLong(m *infer.Model, prompt string, maxBytes int) (keep int, over bool) {
	fits := 1.0
	if n := len(prompt); n > maxBytes {
		fits = float64(maxBytes) / float64(n)
	}
	begin := strings.ToValidUTF8(prompt[:min(len(prompt), m.Longest())], "") // enough to decide, and to estimate keep
	if n, most := len(m.Encode(begin)), m.Config().Context; n > most {
		fits = min(fits, float64(most)/float64(n)*float64(len(begin))/float64(len(prompt)))
	} else if len(begin) < len(prompt) {
		fits = min(fits, float64(len(begin))/float64(len(prompt)))
	}
	if fits == 1 {
		return 0, false
	}
	keep = int(fits * float64(utf8.RuneCountInString(prompt)))
	digit := 1
	for keep/digit >= 100 {
		digit *= 10
	}
	return keep / digit * digit, true
}

// start begins a text. from is the chat from which the text was formatted, or nil.
func (s *Session) start(ctx context.Context, next *State, prompt chat.Text, from *Chat) error {
	if err := s.model.CheckPrompt(prompt.Text, s.limits.PromptBytes); err != nil {
		return err
	}
	loop, err := s.loopFor(prompt, next.Settings, from != nil)
	if err != nil {
		return err
	}
	if _, err := loop.Advance(ctx); err != nil {
		return err
	}
	s.loop = loop
	s.begin(next, prompt)
	next.Chat, next.Cursor = from, Cursor{1, infer.KindForward}
	return nil
}

// loopFor returns a loop for a prompt. If a chat follows another chat, the loop keeps the cache
// columns that the two have in common.
func (s *Session) loopFor(prompt chat.Text, settings infer.Settings, isChat bool) (*infer.Loop, error) {
	if isChat && s.loop != nil && s.state.Chat != nil {
		return s.loop.Continue(prompt, settings)
	}
	return infer.NewChat(s.model, prompt, settings)
}

// begin resets next to the state of a new run.
func (s *Session) begin(next *State, prompt chat.Text) {
	s.others, s.current, s.lastID = nil, 1, 1
	next.Prompt, next.Marks, next.IDs = prompt.Text, prompt.Marks, prompt.IDs
	next.PromptTokens = tokens(s.model, s.loop.Prompt())
	next.Chat = nil
	next.Text++
	next.Dist, next.Look, next.Ghosts, next.Playing, next.Finishing = nil, nil, nil, false, false
}
