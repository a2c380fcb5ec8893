package class

import (
	"time"

	"github.com/tokenbytoken/viz/web/session"
)

// Command is what an instructor can ask of a room: [Drive], [GoTo], [AskWalk],
// [AskNext], [AskQuestion], [AskNumber], [AskDraw], [Close], [Extend],
// [ShowSpread], [Revote], [Reveal], [Dismiss], [AppendMajority], [AppendOf],
// [SetTimer], [Lock], [HideNames], [AllowAlone], [DropName], [Remove],
// [TakeSeat], [End] or [Delete].
type Command interface{ command() }

// Drive has the room's run carry out a command. A poll on the step must be
// closed before; one that is closed leaves the stage.
type Drive struct{ Do session.Command }

// GoTo shows a step of the room's walkthrough (the first is 1): its controls
// are set and its stage is gone to, all of it or nothing. Where the step
// follows the one shown and asks something, the poll opens. A presenter who has
// left the script returns with the step that is shown, or any other.
type GoTo struct{ Step int }

// AskWalk opens the poll of the walkthrough's step that is shown (again).
type AskWalk struct{}

// AskNext asks which token comes next at the step that is not drawn yet, among
// so many candidates (4 to 8; 0 is 5).
type AskNext struct {
	Choices int
	For     time.Duration // until it closes by itself; 0 is until told
}

// AskQuestion asks a question of the quiz.
type AskQuestion struct {
	ID  string
	For time.Duration
}

// AskNumber asks for a number. Prompt is plain text.
type AskNumber struct {
	Prompt, Unit string
	Answer       *float64 // nil where none is the right one
	Within       float64  // how far off is still right
	For          time.Duration
}

// AskDraw makes the class the sampler of the step that is not drawn yet: every
// member draws one u from a stream of their own.
type AskDraw struct{ For time.Duration }

// Close closes the poll that is open. Extend gives it more time (one that is
// closed and not revealed opens again).
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

// Revote opens the poll for another round. The round before is kept beside it.
type Revote struct{ For time.Duration }

// Dismiss takes the poll off the stage; it stays in the summary.
type Dismiss struct{}

// AppendMajority makes the run take the token that most voted for or drew, and
// AppendOf the token of one member. Of tokens with equal votes it takes the one
// that the model finds more probable.
type (
	AppendMajority struct{}
	AppendOf       struct{ Member int }
)

// SetTimer starts a countdown for everybody to see; 0 takes it away.
type SetTimer struct{ For time.Duration }

// Lock lets nobody else in; HideNames shows no names, on the instructor’s window
// neither, which may be on the wall;
// AllowAlone lets members go on alone with a run of their own.
type (
	Lock       struct{ On bool }
	HideNames  struct{ On bool }
	AllowAlone struct{ On bool }
)

// DropName takes a member's nickname away for good. Remove puts a member out:
// their vote in the present poll goes, and they cannot come back.
type (
	DropName struct{ Member int }
	Remove   struct{ Member int }
)

// TakeSeat makes the sender the one who presents.
type TakeSeat struct{}

// End closes the class: the code lets nobody in, the summary stays. Reopen
// undoes it.
type (
	End    struct{}
	Reopen struct{}
)

// Delete deletes the room and everything that it kept, at once.
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
func (TakeSeat) command()       {}
func (End) command()            {}
func (Reopen) command()         {}
func (Delete) command()         {}
