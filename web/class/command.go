package class

import (
	"cmp"
	"context"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/session"
)

// Command is a command from an instructor to a room. The types below implement it, and so does
// [Assign].
type Command interface {
	// carryOut executes the command. The caller has the controls and holds runLock.
	carryOut(ctx context.Context, r *local) error
}

// codecs contains the codecs of all commands, by name. Servers running other versions use the same
// names.
var codecs = map[string]codec{
	"class.GoTo":               ofRoom[GoTo](),
	"class.AskWalk":            ofRoom[AskWalk](),
	"class.AskNext":            ofRoom[AskNext](),
	"class.AskQuestion":        ofRoom[AskQuestion](),
	"class.AskNumber":          ofRoom[AskNumber](),
	"class.AskDraw":            ofRoom[AskDraw](),
	"class.Close":              ofRoom[Close](),
	"class.Extend":             ofRoom[Extend](),
	"class.ShowSpread":         ofRoom[ShowSpread](),
	"class.Reveal":             ofRoom[Reveal](),
	"class.Revote":             ofRoom[Revote](),
	"class.Dismiss":            ofRoom[Dismiss](),
	"class.AppendMajority":     ofRoom[AppendMajority](),
	"class.AppendOf":           ofRoom[AppendOf](),
	"class.SetTimer":           ofRoom[SetTimer](),
	"class.Lock":               ofRoom[Lock](),
	"class.HideNames":          ofRoom[HideNames](),
	"class.AllowAlone":         ofRoom[AllowAlone](),
	"class.DropName":           ofRoom[DropName](),
	"class.Remove":             ofRoom[Remove](),
	"class.TakeOver":           ofRoom[TakeOver](),
	"class.End":                ofRoom[End](),
	"class.Reopen":             ofRoom[Reopen](),
	"class.Delete":             ofRoom[Delete](),
	"class.Assign":             ofRoom[Assign](),
	"drive session.Start":      ofRun[session.Start](),
	"drive session.StartChat":  ofRun[session.StartChat](),
	"drive session.Open":       ofRun[session.Open](),
	"drive session.Rebuild":    ofRun[session.Rebuild](),
	"drive session.StepStage":  ofRun[session.StepStage](),
	"drive session.Draw":       ofRun[session.Draw](),
	"drive session.Back":       ofRun[session.Back](),
	"drive session.StepToken":  ofRun[session.StepToken](),
	"drive session.Seek":       ofRun[session.Seek](),
	"drive session.Reset":      ofRun[session.Reset](),
	"drive session.Play":       ofRun[session.Play](),
	"drive session.Finish":     ofRun[session.Finish](),
	"drive session.Pause":      ofRun[session.Pause](),
	"drive session.SetSpeed":   ofRun[session.SetSpeed](),
	"drive session.Set":        ofRun[session.Set](),
	"drive session.SetPreset":  ofRun[session.SetPreset](),
	"drive session.Move":       ofRun[session.Move](),
	"drive session.Choose":     ofRun[session.Choose](),
	"drive session.TakeBranch": ofRun[session.TakeBranch](),
	"drive session.GoOn":       ofRun[session.GoOn](),
	"drive session.WhatIf":     ofRun[session.WhatIf](),
	"drive session.Redraw":     ofRun[session.Redraw](),
	"drive session.Try":        ofRun[session.Try](),
	"drive session.SetLook":    ofRun[session.SetLook](),
}

// Drive executes a command on the room's run. An open poll about the step must be closed first; a
// closed poll is removed from the stage.
type Drive struct{ Do session.Command }

func (cmd Drive) carryOut(ctx context.Context, r *local) error {
	return r.onRun(ctx, func(run Run) error { return r.drive(ctx, run, cmd.Do) })
}

// GoTo shows a step of the room's walkthrough (the first is 1): it sets the controls and shows the
// stage. If that fails, nothing changes. If the step has a question, its poll opens, unless the
// presenter went back one step. A presenter who has left the script returns to it by going to any
// step, including the current one.
type GoTo struct{ Step int }

func (cmd GoTo) carryOut(ctx context.Context, r *local) error {
	return r.onRun(ctx, func(run Run) error { return r.goTo(ctx, run, cmd.Step) })
}

// AskWalk opens the poll of the walkthrough's current step, even if that poll has been opened
// before.
type AskWalk struct{}

