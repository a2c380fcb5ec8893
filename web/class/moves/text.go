package moves

import (
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// TextOf returns the text of a state, as a link to the text's first stage. It reports false
// if no token has been chosen.
func TextOf(st *session.State) (class.Text, bool) {
	if st == nil || st.Step() == nil || st.Steps[0].Ran < firstChosen {
		return class.Text{}, false
	}
	from := *st
	from.Cursor, from.Undrawn = firstStage, false
	t := class.Text{Prompt: st.Prompt, Link: session.LinkOf(&from)}
	return t, t.Link != ""
}
