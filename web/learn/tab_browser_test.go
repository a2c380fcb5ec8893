package learn_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// These tests of Learn's pages do not belong in a tab, for these reasons:
//   - TestSearchTypedBeforeTheScript, TestSlowExperimentIsWorkedOut: they hold back, or change, what a server
//     sends on its way;
//   - TestFirstPageIsLight: on a site a first page loads the program too, and make site-figures counts it all;
//   - TestTour, TestWidgetTour: they take pictures and hold the pages to nothing.

// TestInTab goes through Learn where the program runs in the page.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestLessonByEveryHand, TestReadingIsNoticed, TestSearchFromAnyPage, TestMenu, TestHomeRuns,
		TestHomeStandsStill, TestHomeWritesFirst, TestFrontDoorLeadsIntoTheFirstRun, TestExperimentsByEveryHand,
		TestExperimentSaysWhatIsWrong, TestExperimentPlays, TestExperimentWithoutAScript, TestAccessibleAnswers,
		TestReadingIsReportedAgain, TestTermNoteOpensInPlace, TestNumbersFoldedAndRemembered, TestPictureFollows,
		TestPictureByEveryHand, TestFirstThingToTouch, TestExperimentMoves, TestHomeKeepsTheSuspense,
	)
}

// TestInTabPages looks at lessons, the home page and all experiments, on phones and on paper, and
// holds them to what everybody needs.
func TestInTabPages(t *testing.T) {
	webtest.InTab(
		t, TestAccessible, TestExperimentsAccessible, TestExperimentIsStill, TestHomeIsShort, TestLessonOnPaper,
		TestOpeningsFitTheField, TestReferenceIsOneSheet, TestReflow,
	)
}

// TestInTabPictures looks at every state of the picture that grows from lesson to lesson.
func TestInTabPictures(t *testing.T) { webtest.InTab(t, TestPictureAccessible) }
