package practice_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestInTab tests Practice with the program running in a browser tab.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestQuizByEveryHand, TestQuizShowsOneQuestion, TestCardByHash, TestCardsByKeyboard, TestCardsByTouch,
		TestPredictByKeyboard, TestRevealAccessible, TestDrillStatesAreAccessible, TestDrillByKeyboard,
		TestDrillNamesMistakes, TestDrillArrowKeys, TestHelpFollowsTheFocus, TestDrillAddressIsReproducible,
		TestSmallDrillByEveryHand, TestDrillFastTyping, TestShortDrillToTheSummary, TestCardsAreSaved,
		TestProgressFileRestoresProgress, TestCardsOnPaper, TestProgressAccessible, TestPracticePagesAreAccessible,
	)
}
