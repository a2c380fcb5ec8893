package class

import (
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Command is a command from an instructor to a room. The types below implement it, and so do
// [Assign], [Handle] and [AllowQuestions].
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

// Commands are the commands of the instructor's page, with their inputs.
var Commands = slices.Concat(terms.Commands[Maker]{
	{Name: "goto", Inputs: terms.Inputs{
		terms.IntInput("step", 1, 1000),
	}, Make: with(func(v terms.Values) Command { return GoTo{Step: v.Int("step")} })},
	{Name: "next-step", Make: from(func(v *View) Command { return GoTo{Step: stepOf(v) + 1} })},
	{Name: "prev-step", Make: from(func(v *View) Command { return GoTo{Step: stepOf(v) - 1} })},

	{Name: "ask-walk", Make: always(AskWalk{})},
	{Name: "ask-next", Inputs: terms.Inputs{choicesInput, secondsInput, whereInput}, Make: with(askNext)},
	{Name: "new-poll", Inputs: terms.Inputs{choicesInput, secondsInput, whereInput}, Make: with(askNext)},
	{Name: "ask-question", Inputs: terms.Inputs{
		terms.TextInput("id"), secondsInput,
	}, Make: with(func(v terms.Values) Command { return AskQuestion{ID: v["id"], For: seconds(v)} })},
	{Name: "ask-draw", Inputs: terms.Inputs{secondsInput, whereInput}, Make: with(func(v terms.Values) Command {
		return AskDraw{For: seconds(v), Where: Where(v["where"])}
	})},
	{Name: "ask-number", Inputs: terms.Inputs{
		terms.TextInput("prompt"), terms.TextInput("unit"), decimal("answer"), decimal("within"), secondsInput,
	}, Make: with(askNumber)},
	{Name: "close", Make: always(Close{})},
	{Name: "extend", Inputs: terms.Inputs{
		terms.IntInput("seconds", 1, maxSeconds).With("30"),
	}, Make: with(func(v terms.Values) Command { return Extend{By: seconds(v)} })},
	{Name: "spread", Make: always(ShowSpread{})},
	{Name: "reveal", Make: always(Reveal{})},
	{Name: "revote", Inputs: terms.Inputs{secondsInput}, Make: with(func(v terms.Values) Command {
		return Revote{For: seconds(v)}
	})},
	{Name: "dismiss", Make: always(Dismiss{})},
	{Name: "append-majority", Make: always(AppendMajority{})},
	{Name: "append-of", Inputs: terms.Inputs{memberInput}, Make: with(func(v terms.Values) Command {
		return AppendOf{Member: v.Int("member")}
	})},

	{Name: "timer", Inputs: terms.Inputs{secondsInput}, Make: with(func(v terms.Values) Command {
		return SetTimer{For: seconds(v)}
	})},
	{Name: "lock", Make: always(Lock{On: true})},
	{Name: "unlock", Make: always(Lock{})},
	{Name: "hide-names", Make: always(HideNames{On: true})},
	{Name: "show-names", Make: always(HideNames{})},
	{Name: "alone-on", Make: always(AllowAlone{On: true})},
	{Name: "alone-off", Make: always(AllowAlone{})},
	{Name: "follow", Make: from(func(v *View) Command { return AllowAlone{On: !v.Alone} })},
	{Name: "question", Inputs: handleInputs, Make: with(handle)},
	{Name: "questions-on", Make: always(AllowQuestions{On: true})},
	{Name: "questions-off", Make: always(AllowQuestions{})},
	{Name: "drop-name", Inputs: terms.Inputs{memberInput}, Make: with(func(v terms.Values) Command {
		return DropName{Member: v.Int("member")}
	})},
	{Name: "remove", Inputs: terms.Inputs{memberInput}, Make: with(func(v terms.Values) Command {
		return Remove{Member: v.Int("member")}
	})},
	{Name: "assign", Inputs: terms.Inputs{
		{Key: "do", Kind: terms.KindLines}, terms.TextInput("names"),
	}, Make: with(assign)},
	{Name: "take-seat", Make: always(TakeOver{})},
	{Name: "end", Make: always(End{})},
	{Name: "reopen", Make: always(Reopen{})},
	// Browsers require the checkbox sure to be checked.
	{Name: "delete", Inputs: terms.Inputs{terms.TextInput("sure")}, Make: always(Delete{})},
}, runCommands())

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
