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
	// NamesFall means that everyone sees members' names next to the numbers that they drew; see
	// [Poll.Falls].
	NamesFall bool
	// End summarizes the class. It is nil until the class has ended.
	End *Ending
	// Leading is the number of pages that the presenter has open.
	Leading int
	// Notice tells the instructor about a problem with the room. It is nil if there is none.
	Notice *terms.Refusal `json:"-"`

	epoch  uint64 // in a cluster: the owner's epoch
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

// Kind is the kind of a poll.
type Kind string

// The kinds of polls.
const (
	Next     Kind = "next"     // which token comes next
	Draw     Kind = "draw"     // one u per member
	Question Kind = "question" // a question of the quiz
	Number   Kind = "number"   // a number
)

// Phase is the phase of a poll.
type Phase string

// The phases, in order.
const (
	Open     Phase = "open"     // votes are accepted and can be changed; draws accumulate
	Closed   Phase = "closed"   // no more votes, but no results yet
	Spread   Phase = "spread"   // the votes of the class are shown
	Revealed Phase = "revealed" // the right answer and the model's probabilities are shown
)

// Poll is a poll as everyone sees it in its phase. Until the phase reveals them, counts are 0, and
// P, Q and Right are unset.
type Poll struct {
	ID     string // in a vote, identifies the poll and its round
	Kind   Kind
	Phase  Phase
	Round  int       // 1, or more after a re-vote
	Prompt string    // HTML
	Unit   string    // of the answer, if it is a number
	Ends   time.Time // when it closes automatically; zero if it does not
	Step   int       // for Next and Draw: the step of the token in question

	// Options are the options to vote for, in display order (shuffled for next tokens). For a draw,
	// they are the tokens that the filters keep, the most probable first, with a single option for
	// all that do not fit. For a number, they are the most frequent answers once those are shown.
	Options []Option
	Votes   int // members who have voted in this round

	// Before holds the counts of the previous round, by option. It is nil in round 1.
	Before []int
	// Answer is HTML: the explanation of the right choice or, for a recall question, its
	// answer and rubric. Right is the right number.
	Answer string
	Right  *float64
	// Falls are the numbers drawn, in the order of the members, if the instructor chose to
	// show them to everyone.
	Falls []Fall
	// Median is the median of the answers, or nil if there are none or they are not shown
	// yet.
	Median *float64
}

// Fall is the number that one member drew.
type Fall struct {
	Member
	U float64
}

// Option is an option of a poll.
type Option struct {
	Key    string // in a vote, identifies the option: a token's id, a choice's letter, "yes"
	Letter string // A, B, …
	Text   string // plain text
	HTML   string // set for a question's choice
	Token  bool   // Text is a token, whose spaces must be shown

	Count int
	P, Q  float64 // probability after the temperature, and after the filters
	Right bool    // the right choice; never set for tokens, since a draw has no right answer
	Why   string  // HTML: why it is right or wrong
	Rest  bool    // represents all other tokens; cannot be voted for
}

// Ballot is a vote as sent by a client.
type Ballot struct {
	Poll   string
	Choice string // an option's key, the number as typed; anything for a draw
	// N is the number that the sender gives this vote. The vote with the highest number counts, so
	// resent and late votes have no effect. 0 means the server's time in milliseconds; later votes
	// can continue numbering from there.
	N int64
	// Sure is the member's stated confidence, above 0 and at most 1, or 0 if they gave none.
	Sure float64
}

// Receipt reports which vote of a member counts. That vote has been saved.
type Receipt struct {
	Poll   string
	Round  int
	Choice string  // key of the option, or the number
	Text   string  // Choice as text
	U      float64 // for a draw
	Sure   float64
	N      int64
}

// Member is a follower.
type Member struct {
	ID   int    // within the room, starting at 1
	Name string // the nickname, "" without one
}

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
