package room

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/journal"
)

// The types of records in a room's log. Except for votes, a record's id is the number of the
// change, and for each subject only the newest record counts.
const (
	typeBegun     = "begun"     // the room was created
	typeData      = "data"      // title, flags, walkthrough step: roomData
	typeStage     = "stage"     // the text on the stage
	typeSeq       = "seq"       // approximately the number of the newest view
	typeText      = "text"      // a text that has left the stage: Text
	typeMember    = "member"    // a member
	typeName      = "name"      // a nickname; "" removes it
	typePoll      = "poll"      // a poll: poll
	typeVote      = "vote"      // a vote; its id contains the vote's number, and the highest number counts
	typeWithdrawn = "withdrawn" // cancels a vote
	typeSecret    = "secret"    // in a cluster: the hash of the instructor's secret
)

// The types of record data. Records of other types contain one of the room's own types.
type (
	begunRecord struct {
		At time.Time `json:"at"`
	}
	stageRecord struct {
		Link string `json:"link"`
	}
	seqRecord struct {
		Seq uint64 `json:"seq"`
	}
	textRecord   class.Text
	pollRecord   struct{ polls.Poll }
	memberRecord struct {
		Member   int         `json:"member"`
		Learner  string      `json:"learner"`
		Nameless bool        `json:"nameless,omitempty"` // the instructor removed the name
		Removed  bool        `json:"removed,omitempty"`
		Work     *class.Work `json:"work,omitempty"` // the results that the member handed in
	}
	nameRecord struct {
		Member int    `json:"member"`
		Name   string `json:"name"`
	}
	voteRecord struct {
		Poll   int `json:"poll"`
		Round  int `json:"round"`
		Member int `json:"member"`
		polls.Vote
	}
)

func (v voteRecord) at() polls.Round { return polls.Round{Poll: v.Poll, N: v.Round} }

// id returns the id of the record that contains a member's vote with number n in a round.
func (v voteRecord) id(n int64) string {
	return fmt.Sprintf("%d.%d.%d.%d", v.Poll, v.Round, v.Member, n)
}

// roomState is the state that a room's log is folded into.
type roomState struct {
	Begun   time.Time      `json:"begun"`
	Data    roomData       `json:"data"`
	Link    string         `json:"link"`
	Seq     uint64         `json:"seq"`
	Texts   []class.Text   `json:"texts"`
	Members []*memberState `json:"members"` // by ID − 1; nil if never saved
	Polls   []*polls.Poll  `json:"polls"`   // by ID − 1; nil if never saved
	Votes   polls.Votes    `json:"votes"`
	Book    book           `json:"book"`
	Epoch   uint64         `json:"epoch,omitempty"` // in a cluster: the epoch of the newest owner
}

type memberState struct {
	Learner  string      `json:"learner"`
	Name     string      `json:"name"`
	Nameless bool        `json:"nameless"`
	Removed  bool        `json:"removed"`
	Work     *class.Work `json:"work,omitempty"`
}

// book tracks which records are current, so that the others can be deleted.
type book struct {
	Last   int               `json:"last"`   // number of the newest change
	Newest map[string]string `json:"newest"` // ids of the current records, by subject, except for votes
	Waste  []journal.Key     `json:"waste"`  // superseded records
}

// note registers the newest record about a subject, which supersedes the previous one.
func (b *book) note(about string, k journal.Key) {
	b.number(k)
	if k.Type == typeBegun || k.Type == typeText { // these are never superseded
		return
	}
	if old, known := b.Newest[about]; known {
		b.Waste = append(b.Waste, journal.Key{Type: k.Type, ID: old})
	}
	b.Newest[about] = k.ID
}

// number registers the number of a change, so that later changes get higher numbers.
func (b *book) number(k journal.Key) {
	if n, err := strconv.Atoi(k.ID); err == nil {
		b.Last = max(b.Last, n)
	}
}

// vote counts a saved vote, or applies a withdrawal.
func (b *book) vote(all polls.Votes, k journal.Key, x voteRecord) {
	old, voted := all[x.at()][x.Member]
	before := journal.Key{Type: typeVote, ID: x.id(old.N)}
	if k.Type == typeWithdrawn {
		b.number(k)
		if all.Withdraw(x.at(), x.Member); voted {
			b.Waste = append(b.Waste, before)
		}
		b.Waste = append(b.Waste, k) // deleted together, because deleting only one would change the result
	} else if !all.Count(x.at(), x.Member, x.Vote) {
		b.Waste = append(b.Waste, k)
	} else if voted {
		b.Waste = append(b.Waste, before)
	}
}

// owes reports whether any superseded record identifies a person.
func (b *book) owes() bool {
	return slices.ContainsFunc(b.Waste, func(k journal.Key) bool { return k.Type == typeName || k.Type == typeMember })
}

// folding defines how a room's log is folded.
var folding = journal.Fold[roomState]{
	Version: "2",
	Begin:   func() *roomState { return &roomState{Votes: polls.Votes{}, Book: book{Newest: map[string]string{}}} },
	Add: func(k *roomState, r journal.Record) bool { // a damaged record does not affect the others
		if r.Type == typeVote || r.Type == typeWithdrawn {
			return (r.Type == typeVote || numbered(r.ID)) &&
				read(r, func(x voteRecord) { k.Book.vote(k.Votes, r.Key(), x) })
		}
		about, ok := k.add(r)
		if ok {
			k.Book.note(about, r.Key())
		}
		return ok
	},
	Waste: func(k *roomState) *[]journal.Key { return &k.Book.Waste },
}

// add applies a record, and returns its subject. ok is false if the record is invalid.
func (k *roomState) add(r journal.Record) (about string, ok bool) {
	if !numbered(r.ID) {
		return r.Type, false
	}
	switch about = r.Type; r.Type {
	case typeBegun:
		return about, read(r, func(x begunRecord) { k.Begun = x.At })
	case typeData:
		return about, read(r, func(x roomData) { k.Data = x })
	case typeStage:
		return about, read(r, func(x stageRecord) { k.Link = x.Link })
	case EpochType:
		return about, read(r, func(x epochRecord) { k.Epoch = max(k.Epoch, x.Epoch) })
	case typeSeq:
		return about, read(r, func(x seqRecord) { k.Seq = x.Seq })
	case typeSecret: // SecretIn reads it
		return about, read(r, func(secretRecord) {})
	case typeText:
		return about, len(k.Texts) < maxTexts && read(r,
			func(x textRecord) { k.Texts = append(k.Texts, class.Text(x)) })
	case typeMember, typeName, typePoll:
		return k.addNumbered(r)
	}
	return about, false
}

// addNumbered applies a record about one member or poll.
func (k *roomState) addNumbered(r journal.Record) (about string, ok bool) {
	id := 0
	switch r.Type {
	case typeMember:
		ok = read(r, func(x memberRecord) {
			id = x.Member
			m := place(&k.Members, id)
			name := ""
			if *m != nil {
				name = (*m).Name
			}
			*m = &memberState{x.Learner, name, x.Nameless, x.Removed, x.Work}
		})
	case typeName:
		ok = read(r, func(x nameRecord) {
			id = x.Member
			m := place(&k.Members, id)
			if *m == nil { // the member's older record was compacted, and a newer one follows
				*m = &memberState{}
			}
			(*m).Name = x.Name
		})
	case typePoll:
		ok = read(r, func(x pollRecord) {
			id = x.ID
			*place(&k.Polls, id) = &x.Poll
		})
	}
	return aboutOne(r.Type, id), ok
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
