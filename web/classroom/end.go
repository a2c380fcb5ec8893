package classroom

import (
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/stage"
)

// ending is the content of screens at the end of a class: a summary, and links for continuing.
type ending struct {
	Title  string
	Did    []string // "12 votes on 4 questions."
	Replay string   // path of the replay
	Tour   string   // path of the walkthrough for learning alone, "" if there is none
}

// newEnding returns the ending of a class, or nil if the class has not ended.
func newEnding(w stage.Words, v *class.View) *ending {
	e := v.End
	if e == nil {
		return nil
	}
	x := &ending{Title: class.TextIn(w.Language, v.Title), Replay: "/class/" + v.Code + "/replay?key=" + e.Replay}
	if v.Walk != nil {
		x.Tour = "/tour/" + v.Walk.Walk.Slug
	}
	x.Did = append(x.Did, w.T("class.end.people", "n", v.Members))
	if e.Asked > 0 {
		questions := w.T("class.end.questions", "n", e.Asked)
		x.Did = append(x.Did, w.T("class.end.votes", "n", e.Votes, "questions", questions))
	}
	if e.Texts > 0 {
		x.Did = append(x.Did, w.T("class.end.texts", "n", e.Texts))
	}
	return x
}
