package loop

import (
	"fmt"

	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// Branched means that the text has just become a branch of an earlier one, and after which
// token. It is shown until the branch continues.
type Branched struct {
	From stage.Text // the last shared token; empty for none
	Undo string     // the command that returns to the other text
}

// newBranched returns the branch that has just begun, if there is one: the newest branch,
// while it has at most one token more than it shares with the text it came from.
func newBranched(s *session.State) Branched {
	var now session.Branch
	for _, b := range s.Branches {
		if b.Current {
			now = b
		}
	}
	parent, shared := -1, -1
	for i, b := range s.Branches {
		switch {
		case b.Current:
		case b.ID > now.ID:
			return Branched{} // the learner has gone back to an older one
		default:
			if n := sharedTo([]session.Branch{now, b}, 0); n >= shared {
				parent, shared = i, n
			}
		}
	}
	if parent < 0 || len(now.Chosen) > shared+1 {
		return Branched{}
	}
	last := s.PromptTokens[len(s.PromptTokens)-1]
	if shared > 0 {
		last = s.Model.Token(now.Chosen[shared-1])
	}
	return Branched{
		From: stage.TokenText(last), Undo: fmt.Sprintf(`{"cmd":"branch","id":%d}`, s.Branches[parent].ID),
	}
}
