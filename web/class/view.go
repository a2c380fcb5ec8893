package class

import (
	"sync"
	"time"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/session"
)

// View is what a room looks like at one moment, to all of its followers alike.
// It is immutable and may be kept.
type View struct {
	// Seq grows with every change, across restarts too.
	Seq uint64
	// At is when the view was made, by the hub's clock.
	At time.Time
	// Code is the room's; Title what the instructor calls the class.
	Code, Title string
	// State is the run as everybody sees it; nil while nobody is there and the run is
	// suspended.
	State *session.State `json:"-"`
	// Hidden says that the stage must not show probabilities or the token
	// drawn: a poll asks for them.
	Hidden bool
	// Offer is set if the instructor asked for a poll at a position that is not open.
	Offer *Offer
	// Walk is the place in the walkthrough, nil where the room has none.
	Walk *WalkView `json:"-"`
	// Poll is the poll on the stage, nil where there is none.
	Poll *Poll
	// Here counts the members whose page is open, Members all of them.
	Here, Members int
	// Timer is when the countdown ends; zero where none is shown.
	Timer time.Time

	Nicknames, NamesHidden, Locked, Alone, Ended, Gone bool
	// NamesFall says that names are shown to everybody where numbers fell, see [Poll.Falls].
	NamesFall bool
	// End is what the class has done, nil until it has ended.
	End *Ending
	// Leading counts the open pages of the one who presents.
	Leading int
	// Notice is something that happened to the room by itself, as a sentence
	// for the instructor.
	Notice string

	epoch  uint64 // of the owner, in a cluster
	link   func() string
	shared sync.Map
}

// Link is the session link of State, "" where there is none.
func (v *View) Link() string {
	if v.link == nil {
		return ""
	}
	return v.link()
}

// Shared returns what the first call of make for this key on this view returned, so
// that one encoding serves all followers. The result must depend on the view and the
// key alone.
func (v *View) Shared(key string, make func() any) any {
	once, ok := v.shared.Load(key)
	if !ok {
		once, _ = v.shared.LoadOrStore(key, sync.OnceValue(make))
	}
	return once.(func() any)()
}

// Offer is what to say, and to do, about a poll at a position that is not open.
type Offer struct {
	Draw    bool    // the class was to draw, not to vote
	Choices int     // of a vote
	Share   float64 // the largest probability after the filters; 0 if that is not the reason
}

// Ending is what a class that has ended did together.
type Ending struct {
	Asked, Votes int // questions, and the votes in all their rounds
	Texts        int
	Replay       string // the key of the replay, see [Room.ReplayKey]
}

// WalkView is the place in a walkthrough.
type WalkView struct {
	Walk *lessons.Walk
	Step int  // the step shown, from 1; 0 before the first
	Left bool // the presenter has continued without the script
}

// At is the step shown, nil before the first.
func (w *WalkView) At() *lessons.WalkStep {
	if w.Step < 1 || w.Step > len(w.Walk.Steps) {
		return nil
	}
	return w.Walk.Steps[w.Step-1]
}

// Next is the step after the one shown, nil at the end.
func (w *WalkView) Next() *lessons.WalkStep {
	if w.Step >= len(w.Walk.Steps) {
		return nil
	}
	return w.Walk.Steps[w.Step]
}

// Kind is what a poll asks for.
type Kind string

// The kinds of polls.
const (
	Next     Kind = "next"     // which token comes next
	Draw     Kind = "draw"     // one u a member
	Question Kind = "question" // a question of the quiz
	Number   Kind = "number"   // a number
)

// Phase is how far a poll is.
type Phase string

// The phases, in their order.
const (
	Open     Phase = "open"     // votes are taken and can be changed; draws grow
	Closed   Phase = "closed"   // no more votes, and nothing shown yet
	Spread   Phase = "spread"   // how the class voted
	Revealed Phase = "revealed" // what is right, and the model's probabilities
)

// Poll is a poll as everybody may see it in its phase: counts are 0 and P, Q,
// Right and Drawn unset until they are shown.
type Poll struct {
	ID     string // names it, and its round, in a vote
	Kind   Kind
	Phase  Phase
	Round  int       // 1, or more after a re-vote
	Prompt string    // HTML
	Unit   string    // of a number
	Ends   time.Time // when it closes by itself; zero where it does not
	Step   int       // the generated token that it asks for: next and draw

	// Options are what can be voted for, in the order in which they are shown
	// (shuffled, of next tokens). Of a draw they are the tokens that the filters
	// keep, the most probable first, and one for all others together. Of a number they are the
	// answers given most, once shown.
	Options []Option
	Votes   int // members who have voted in this round

	// Before holds the counts of the round before by option, nil in round 1.
	Before []int
	// Answer is what to say after the right choice, or of a recall question its
	// answer and rubric, as HTML; Right the right number.
	Answer string
	Right  *float64
	// Falls are the numbers drawn, in the order of the members, if the instructor has chosen
	// to show them to everybody.
	Falls []Fall
	// Median of the numbers given, nil where there are none or before they are shown.
	Median *float64
}

// Fall is where the number of one member fell in a draw.
type Fall struct {
	Member
	U float64
}

// Option is something to vote for.
type Option struct {
	Key    string // names it in a vote: a token's id, a choice's number, "yes"
	Letter string // A, B, …
	Text   string // plain
	HTML   string // of a question's choice
	Token  bool   // Text is a token's, to be drawn with its space

	Count int
	P, Q  float64 // probability after the temperature, and after the filters
	Right bool    // the right choice; of tokens none: a draw has no right answer
	Why   string  // HTML: why it is right or wrong
	Rest  bool    // all others together; cannot be voted for
}

// Ballot is a vote as it is sent.
type Ballot struct {
	Poll   string
	Choice string // an option's key, the number as typed; anything for a draw
	// N is the sender's number of this vote: the highest counts, so one that is
	// sent again or overtaken changes nothing. 0 is the server's clock in
	// milliseconds, which numbers may continue from.
	N int64
	// Sure is how sure the member says they are, above 0 up to 1; 0 is not said.
	Sure float64
}

// Receipt says which vote of a member counts. That vote is on the disk.
type Receipt struct {
	Poll   string
	Round  int
	Choice string  // key of the option, or the number
	Text   string  // how that reads
	U      float64 // of a draw
	Sure   float64
	N      int64
}

// Member is a follower.
type Member struct {
	ID   int    // within the room, from 1
	Name string // the nickname, "" without one
}

// Standing is what one member sees in addition to the [View].
type Standing struct {
	Member
	Vote *Receipt // in the current poll's round; nil without one
}

// Attendee is a member as the instructor sees them.
type Attendee struct {
	Member
	Here  bool
	Voted string // how their vote in the current round reads, "" without one
}