func (AskWalk) carryOut(ctx context.Context, r *local) error {
	return r.onRun(ctx, func(run Run) error {
		w, err := get(ctx, r, func(c *core) (WalkView, error) { return c.walk() })
		if err != nil {
			return err
		}
		step := w.At()
		if step == nil || step.Ask == nil {
			return terms.Refuse(CodeAsk, "class.refused.asks_nothing")
		}
		return r.asked(ctx, run, func(do Do) (*session.State, error) { return ready(ctx, do, nil, step.Ask) },
			func(c *core, st *session.State) error { return c.openSpec(st, step.Ask) })
	})
}

// AskNext opens a poll on the next token, at the step that has not been drawn yet. Choices is the
// number of candidates, from 4 to 8; 0 means 5.
type AskNext struct {
	Choices int
	For     time.Duration // time until the poll closes automatically; 0 means never
	Where   Where
}

func (cmd AskNext) carryOut(ctx context.Context, r *local) error {
	n := cmp.Or(cmd.Choices, 5)
	if n < predict.LeastCandidates || n > mostCandidates {
		return terms.Refuse(
			CodeAsk, "class.refused.candidates", "n", n, "least", predict.LeastCandidates, "most", mostCandidates,
		)
	}
	return r.onRun(ctx, func(run Run) error {
		return r.askToken(ctx, run, cmd.Where, Offer{Choices: n}, Undrawn,
			func(c *core, st *session.State) error { return c.open(nextPoll(st, n, c.nextSeed()), cmd.For) })
	})
}

// AskQuestion opens a poll on a quiz question.
type AskQuestion struct {
	ID  string
	For time.Duration
}

func (cmd AskQuestion) carryOut(ctx context.Context, r *local) error {
	return r.ask(ctx, func(c *core) error {
		q := c.course().Question(cmd.ID)
		if q == nil {
			return terms.Refuse(CodeAsk, "class.refused.no_question", "id", quoted(cmd.ID))
		}
		return c.open(questionPoll(q, c.nextSeed()), cmd.For)
	})
}

// AskNumber opens a poll that asks for a number. Prompt is plain text.
type AskNumber struct {
	Prompt, Unit string
	Answer       *float64 // nil if there is no right answer
	Within       float64  // largest error at which an answer still counts as right
	For          time.Duration
}

func (cmd AskNumber) carryOut(ctx context.Context, r *local) error {
	return r.ask(ctx, func(c *core) error { return c.askNumber(cmd) })
}

// AskDraw makes the class the sampler of the step that has not been drawn yet: each member
// draws one u from their own random stream.
type AskDraw struct {
	For   time.Duration
	Where Where
}

func (cmd AskDraw) carryOut(ctx context.Context, r *local) error {
	return r.onRun(ctx, func(run Run) error {
		return r.askToken(ctx, run, cmd.Where, Offer{Draw: true}, undrawnBySampling,
			func(c *core, st *session.State) error { return c.open(drawPoll(st), cmd.For) })
	})
}

// Where selects the position in the text that a poll asks about. A position is open if
// several tokens are plausible there and the next token begins a word.
type Where string

// If the position of the next token is open, IfOpen starts the poll there; otherwise it sets
// [View.Offer]. Here starts the poll at the next token regardless, and NextOpen starts it at
// the next open position.
const (
	IfOpen   Where = ""
	Here     Where = "here"
	NextOpen Where = "open"
)

// Close closes the open poll. Extend gives a poll more time; it reopens a poll that is
// closed but not revealed.
type (
	Close  struct{}
	Extend struct{ By time.Duration }
)

func (Close) carryOut(ctx context.Context, r *local) error {
	return r.changePoll(ctx, func(_ *core, p *poll) error {
		if !p.live() {
			return ErrClosed
		}
		p.Phase = Closed
		return nil
	})
}

func (cmd Extend) carryOut(ctx context.Context, r *local) error {
	return r.changePoll(ctx, func(c *core, p *poll) error { return p.extend(cmd.By, c.cfg.Now()) })
}

// ShowSpread shows how the class voted. Reveal also shows the right answer or, for tokens,
// the model's probabilities. Both close the poll.
type (
	ShowSpread struct{}
	Reveal     struct{}
)

func (ShowSpread) carryOut(ctx context.Context, r *local) error {
	return r.changePoll(ctx, func(_ *core, p *poll) error {
		if p.Phase == Revealed {
			return ErrClosed
		}
		p.Phase = Spread
		return nil
	})
}

