package practice

import (
	"time"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/stage"
)

// deckText describes how many cards of a deck are due now, are new, or are due later.
func deckText(w stage.Words, d progress.Deck) string {
	return w.T("practice.cards.count", "due", d.Due, "new", d.New, "later", d.Later)
}

func cardID(v *deckPage) string {
	if v.Card == nil {
		return ""
	}
	return v.Card.ID
}

// nextDue states when the first of the later cards is due, or that there is none.
func nextDue(w stage.Words, at time.Time) templ.Component {
	drills, quiz := stage.Link("/practice"), stage.Link("/quiz")
	if at.IsZero() {
		return w.Say("practice.cards.next.none", "drills", drills, "quiz", quiz)
	}
	return w.Say(
		"practice.cards.next", "date", w.Date(at), "time", at.Format("15:04"), "drills", drills, "quiz", quiz,
	)
}

func paperClass(fold bool) string {
	if fold {
		return "page-paper page-fold"
	}
	return "page-paper"
}
