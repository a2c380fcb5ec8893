package class

import "fmt"

// Code says what kind of refusal an [Error] is.
type Code string

// The codes.
const (
	CodeNoRoom   Code = "no_room"   // no room has this code
	CodeExpired  Code = "expired"   // the class is over
	CodeFull     Code = "full"      // no place for another member or room
	CodeLocked   Code = "locked"    // the instructor lets nobody else in
	CodeTries    Code = "tries"     // too many wrong codes
	CodeRemoved  Code = "removed"   // the instructor has removed this member
	CodeStranger Code = "stranger"  // not a member of the room
	CodeSecret   Code = "secret"    // not the instructor
	CodeSecond   Code = "second"    // someone else presents just now
	CodeNick     Code = "nick"      // a nickname that cannot be taken
	CodeClosed   Code = "closed"    // the poll is closed, or not the present one
	CodeOpen     Code = "open"      // a poll is open and must be closed first
	CodeNoPoll   Code = "no_poll"   // there is no poll to do this with
	CodeNotOffer Code = "not_offer" // a vote for what is not on offer
	CodeAsk      Code = "ask"       // a question that cannot be asked
	CodeWalk     Code = "walk"      // a step of a walkthrough that cannot be shown
	CodeNoMember Code = "no_member" // no such member, or without a vote
	CodeTitle    Code = "title"     // a title that cannot be taken
	CodeGone     Code = "gone"      // the room was deleted, or the server goes down
	CodeKept     Code = "kept"      // it could not be kept, so it does not count
	CodeUnknown  Code = "unknown"   // no such command
	CodeBusy     Code = "busy"      // not done in time
)

// Error is why something was refused, for the person it concerns. Nothing has
// changed then. errors.Is compares codes, so that errors.Is(err, [ErrFull])
// holds of every refusal for want of room, whatever it says.
type Error struct {
	Code    Code
	Message string // a sentence
}

func (e *Error) Error() string { return e.Message }

// Is reports whether the target is an [*Error] with the same code.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

func refuse(code Code, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// Refusals that are always said in the same words.
var (
	ErrNoRoom = refuse(
		CodeNoRoom,
		"No room has this code. Check the screen in front again: codes have six characters. The code of a "+
			"deleted room no longer works.",
	)
	ErrExpired = refuse(
		CodeExpired, "This class is over, so its code no longer works. Ask the instructor to open the room again.",
	)
	ErrFull   = refuse(CodeFull, "The room is full. You can still follow on the screen in front.")
	ErrLocked = refuse(CodeLocked, "The instructor has locked the room: no one else can join right now.")
	ErrTries  = refuse(
		CodeTries, "Too many wrong codes were tried. Wait a minute, then type the code from the screen in front.",
	)
	ErrRemoved  = refuse(CodeRemoved, "The instructor has removed you from this room.")
	ErrStranger = refuse(CodeStranger, "You are not in this room yet. Join with its code first.")
	ErrSecret   = refuse(
		CodeSecret,
		"Only the instructor of this room can do that. Open the instructor's link that was shown "+
			"when the room was made.",
	)
	ErrSecond   = refuse(CodeSecond, "Someone else is presenting in this room. You can watch, or take over.")
	ErrClosed   = refuse(CodeClosed, "This vote is closed. What you chose before it closed counts.")
	ErrOpen     = refuse(CodeOpen, "A vote is open on this step. Close it first.")
	ErrNoPoll   = refuse(CodeNoPoll, "There is no vote on the screen.")
	ErrNoMember = refuse(CodeNoMember, "No member of the room has this number, or they have not voted.")
	ErrGone     = refuse(CodeGone, "This room no longer exists.")
	ErrKept     = refuse(CodeKept, "This could not be saved, so it does not count yet. Try again.")
)
