package polls

import (
	"strconv"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// Vote is the vote of one member in a round.
type Vote struct {
	Choice string  `json:"choice,omitempty"`
	U      float64 `json:"u,omitempty"`    // of a draw
	Sure   float64 `json:"sure,omitempty"` // 0 if the voter gave no confidence
	N      int64   `json:"n,omitempty"`    // the vote's number, chosen by the client
}

// Votes holds the votes of all rounds, by round and by the member's ID.
type Votes map[Round]map[int]Vote

// Count counts a vote unless the member already has one with an equal or higher number. It
// reports whether the vote was counted.
func (all Votes) Count(at Round, member int, v Vote) bool {
	if all[at] == nil {
		all[at] = map[int]Vote{}
	}
	if old, ok := all[at][member]; ok && v.N <= old.N {
		return false
	}
	all[at][member] = v
	return true
}

// Withdraw removes a vote.
func (all Votes) Withdraw(at Round, member int) {
	if delete(all[at], member); len(all[at]) == 0 {
		delete(all, at)
	}
}

// counts returns the number of votes for each option.
func (p *Poll) counts(votes map[int]Vote) []int {
	n := make([]int, len(p.Options))
	for _, v := range votes {
		if i := p.option(v.Choice); i >= 0 {
			n[i]++
		}
	}
	return n
}

// Majority returns the choice with the most votes. If several are tied, it returns the one
// that the model finds most probable.
func (p *Poll) Majority(votes map[int]Vote, st *session.State) (string, error) {
	counts := map[string]int{}
	for _, v := range votes {
		counts[v.Choice]++
	}
	d := Distribution(st, p.Step)
	if d == nil {
		return "", terms.Refuse(class.CodeClosed, "class.refused.vote_gone")
	}
	best, rank := "", 0
	for choice, n := range counts {
		r := d.RankOf(int32(TokenID(choice)))
		if best == "" || n > counts[best] || n == counts[best] && r < rank {
			best, rank = choice, r
		}
	}
	if best == "" {
		return "", terms.Refuse(class.CodeNoPoll, "class.refused.no_votes")
	}
	return best, nil
}

// TokenID returns the id of the token that a vote is for.
func TokenID(choice string) int {
	n, _ := strconv.Atoi(choice) // cannot fail: this package created the string
	return n
}
