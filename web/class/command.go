package class

import (
	"time"

	"github.com/tokenbytoken/viz/web/session"
)

// Command is a command of an instructor to a room: [Drive], [GoTo], [AskWalk],
// [AskNext], [AskQuestion], [AskNumber], [AskDraw], [Close], [Extend],
// [ShowSpread], [Revote], [Reveal], [Dismiss], [AppendMajority], [AppendOf],
// [SetTimer], [Lock], [HideNames], [AllowAlone], [DropName], [Remove],
// [Assign], [TakeOver], [End], [Reopen] or [Delete].
type Command interface{ command() }

// Drive executes a command on the room's run. A poll on the step must be closed
// first; a closed one is removed from the stage.
type Drive struct{ Do session.Command }

// GoTo shows a step of the room's walkthrough (the first is 1): it sets the controls
// and shows the stage, or changes nothing. If the step asks something, the poll opens,
// unless it is the step before the one shown. A presenter who has left the script returns
// to it with any step, the one shown included.
type GoTo struct{ Step int }

// AskWalk opens the poll of the walkthrough's current step (again).
type AskWalk struct{}

// AskNext asks which token comes next at the step that is not drawn yet, with 4 to 8
// candidates; 0 means 5.
type AskNext struct {
	Choices int
	For     time.Duration // until it closes automatically; 0 means without an end
	Where   Where
}

// AskQuestion asks a question of the quiz.
type AskQuestion struct {
	ID  string
	For time.Duration
}

// AskNumber asks for a number. Prompt is plain text.
type AskNumber struct {
	Prompt, Unit string
	Answer       *float64 // nil if no answer is right
	Within       float64  // how far off a right answer can be
	For          time.Duration
}

// AskDraw makes the class the sampler of the step that is not drawn yet: every member draws
// one u from their own random stream.
type AskDraw struct {
	For   time.Duration
	Where Where
}

// Where is the position in the text that a poll asks about. A position is open if several
// tokens are plausible there and the next one begins a word.
type Where string

// IfOpen asks at the next token if its position is open, and otherwise makes the instructor
// an offer ([View.Offer]). Here asks at the next token in any case, NextOpen at the next
// open position.
const (
	IfOpen   Where = ""
	Here     Where = "here"
	NextOpen Where = "open"
)

// Close closes the open poll. Extend gives it more time; a poll that is closed but
// not revealed opens again.
type (
	Close  struct{}
	Extend struct{ By time.Duration }
)

// ShowSpread shows how the class voted, Reveal also what is right and, of
// tokens, the model's probabilities. Both close the poll.
type (
	ShowSpread struct{}
	Reveal     struct{}
)

// Revote opens the poll for another round. The round before stays visible next to it.
type Revote struct{ For time.Duration }

// Dismiss removes the poll from the stage. It stays in the summary.
type Dismiss struct{}

// AppendMajority appends the token that got the most votes or draws; in a tie, the model's
// more probable one. AppendOf appends the token of one member.
type (
	AppendMajority struct{}
	AppendOf       struct{ Member int }
)

// SetTimer starts a countdown that everyone sees; 0 removes it.
type SetTimer struct{ For time.Duration }

// Lock stops new members from joining. HideNames hides all names, even in the instructor's
// window, which may be projected. AllowAlone lets members continue alone with their own
// run.
type (
	Lock       struct{ On bool }
	HideNames  struct{ On bool }
	AllowAlone struct{ On bool }
)

// DropName erases a member's nickname; they cannot choose another. Remove expels a
// member: their vote in the current poll is withdrawn, and they cannot join again.
type (
	DropName struct{ Member int }
	Remove   struct{ Member int }
)

// TakeOver makes the sender the presenter.
type TakeOver struct{}

// End ends the class: the code no longer works, but the summary stays. Reopen undoes End.
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
