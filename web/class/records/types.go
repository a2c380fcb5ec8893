package records

import (
	"fmt"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
)

// The types of records in a room's log. Except for votes, a record's id is the number of the
// change, and for each subject only the newest record counts.
const (
	TypeBegun     = "begun"     // the room was created
	TypeData      = "data"      // title, flags, walkthrough step: Data
	TypeStage     = "stage"     // the text on the stage
	TypeSeq       = "seq"       // approximately the number of the newest view
	TypeText      = "text"      // a text that has left the stage: class.Text
	TypeMember    = "member"    // a member
	TypeName      = "name"      // a nickname; "" removes it
	TypePoll      = "poll"      // a poll: polls.Poll
	TypeVote      = "vote"      // a vote; its id contains the vote's number, and the highest number counts
	TypeWithdrawn = "withdrawn" // cancels a vote
	TypeRaised    = "question"  // a question of a member to the instructor
	TypeSecret    = "secret"    // in a cluster: the hash of the instructor's secret
)

// The data of records, except for [Data] and the types of other packages.
type (
	// Begun is the data of a record of type [TypeBegun].
	Begun struct {
		At time.Time `json:"at"`
	}
	// Stage is the data of a record of type [TypeStage]: the link of the text on the stage.
	Stage struct {
		Link string `json:"link"`
	}
	// Seq is the data of a record of type [TypeSeq].
	Seq struct {
		Seq uint64 `json:"seq"`
	}
	textRecord class.Text
	pollRecord struct{ polls.Poll }
	// MemberRecord is the data of a record of type [TypeMember].
	MemberRecord struct {
		Member   int         `json:"member"`
		Learner  string      `json:"learner"`
		Nameless bool        `json:"nameless,omitempty"` // the instructor removed the name
		Removed  bool        `json:"removed,omitempty"`
		Work     *class.Work `json:"work,omitempty"` // the results that the member handed in
	}
	// NameRecord is the data of a record of type [TypeName].
	NameRecord struct {
		Member int    `json:"member"`
		Name   string `json:"name"`
	}
	// VoteRecord is the data of a record of type [TypeVote] or [TypeWithdrawn].
	VoteRecord struct {
		Poll   int `json:"poll"`
		Round  int `json:"round"`
		Member int `json:"member"`
		polls.Vote
	}
)

func (v VoteRecord) at() polls.Round { return polls.Round{Poll: v.Poll, N: v.Round} }

// id returns the id of the record that contains a member's vote with number n in a round.
func (v VoteRecord) id(n int64) string {
	return fmt.Sprintf("%d.%d.%d.%d", v.Poll, v.Round, v.Member, n)
}

// Epoch is the data of a record of type [EpochType].
type Epoch struct {
	Epoch uint64 `json:"epoch"`
}

// EpochType is the type of the record that each new owner appends first. The record's id is a
// number that increases with each owner.
const EpochType = "epoch"
