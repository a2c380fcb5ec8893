package labs_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestScreenshotsOfLabs is not run in a tab: it takes pictures and checks nothing.

// TestInTab tests the labs where the program runs in the page.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestEveryLabByEveryHand, TestGuessIsDrawnFirst, TestCancelKeepsMeasurements,
		TestErrorNextToFieldInBrowser, TestSlidersAndResultsFollow, TestBillJSONFollowsFieldsInBrowser,
		TestJSONFollowsUnderTheCaret, TestStepThroughLanes, TestBillGrowsPerToken, TestSpeculationRoundsInWords,
		TestRingsAreDragged, TestGuessIsDrawnAsBars, TestGuessIsMarkedInTheRace, TestGuessIsMarkedAmongTheSavings,
		TestRowsAreSaved, TestFirstChartFitsPhones, TestListsAreChips,
	)
}

// TestInTabCut cuts the connection to a measurement where the program runs in the page, and
// reloads the page.
func TestInTabCut(t *testing.T) { webtest.InTab(t, TestCutAndReload) }

// TestInTabAccessible checks every lab with its results.
func TestInTabAccessible(t *testing.T) { webtest.InTab(t, TestLabsAreAccessible) }
