package learn

import (
	"fmt"
	"math"
	"time"

	"github.com/tokenbytoken/viz/web/progress"
)

// deckSay says how many cards wait.
func deckSay(d progress.Deck) string {
	return fmt.Sprintf("%d due, %d new, %d later", d.Due, d.New, d.Later)
}

// waitSay writes a card's wait in the largest unit that fits: "10 min",
// "3 days", "2.4 months".
func waitSay(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", math.Max(1, math.Round(d.Minutes())))
	case d < day:
		return unitSay(math.Round(d.Hours()), "hour")
	case d < 60*day:
		return unitSay(math.Round(d.Hours()/24), "day")
	case d < 730*day:
		return fmt.Sprintf("%.1f months", d.Hours()/24/30.44)
	}
	return fmt.Sprintf("%.1f years", d.Hours()/24/365.25)
}

func unitSay(n float64, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%.0f %ss", n, unit)
}

func cardID(v *deckPage) string {
	if v.Card == nil {
		return ""
	}
	return v.Card.ID
}

func timesSay(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// nextDue says when the first of the later cards comes.
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
