package class

import (
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/store"
)

// The refusal codes of classes, in addition to those in package terms. A refused request changes
// nothing.
const (
	CodeNoRoom   terms.Code = "no_room"   // no room has this code
	CodeLocked   terms.Code = "locked"    // the instructor has locked the room
	CodeCookie   terms.Code = "cookie"    // members need a browser that accepts cookies
	CodeTries    terms.Code = "tries"     // too many wrong codes
	CodeRemoved  terms.Code = "removed"   // the instructor has removed this member
	CodeStranger terms.Code = "stranger"  // the sender is not a member of the room
	CodeSecret   terms.Code = "secret"    // the sender is not the instructor
	CodeSecond   terms.Code = "second"    // someone else is presenting
	CodeNick     terms.Code = "nick"      // a nickname that is not allowed
	CodeClosed   terms.Code = "closed"    // the poll is closed, or not the current one
	CodeOpen     terms.Code = "open"      // a poll is open and must be closed first
	CodeNoPoll   terms.Code = "no_poll"   // there is no poll that the command could apply to
	CodeNotOffer terms.Code = "not_offer" // a vote for an option that does not exist
	CodeAsk      terms.Code = "ask"       // a question that cannot be asked
	CodeWalk     terms.Code = "walk"      // a step of a walkthrough that cannot be shown
	CodeNoMember terms.Code = "no_member" // there is no such member, or they have not voted
	CodeTitle    terms.Code = "title"     // a title that is not allowed
	CodeGone     terms.Code = "gone"      // the room was deleted, or the server is stopping
	CodeDamaged  terms.Code = "damaged"   // the room's data could not be read
	CodeKept     terms.Code = "kept"      // the change could not be saved, so it does not count
)

// Refusals with a fixed message.
var (
	ErrNoRoom = terms.Refuse(
		CodeNoRoom,
		"No room has this code. Check the screen in front again: codes have six characters. The code of a "+
			"deleted room no longer works.",
	)
	ErrExpired = terms.Refuse(
		terms.CodeExpired, "This class is over, "+
			"so its code no longer works. Ask the instructor to open the room again.",
	)
	ErrFull   = terms.Refuse(terms.CodeFull, "The room is full. You can still follow on the screen in front.")
	ErrLocked = terms.Refuse(CodeLocked, "The instructor has locked the room: no one else can join right now.")
	ErrTries  = terms.Refuse(
		CodeTries, "Too many wrong codes were tried. Wait a minute, then type the code from the screen in front.",
	)
	ErrRemoved  = terms.Refuse(CodeRemoved, "The instructor has removed you from this room.")
	ErrStranger = terms.Refuse(CodeStranger, "You are not in this room yet. Join with its code first.")
	ErrSecret   = terms.Refuse(
		CodeSecret,
		"Only the instructor of this room can do that. Open the instructor's link that was shown "+
			"when the room was made.",
	)
	ErrSecond   = terms.Refuse(CodeSecond, "Someone else is presenting in this room. You can watch, or take over.")
	ErrClosed   = terms.Refuse(CodeClosed, "This vote is closed. What you chose before it closed counts.")
	ErrOpen     = terms.Refuse(CodeOpen, "A vote is open on this step. Close it first.")
	ErrNoPoll   = terms.Refuse(CodeNoPoll, "There is no vote on the screen.")
	ErrNoMember = terms.Refuse(CodeNoMember, "No member of the room has this number, or they have not voted.")
	ErrGone     = terms.Refuse(CodeGone, "This room no longer exists.")
	ErrBroken   = terms.Refuse(
		terms.CodeModel,
		"Something went wrong on the server. It was logged, and the class continues from the last saved state.",
	)
	ErrKept = terms.Refuse(CodeKept, "This could not be saved, so it does not count yet. Try again.")
)

// notKept returns [ErrKept], with the reason if the cause is the disk. Errors that already
// include the reason are returned unchanged.
func notKept(err error) error {
	if refused, ok := terms.AsRefusal(err); ok && refused.Code == CodeKept {
		return err
	}
	if why := store.Why(err); why != "" {
		return terms.Refuse(CodeKept, "This could not be saved, so it does not count. %s", why)
	}
	return ErrKept
}
