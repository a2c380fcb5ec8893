package practice_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestInTab goes through Practise where the program runs in the page.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestQuizByEveryHand, TestQuizOneByOne, TestCardByHash, TestCardsByKeyboard, TestCardsByTouch,
		TestPredictByKeyboard, TestRevealAccessible, TestDrillAsDrawn, TestDrillByKeyboard, TestDrillMistakes,
		TestDrillMoves, TestHelpFollowsTheFocus, TestDrillShared, TestSmallDrillByEveryHand, TestDrillAtSpeed,
		TestFiveToTheEnd, TestCardsAreSaved, TestProgressIsSavedAndBroughtBack, TestCardsOnPaper,
		TestProgressAccessible, TestPractisePages,
	)
}
