package practice

import (
	"fmt"

	"github.com/tokenbytoken/viz/web/progress"
)

// deckText describes how many cards of a deck are due now, are new, or are due later.
func deckText(d progress.Deck) string {
	return fmt.Sprintf("%d due, %d new, %d later", d.Due, d.New, d.Later)
}

func cardID(v *deckPage) string {
	if v.Card == nil {
		return ""
	}
	return v.Card.ID
}

// nextDue describes when the first of the later cards is due.
func nextDue(v *deckPage) string {
	if v.Deck.NextDue.IsZero() {
		return "when there is one"
	}
	return v.Deck.NextDue.Format("on 2 January 2006 at 15:04") + " UTC"
}

func paperClass(fold bool) string {
	if fold {
		return "page-paper page-fold"
	}
	return "page-paper"
}
