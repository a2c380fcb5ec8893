package loop

import (
	"fmt"
	"slices"

	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// Branches is the tree of a run's branches. A stretch that several of them share is listed once,
// and each branch continues where it diverges.
type Branches struct {
	Say  string // "3 branches"; "" if there is only one
	List []BranchNode
}

// BranchNode is a stretch of text and the branches that follow it.
type BranchNode struct {
	From  string     // where the stretch begins, such as "token 9"
	Text  stage.Text // its tokens, shortened in the middle
	Lines []BranchLine
	Parts []BranchNode
}

// BranchLine is a branch that ends at its node.
type BranchLine struct {
	Name    string // "branch 2"
	Tokens  string // "14 tokens"
	Current bool
	Cmd     string // switches to it; "" for the current one
}

func newBranches(w stage.Words, s *session.State) Branches {
	if len(s.Branches) < 2 {
		return Branches{}
	}
	v := Branches{Say: w.T("loop.branches", "n", len(s.Branches))}
	v.List = branchNodes(w, s, s.Branches, 0)
	return v
}

// branchNodes groups lines by their tokens at the index from. They share all tokens before it.
func branchNodes(w stage.Words, s *session.State, lines []session.Branch, from int) []BranchNode {
	var nodes []BranchNode
	var order []int
	groups := map[int][]session.Branch{}
	for _, b := range lines {
		next := -1 // the line ends here
		if len(b.Chosen) > from {
			next = b.Chosen[from]
		}
		if _, ok := groups[next]; !ok {
			order = append(order, next)
		}
		groups[next] = append(groups[next], b)
	}
	for _, next := range order {
		group := groups[next]
		to := from
		if next >= 0 {
			to = sharedTo(group, from)
		}
		nodes = append(nodes, branchNode(w, s, group, from, to))
	}
	return nodes
}

// sharedTo returns the number of leading tokens that all lines share.
func sharedTo(lines []session.Branch, from int) int {
	to := len(lines[0].Chosen)
	for _, b := range lines[1:] {
		n := from
		for n < to && n < len(b.Chosen) && b.Chosen[n] == lines[0].Chosen[n] {
			n++
		}
		to = n
	}
	return to
}

func branchNode(w stage.Words, s *session.State, group []session.Branch, from, to int) BranchNode {
	n := BranchNode{From: w.T("strip.token", "n", stage.Position(s, from+1))}
	n.Text = stretch(w, s, group[0].Chosen[from:to])
	var on []session.Branch
	for _, b := range group {
		if len(b.Chosen) == to {
			n.Lines = append(n.Lines, branchLine(w, b))
		} else {
			on = append(on, b)
		}
	}
	if len(on) > 0 {
		n.Parts = branchNodes(w, s, on, to)
	}
	return n
}

// shortWords is the length, in tokens, of the longest stretch that is shown in full. Of longer
// ones, only endWords tokens at each end are shown.
const shortWords, endWords = 7, 3

// stretch returns the text of the tokens, shortened in the middle.
func stretch(w stage.Words, s *session.State, ids []int) stage.Text {
	words := func(ids []int) (t stage.Text) {
		for _, id := range ids {
			t = append(t, stage.TokenText(s.Model.Token(id))...)
		}
		return t
	}
	switch n := len(ids); {
	case n == 0:
		return stage.Text{{S: w.T("strip.none"), Mark: true}}
	case n > shortWords:
		return slices.Concat(words(ids[:endWords]), stage.Text{{S: " … ", Mark: true}}, words(ids[n-endWords:]))
	}
	return words(ids)
}

func branchLine(w stage.Words, b session.Branch) BranchLine {
	l := BranchLine{
		Name: w.T("loop.branch", "n", b.ID), Tokens: w.Counted(len(b.Chosen), "token"), Current: b.Current,
	}
	if !b.Current {
		l.Cmd = fmt.Sprintf(`{"cmd":"branch","id":%d}`, b.ID)
	}
	return l
}
