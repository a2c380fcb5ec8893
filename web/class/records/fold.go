package records

import (
	"encoding/json"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/journal"
)

// State is the state that a room's log is folded into.
type State struct {
	Begun   time.Time     `json:"begun"`
	Data    Data          `json:"data"`
	Link    string        `json:"link"`
	Seq     uint64        `json:"seq"`
	Texts   []class.Text  `json:"texts"`
	Members []*Member     `json:"members"` // by ID − 1; nil if never saved
	Polls   []*polls.Poll `json:"polls"`   // by ID − 1; nil if never saved
	Votes   polls.Votes   `json:"votes"`
	Book    Book          `json:"book"`
	Raised  []*Raised     `json:"raised,omitempty"` // by ID − 1; nil if never saved
	Epoch   uint64        `json:"epoch,omitempty"`  // in a cluster: the epoch of the newest owner
}

// Member is the saved part of a member.
type Member struct {
	Learner  string      `json:"learner"`
	Name     string      `json:"name"`
	Nameless bool        `json:"nameless"`
	Removed  bool        `json:"removed"`
	Work     *class.Work `json:"work,omitempty"`
}

// Folding defines how a room's log is folded.
var Folding = journal.Fold[State]{
	Version: "2",
	Begin:   func() *State { return &State{Votes: polls.Votes{}, Book: Book{Newest: map[string]string{}}} },
	Add: func(k *State, r journal.Record) bool { // a damaged record does not affect the others
		if r.Type == TypeVote || r.Type == TypeWithdrawn {
			return (r.Type == TypeVote || numbered(r.ID)) &&
				read(r, func(x VoteRecord) { k.Book.Vote(k.Votes, r.Key(), x) })
		}
		about, ok := k.add(r)
		if ok {
			k.Book.Note(about, r.Key())
		}
		return ok
	},
	Waste: func(k *State) *[]journal.Key { return &k.Book.Waste },
}

// add applies a record, and returns its subject. ok is false if the record is invalid.
func (k *State) add(r journal.Record) (about string, ok bool) {
	if !numbered(r.ID) {
		return r.Type, false
	}
	switch about = r.Type; r.Type {
	case TypeBegun:
		return about, read(r, func(x Begun) { k.Begun = x.At })
	case TypeData:
		return about, read(r, func(x Data) { k.Data = x })
	case TypeStage:
		return about, read(r, func(x Stage) { k.Link = x.Link })
	case EpochType:
		return about, read(r, func(x Epoch) { k.Epoch = max(k.Epoch, x.Epoch) })
	case TypeSeq:
		return about, read(r, func(x Seq) { k.Seq = x.Seq })
	case TypeSecret: // SecretIn reads it
		return about, read(r, func(secretRecord) {})
	case TypeText:
		return about, len(k.Texts) < MaxTexts && read(r,
			func(x textRecord) { k.Texts = append(k.Texts, class.Text(x)) })
	case TypeMember, TypeName, TypePoll, TypeRaised:
		return k.addNumbered(r)
	}
	return about, false
}

// addNumbered applies a record about one member, poll or question.
func (k *State) addNumbered(r journal.Record) (about string, ok bool) {
	id := 0
	switch r.Type {
	case TypeMember:
		ok = read(r, func(x MemberRecord) {
			id = x.Member
			m := place(&k.Members, id)
			name := ""
			if *m != nil {
				name = (*m).Name
			}
			*m = &Member{x.Learner, name, x.Nameless, x.Removed, x.Work}
		})
	case TypeName:
		ok = read(r, func(x NameRecord) {
			id = x.Member
			m := place(&k.Members, id)
			if *m == nil { // the member's older record was compacted, and a newer one follows
				*m = &Member{}
			}
			(*m).Name = x.Name
		})
	case TypePoll:
		ok = read(r, func(x pollRecord) {
			id = x.ID
			*place(&k.Polls, id) = &x.Poll
		})
	case TypeRaised:
		ok = read(r, func(x Raised) {
			id = x.ID
			*place(&k.Raised, id) = &x
		})
	}
	return Subject(r.Type, id), ok
}

// place returns a pointer to the entry with the given number, starting at 1. It extends the
// list if necessary. The caller must have checked the number.
func place[T any](list *[]*T, id int) **T {
	for len(*list) < id {
		*list = append(*list, nil)
	}
	return &(*list)[id-1]
}

// checked is implemented by record data that can validate itself.
type checked interface{ check() bool }

// read decodes a record's data, passes it to add if it is valid, and reports whether it is.
func read[T checked](r journal.Record, add func(T)) bool {
	var x T
	if json.Unmarshal(r.Data, &x) != nil || !x.check() {
		return false
	}
	add(x)
	return true
}