func (Reveal) carryOut(ctx context.Context, r *local) error {
	return r.changePoll(ctx, func(_ *core, p *poll) error {
		p.Phase = Revealed
		return nil
	})
}

// Revote opens the poll for another round. The results of the previous round stay visible
// next to it.
type Revote struct{ For time.Duration }

func (cmd Revote) carryOut(ctx context.Context, r *local) error {
	return r.changePoll(ctx, func(c *core, p *poll) error { return p.again(cmd.For, c.cfg.Now()) })
}

// Dismiss removes the poll from the stage; the summary still includes it.
type Dismiss struct{}

func (Dismiss) carryOut(ctx context.Context, r *local) error {
	return r.change(ctx, func(c *core, next *roomData) error {
		if c.onStage() == nil {
			return ErrNoPoll
		}
		next.Poll = 0
		return c.mayMove(true)
	})
}

// AppendMajority appends the token that got the most votes or draws; in a tie, it appends
// the token that the model finds most probable. AppendOf appends the token that one member
// chose or drew.
type (
	AppendMajority struct{}
	AppendOf       struct{ Member int }
)

func (AppendMajority) carryOut(ctx context.Context, r *local) error {
	return r.onRun(ctx, func(run Run) error { return r.appendToken(ctx, run, (*core).majority) })
}

func (cmd AppendOf) carryOut(ctx context.Context, r *local) error {
	return r.onRun(ctx, func(run Run) error {
		return r.appendToken(ctx, run, func(c *core, p *poll) (string, error) {
			v, ok := c.votes[p.at()][cmd.Member]
			if !ok {
				return "", ErrNoMember
			}
			return v.Choice, nil
		})
	})
}

// SetTimer starts a countdown that everyone sees; 0 removes it.
type SetTimer struct{ For time.Duration }

func (cmd SetTimer) carryOut(ctx context.Context, r *local) error {
	if cmd.For < 0 || cmd.For > maxTime {
		return terms.Refuse(CodeAsk, "class.refused.timer", "n", int(maxTime/time.Hour))
	}
	return r.change(ctx, func(c *core, next *roomData) error {
		next.Timer = time.Time{}
		if cmd.For > 0 {
			next.Timer = c.cfg.Now().Add(cmd.For)
		}
		return nil
	})
}

// Lock prevents new members from joining. HideNames hides all names, even in the
// instructor's window, which may be projected. AllowAlone lets members continue alone with
// their own run.
type (
	Lock       struct{ On bool }
	HideNames  struct{ On bool }
	AllowAlone struct{ On bool }
)

func (cmd Lock) carryOut(ctx context.Context, r *local) error {
	return r.set(ctx, func(next *roomData) { next.Locked = cmd.On })
}

func (cmd HideNames) carryOut(ctx context.Context, r *local) error {
	return r.set(ctx, func(next *roomData) { next.NamesHidden = cmd.On })
}

func (cmd AllowAlone) carryOut(ctx context.Context, r *local) error {
	return r.set(ctx, func(next *roomData) { next.Alone = cmd.On })
}

// DropName erases a member's nickname; the member cannot choose another. Remove expels a
// member: their vote in the current poll is withdrawn, and they cannot join again.
type (
	DropName struct{ Member int }
	Remove   struct{ Member int }
)

func (cmd DropName) carryOut(ctx context.Context, r *local) error {
	return r.ask(ctx, func(c *core) error { return c.dropName(cmd.Member) })
}

func (cmd Remove) carryOut(ctx context.Context, r *local) error {
	return r.ask(ctx, func(c *core) error { return c.remove(cmd.Member) })
}

// TakeOver makes the sender the presenter.
type TakeOver struct{}

// carryOut only publishes a view: [local.present] has already made the sender the presenter.
func (TakeOver) carryOut(ctx context.Context, r *local) error {
	return r.ask(ctx, func(c *core) error {
		c.publish()
		return nil
	})
}

// End ends the class: the code no longer works, but the summary remains available. Reopen
// undoes End.
type (
	End    struct{}
	Reopen struct{}
)

func (End) carryOut(ctx context.Context, r *local) error {
	return r.set(ctx, func(next *roomData) { next.Ended = true })
}

func (Reopen) carryOut(ctx context.Context, r *local) error {
	return r.set(ctx, func(next *roomData) { next.Ended = false })
}

// Delete deletes the room and all its data immediately.
type Delete struct{}

func (Delete) carryOut(ctx context.Context, r *local) error { return r.removeAll(ctx) }
