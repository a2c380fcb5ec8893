package class

import (
	"time"

	"github.com/tokenbytoken/viz/web/session"
)

// Command is a command from an instructor to a room. The types below implement it, and so does
// [Assign].
type Command interface {
	command()
}

// Drive executes a command on the room's run. An open poll about the step must be closed first; a
// closed poll is removed from the stage.
type Drive struct{ Do session.Command }

// GoTo shows a step of the room's walkthrough (the first is 1): it sets the controls and shows the
// stage. If that fails, nothing changes. If the step has a question, its poll opens, unless the
// presenter went back one step. A presenter who has left the script returns to it by going to any
// step, including the current one.
type GoTo struct{ Step int }

// AskWalk opens the poll of the walkthrough's current step, even if that poll has been opened
// before.
type AskWalk struct{}

// AskNext opens a poll on the next token, at the step that has not been drawn yet. Choices is the
// number of candidates, from 4 to 8; 0 means 5.
type AskNext struct {
	Choices int
	For     time.Duration // time until the poll closes automatically; 0 means never
	Where   Where
}

// AskQuestion opens a poll on a quiz question.
type AskQuestion struct {
	ID  string
	For time.Duration
}

// AskNumber opens a poll that asks for a number. Prompt is plain text.
type AskNumber struct {
	Prompt, Unit string
	Answer       *float64 // nil if there is no right answer
	Within       float64  // largest error at which an answer still counts as right
	For          time.Duration
}

// AskDraw makes the class the sampler of the step that has not been drawn yet: each member
// draws one u from their own random stream.
type AskDraw struct {
	For   time.Duration
	Where Where
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

// ShowSpread shows how the class voted. Reveal also shows the right answer or, for tokens,
// the model's probabilities. Both close the poll.
type (
	ShowSpread struct{}
	Reveal     struct{}
)

// Revote opens the poll for another round. The results of the previous round stay visible
// next to it.
type Revote struct{ For time.Duration }

// Dismiss removes the poll from the stage; the summary still includes it.
type Dismiss struct{}

// AppendMajority appends the token that got the most votes or draws; in a tie, it appends
// the token that the model finds most probable. AppendOf appends the token that one member
// chose or drew.
type (
	AppendMajority struct{}
	AppendOf       struct{ Member int }
)

// SetTimer starts a countdown that everyone sees; 0 removes it.
type SetTimer struct{ For time.Duration }

// Lock prevents new members from joining. HideNames hides all names, even in the
// instructor's window, which may be projected. AllowAlone lets members continue alone with
// their own run.
type (
	Lock       struct{ On bool }
	HideNames  struct{ On bool }
	AllowAlone struct{ On bool }
)

// DropName erases a member's nickname; the member cannot choose another. Remove expels a
// member: their vote in the current poll is withdrawn, and they cannot join again.
type (
	DropName struct{ Member int }
	Remove   struct{ Member int }
)

// TakeOver makes the sender the presenter.
type TakeOver struct{}

// End ends the class: the code no longer works, but the summary remains available. Reopen
// undoes End.
type (
	End    struct{}
	Reopen struct{}
)

// Delete deletes the room and all its data immediately.
type Delete struct{}

func (Drive) command()          {}
func (GoTo) command()           {}
func (AskWalk) command()        {}
func (AskNext) command()        {}
func (AskQuestion) command()    {}
func (AskNumber) command()      {}
func (AskDraw) command()        {}
func (Close) command()          {}
func (Extend) command()         {}
func (ShowSpread) command()     {}
func (Reveal) command()         {}
func (Revote) command()         {}
func (Dismiss) command()        {}
func (AppendMajority) command() {}
func (AppendOf) command()       {}
func (SetTimer) command()       {}
func (Lock) command()           {}
func (HideNames) command()      {}
func (AllowAlone) command()     {}
func (DropName) command()       {}
func (Remove) command()         {}
func (TakeOver) command()       {}
func (End) command()            {}
func (Reopen) command()         {}
func (Delete) command()         {}
func (Assign) command()         {}
