package records

import (
	"slices"
	"strconv"

	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/journal"
)

// Book tracks which records are current, so that the others can be deleted.
type Book struct {
	Last   int               `json:"last"`   // number of the newest change
	Newest map[string]string `json:"newest"` // ids of the current records, by subject, except for votes
	Waste  []journal.Key     `json:"waste"`  // superseded records
}

// Note registers the newest record about a subject, which supersedes the previous one.
func (b *Book) Note(about string, k journal.Key) {
	b.number(k)
	if k.Type == TypeBegun || k.Type == TypeText { // these are never superseded
		return
	}
	if old, known := b.Newest[about]; known {
		b.Waste = append(b.Waste, journal.Key{Type: k.Type, ID: old})
	}
	b.Newest[about] = k.ID
}

// number registers the number of a change, so that later changes get higher numbers.
func (b *Book) number(k journal.Key) {
	if n, err := strconv.Atoi(k.ID); err == nil {
		b.Last = max(b.Last, n)
	}
}

// Vote counts a saved vote, or applies a withdrawal.
func (b *Book) Vote(all polls.Votes, k journal.Key, x VoteRecord) {
	old, voted := all[x.at()][x.Member]
	before := journal.Key{Type: TypeVote, ID: x.id(old.N)}
	if k.Type == TypeWithdrawn {
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

// OwesErasure reports whether any superseded record identifies a person, or might contain a question
// that was erased.
func (b *Book) OwesErasure() bool {
	return slices.ContainsFunc(b.Waste, func(k journal.Key) bool {
		return k.Type == TypeName || k.Type == TypeMember || k.Type == TypeRaised
	})
}
