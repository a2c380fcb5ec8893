package labs_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestScreenshotsOfLabs does not run in a tab, since it only takes screenshots and checks nothing.

// TestInTab tests the labs with the program running in the page.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestEveryLabByEveryHand, TestGuessIsDrawnFirst, TestCancelKeepsMeasurements,
		TestErrorNextToFieldInBrowser, TestSlidersAndResultsFollow, TestBillJSONFollowsFieldsInBrowser,
		TestJSONFollowsUnderTheCaret, TestStepThroughLanes, TestBillGrowsPerToken, TestSpeculationRoundsInWords,
		TestRingsAreDragged, TestGuessIsDrawnAsBars, TestGuessIsMarkedInTheRace, TestGuessIsMarkedAmongTheSavings,
		TestRowsAreSaved, TestFirstChartFitsPhones, TestListsAreChips,
	)
}

// TestInTabCut runs the tests of cut connections with the program running in the page.
func TestInTabCut(t *testing.T) { webtest.InTab(t, TestCutAndReload, TestCutAndReloadOnPhone) }

// TestInTabAccessible is like TestLabsAreAccessible, but with the program running in the page.
func TestInTabAccessible(t *testing.T) { webtest.InTab(t, TestLabsAreAccessible) }
