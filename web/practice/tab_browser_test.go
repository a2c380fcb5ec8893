package practice_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestInTab goes through Practise where the program runs in the page. (The cards by keyboard
// need a clock that the test moves.)
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestQuizByEveryHand, TestQuizOneByOne, TestCardByHash, TestCardsByTouch, TestPredictByKeyboard,
		TestRevealAccessible, TestDrillAsDrawn, TestDrillByKeyboard, TestDrillMistakes, TestDrillMoves,
		TestHelpFollowsTheFocus, TestDrillShared, TestSmallDrillByEveryHand, TestDrillAtSpeed, TestFiveToTheEnd,
	)
}
