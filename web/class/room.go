package class

import (
	"context"

	"github.com/tokenbytoken/viz/web/admission"
)

// Room is one class. Its methods can be called from any goroutine. A single server runs its rooms
// itself; in a cluster, every server provides every room and forwards requests to the server that
// runs it.
type Room interface {
	// Code returns the code that people type to join.
	Code() string

	// View returns the current state of the room. It is never nil; once the room is deleted,
	// [View.Gone] is set.
	View() *View

	// Done returns a channel that is closed when the room has ended because it was deleted or the
	// server is stopping.
	Done() <-chan struct{}

	// Join makes a caller a member, unless they already are one, and counts one more open page.
	// nick may be empty; it is plain text of at most [MaxNick] characters. When Join returns
	// without an error, the nickname is saved. Leave must be called once for each successful Join.
	//
	// Errors: the errors of [room.Hub.Enter] except for wrong codes, [CodeNick], and [ErrKept].
	Join(ctx context.Context, who admission.Caller, nick string) (*Member, error)

	// Leave undoes one Join.
	Leave(learner string)

	// Standing returns the name and vote of a member, which only they see.
	Standing(ctx context.Context, learner string) (Standing, error)

	// Vote casts a member's vote in the poll on the stage. When it returns without an error, the
	// vote in the receipt is saved. Until the poll closes, a vote can be changed: the vote with the
	// highest number counts, even if votes arrive out of order or more than once.
	//
	// Errors: [ErrStranger], [ErrRemoved], [ErrClosed], [CodeNotOffer], [ErrKept].
	Vote(ctx context.Context, learner string, b Ballot) (Receipt, error)

	// Ask asks the instructor a question. When it returns without an error, the question is saved,
	// without the member who asked it. A member's question that is already in the list is not added
	// again, so Ask can be repeated.
	//
	// Errors: [ErrStranger], [ErrRemoved], [ErrExpired], [CodeAsk], [ErrKept].
	Ask(ctx context.Context, learner, text string) error

	// Raised lists the questions that members have asked, for the instructor.
	Raised(ctx context.Context, secret Secret) ([]Raised, error)

	// Attendees lists the members who have not been removed, for the instructor.
	Attendees(ctx context.Context, secret Secret) ([]Attendee, error)

	// OpenPresenter counts one more open page of a presenter until closed is called. The first
	// presenter has the controls until all of their pages are closed; others can watch, or take
	// over with [TakeOver].
	OpenPresenter(ctx context.Context, who string, secret Secret) (closed func(), err error)

	// CanPresent reports whether commands from the given presenter would be executed now, because
	// that presenter or nobody has the controls.
	CanPresent(ctx context.Context, who string) (bool, error)

	// Present executes an instructor's command and returns the resulting view, whose contents have
	// been saved. It checks the secret each time. If Present returns a [*terms.Refusal], nothing
	// has changed.
	Present(ctx context.Context, who string, secret Secret, cmd Form) (*View, error)

	// Summary returns the summary of the class for its instructor.
	Summary(ctx context.Context, secret Secret) (*Summary, error)

	// ReplayKey returns the key that gives access to the replay of a class, even after the class
	// has ended. It is derived from the instructor's secret; the secret cannot be derived from the
	// key.
	ReplayKey() string

	// WorkKey returns the key that opens the class's assignment, even after the class has ended.
	// Like [Room.ReplayKey], it does not reveal the secret.
	WorkKey() string

	// Assignment returns the class's assignment and the results that a learner has handed in.
	Assignment(ctx context.Context, learner string) (Assignment, error)

	// HandIn saves a learner's results, replacing earlier ones. A learner who has the assignment's
	// key becomes a member, unless the room is locked or a limit for joining has been reached; see
	// [room.Hub.Assigned]. The name is used only if members are asked for one.
	//
	// Errors: [ErrRemoved], [ErrLocked], [ErrFull], [CodeNick], [CodeAsk] if nothing is assigned,
	// [ErrKept].
	HandIn(ctx context.Context, who admission.Caller, name string, w Work) error
}
