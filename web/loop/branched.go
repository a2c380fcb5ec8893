package loop

import (
	"fmt"

	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// Branched describes a branch that has just begun: the last token that it shares with the earlier
// text, and the command that returns to that text. It is shown until the branch continues.
type Branched struct {
	From stage.Text // the last shared token; empty for none
	Undo string     // the command that returns to the earlier text
}

// newBranched describes the newest branch if it has just begun: that is, if at most one of its
// tokens is not shared with the earlier text.
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
			return Branched{} // the learner has returned to an older branch
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
