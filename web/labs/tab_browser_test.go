package labs_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestTour does not belong in a tab: it takes pictures and holds the pages to nothing.

// TestInTab goes through the labs where the program runs in the page.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestEveryLabByEveryHand, TestGuessIsDrawnFirst, TestCancelKeeps, TestErrorNextToField,
		TestSlidersAndResultsFollow, TestJSONInStep, TestJSONFollowsUnderTheCaret, TestStepThroughLanes, TestBillTicks,
		TestRoundsStepByStep, TestRingsAreDragged, TestGuessIsDrawnAsBars, TestGuessIsMarkedInTheRace,
		TestGuessIsMarkedAmongTheSavings, TestRowsAreSaved, TestChartsForPhones,
		TestListsAreChips,
	)
}

// TestInTabCut cuts the connection to a measurement where the program runs in the page, and
// reloads the page.
func TestInTabCut(t *testing.T) { webtest.InTab(t, TestCutAndReload) }

// TestInTabAccessible looks at every lab with its results.
func TestInTabAccessible(t *testing.T) { webtest.InTab(t, TestAccessible) }
