package learn_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// These tests of Learn's pages do not belong in a tab, for these reasons:
//   - TestSearchTypedBeforeTheScript, TestSlowExperimentFinishesInPlace: they hold back, or change, what a server
//     sends on its way;
//   - TestFirstPageIsLight: on a site a first page loads the program too, and make site-figures counts it all;
//   - TestScreenshotsOfLearn, TestScreenshotsOfExperiments: they take pictures and hold the pages to nothing.

// TestInTab goes through Learn where the program runs in the page.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestLessonByEveryHand, TestReadingIsNoticed, TestSearchFromAnyPage, TestPhoneMenu, TestHomePlaysTheLoop,
		TestHomeWithReducedMotion, TestHomeWritesFirst, TestHomePromptStartsTheFirstRun, TestExperimentsByEveryHand,
		TestExperimentReportsErrorsInPlace, TestExperimentPlays, TestExperimentWithoutAScript, TestAnswersAreAccessible,
		TestReadingIsReportedAgain, TestTermNoteOpensInPlace, TestNumbersFoldedAndRemembered, TestPictureFollowsTheText,
		TestPictureByEveryHand, TestFirstScreenHasAnExercise, TestExperimentMotion, TestHomeRevealsNothingEarly,
	)
}

// TestInTabPages looks at lessons, the home page and all experiments, on phones and on paper, and
// holds them to what everybody needs.
func TestInTabPages(t *testing.T) {
	webtest.InTab(
		t, TestLearnIsAccessible, TestExperimentsAccessible, TestExperimentWithReducedMotion, TestHomeIsShort,
		TestLessonOnPaper, TestOpeningsFitTheField, TestReferencePrintsOnOneSheet, TestLearnReflows,
	)
}

// TestInTabPictures looks at every state of the picture that grows from lesson to lesson.
func TestInTabPictures(t *testing.T) {
	webtest.InTab(t, TestOddPicturesAccessible, TestEvenPicturesAccessible)
}
