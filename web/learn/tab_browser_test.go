package learn_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

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
