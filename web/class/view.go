package class

import (
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/session"
)

// View is the state of a room at one point in time. It is the same for all followers, immutable,
// and can be retained.
type View struct {
	// Seq increases with every change, even across restarts.
	Seq uint64
	// At is the time at which the view was created, by the hub's clock.
	At time.Time
	// Code is the room's code; Title is the instructor's name for the class. Language is the tag of
	// the language of its script and questions, or "" for English.
	Code, Title, Language string
	// State is the run as everyone sees it, or nil while the run is suspended because nobody is
	// watching.
	State *session.State `json:"-"`
	// Hidden means that the stage must not show probabilities or the drawn token, because a poll
	// asks about them.
	Hidden bool
	// Offer is set if the instructor asked for a poll at a position that is not open.
	Offer *Offer
	// Walk is the position in the walkthrough, or nil if the room has none.
	Walk *WalkView `json:"-"`
	// Poll is the poll on the stage, or nil.
	Poll *Poll
	// Here is the number of members with an open page; Members is the number of all members.
	Here, Members int
	// Timer is the time at which the countdown ends; zero if there is none.
	Timer time.Time

	Nicknames, NamesHidden, Locked, Alone, Ended, Gone bool
	// Quiet means that members cannot ask questions.
	Quiet bool
	// Wall are the members' questions that the instructor shows, in order.
	Wall []OnWall
	// Raised is the number of a view since which the members' questions have not changed; 0 means
	// that there are none.
	Raised uint64
	// NamesFall means that everyone sees members' names next to the numbers that they drew; see
	// [Poll.Falls].
	NamesFall bool
	// End summarizes the class. It is nil until the class has ended.
	End *Ending
	// Leading is the number of pages that the presenter has open.
	Leading int
	// Notice tells the instructor about a problem with the room. It is nil if there is none.
	Notice *terms.Refusal `json:"-"`

	// Epoch is the number of the owner that published the view. It is 0 outside a cluster.
	Epoch uint64 `json:"-"`

	link   func() string
	shared sync.Map
}

// Link returns the session link of State, or "".
func (v *View) Link() string {
	if v.link == nil {
		return ""
	}
	return v.link()
}

// SetLink sets the function that returns [View.Link]. It must be called before others get the view.
func (v *View) SetLink(link func() string) { v.link = link }

// Shared calls make the first time that a key is used with this view, and returns the same result
// from then on, so that all followers share one encoding. The result must depend only on the view
// and the key.
func (v *View) Shared(key string, make func() any) any {
	once, ok := v.shared.Load(key)
	if !ok {
		once, _ = v.shared.LoadOrStore(key, sync.OnceValue(make))
	}
	return once.(func() any)()
}

// Offer is an offer to an instructor who has asked for a poll at a position that is not
// open.
type Offer struct {
	Draw    bool    // the instructor asked for a draw, not a vote
	Choices int     // number of options in a vote
	Share   float64 // the largest probability after the filters, if that is the reason; otherwise 0
}

// Ending is a summary of a class for all its members.
type Ending struct {
	Asked, Votes int // questions, and the votes in all their rounds
	Texts        int
	Replay       string // the key of the replay, see [Room.ReplayKey]
}

// WalkView is the position in a walkthrough.
type WalkView struct {
	Walk *lessons.Walk
	Step int  // the current step, starting at 1; 0 before the first
	Left bool // the presenter has continued without the script
}

// At returns the current step, or nil before the first.
func (w *WalkView) At() *lessons.WalkStep {
	if w.Step < 1 || w.Step > len(w.Walk.Steps) {
		return nil
	}
	return w.Walk.Steps[w.Step-1]
}

// Next returns the step after the current one, or nil at the end.
func (w *WalkView) Next() *lessons.WalkStep {
	if w.Step >= len(w.Walk.Steps) {
		return nil
	}
	return w.Walk.Steps[w.Step]
}

// After reports whether v is newer than x.
func (v *View) After(x *View) bool { return v.Epoch > x.Epoch || v.Epoch == x.Epoch && v.Seq > x.Seq }

// Standing is the data that only one member sees, in addition to the [View].
type Standing struct {
	Member
	Vote *Receipt // in the current poll's round; nil without one
}

// Attendee is a member as the instructor sees them.
type Attendee struct {
	Member
	Here  bool
	Voted string // their vote in the current round as text, "" if they have not voted
}
