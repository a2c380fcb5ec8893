package class

import "time"

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
