package classroom

import (
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
)

// ending is the content of screens at the end of a class: a summary, and links for continuing.
type ending struct {
	Title  string
	Did    []string // "You voted 12 times on 4 questions."
	Replay string   // path of the replay
	Tour   string   // path of the walkthrough for learning alone, "" if there is none
}

// newEnding returns the ending of a class, or nil if the class has not ended.
func newEnding(v *class.View) *ending {
	e := v.End
	if e == nil {
		return nil
	}
	x := &ending{Title: v.Title, Replay: "/class/" + v.Code + "/replay?key=" + e.Replay}
	if w := v.Walk; w != nil {
		x.Tour = "/tour/" + w.Walk.Slug
	}
	x.Did = append(x.Did, terms.CountedAs(v.Members, "person", "people")+" took part.")
	if e.Asked > 0 {
		x.Did = append(x.Did, terms.Counted(e.Votes, "vote")+" on "+terms.Counted(e.Asked, "question")+".")
	}
	if e.Texts > 0 {
		x.Did = append(x.Did, terms.Counted(e.Texts, "text")+", written with the model.")
	}
	return x
}
