package records

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/journal"
)

// Entry is a record to append to the room's log, together with its subject.
type Entry struct {
	journal.Record
	About string      // the subject
	Vote  *VoteRecord // set for votes
}

// Entry makes a record about a subject. For each subject, only the newest record counts.
func (b *Book) Entry(kind, about string, value any) Entry {
	b.Last++
	return New(kind, strconv.Itoa(b.Last), about, value)
}

// New makes a record of the given type about a subject. If value cannot be encoded, the record has
// no data and must not be appended.
func New(kind, id, about string, value any) Entry {
	data, err := json.Marshal(value)
	if err != nil {
		data = nil
	}
	return Entry{Record: journal.Record{Type: kind, ID: id, Data: data}, About: about}
}

// Subject returns the subject of records about one member, poll or question.
func Subject(kind string, id int) string { return fmt.Sprint(kind, " ", id) }

// VoteEntry makes a record of a vote. The same vote always produces the same record.
func VoteEntry(at polls.Round, member int, v polls.Vote) Entry {
	x := VoteRecord{at.Poll, at.N, member, v}
	e := New(TypeVote, x.id(v.N), TypeVote, x)
	e.Vote = &x
	return e
}

// Withdrawal makes a record that cancels a vote.
func (b *Book) Withdrawal(at polls.Round, member int) Entry {
	x := VoteRecord{Poll: at.Poll, Round: at.N, Member: member}
	e := b.Entry(TypeWithdrawn, TypeVote, x)
	e.Vote = &x
	return e
}
