package class

import "github.com/tokenbytoken/viz/infer/terms"

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
	ErrNoRoom   = terms.Refuse(CodeNoRoom, "class.refused.no_room")
	ErrExpired  = terms.Refuse(terms.CodeExpired, "class.refused.expired")
	ErrFull     = terms.Refuse(terms.CodeFull, "class.refused.full")
	ErrLocked   = terms.Refuse(CodeLocked, "class.refused.locked")
	ErrTries    = terms.Refuse(CodeTries, "class.refused.tries")
	ErrRemoved  = terms.Refuse(CodeRemoved, "class.refused.removed")
	ErrStranger = terms.Refuse(CodeStranger, "class.refused.stranger")
	ErrSecret   = terms.Refuse(CodeSecret, "class.refused.secret")
	ErrSecond   = terms.Refuse(CodeSecond, "class.refused.second")
	ErrClosed   = terms.Refuse(CodeClosed, "class.refused.closed")
	ErrOpen     = terms.Refuse(CodeOpen, "class.refused.open")
	ErrNoPoll   = terms.Refuse(CodeNoPoll, "class.refused.no_poll")
	ErrNoMember = terms.Refuse(CodeNoMember, "class.refused.no_member")
	ErrGone     = terms.Refuse(CodeGone, "class.refused.gone")
	ErrBroken   = terms.Refuse(terms.CodeModel, "class.refused.broken")
	ErrKept     = terms.Refuse(CodeKept, "class.refused.not_saved")
)

// Refusals that occur only in a cluster.
var (
	// ErrUnsure is returned for a command that may or may not have been executed.
	ErrUnsure = terms.Refuse(CodeMoved, "class.refused.unsure")
	// ErrAway is returned while no server can run the room.
	ErrAway = terms.Refuse(terms.CodeBusy, "class.refused.away")
)

// CodeMoved means that a command was refused because its room had moved to another server.
const CodeMoved terms.Code = "moved"
