package learn_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// These tests of Learn's pages are not run in a tab:
//   - TestSearchTypedBeforeTheScript, TestSlowExperimentFinishesInPlace: they delay or change a server's
//     responses;
//   - TestFirstPageIsLight: on a site, the first page also loads the program; make site-figures measures that;
//   - TestScreenshotsOfLearn, TestScreenshotsOfExperiments: they take pictures and check nothing.

// TestInTab tests Learn where the program runs in the page.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestLessonByEveryHand, TestReadingIsNoticed, TestSearchFromAnyPage, TestPhoneMenu, TestHomePlaysTheLoop,
		TestHomeWithReducedMotion, TestHomeWritesFirst, TestHomePromptStartsTheFirstRun, TestExperimentsByEveryHand,
		TestExperimentReportsErrorsInPlace, TestExperimentPlays, TestExperimentWithoutAScript, TestAnswersAreAccessible,
		TestReadingIsReportedAgain, TestTermNoteOpensInPlace, TestNumbersFoldedAndRemembered, TestPictureFollowsTheText,
		TestPictureByEveryHand, TestFirstScreenHasAnExercise, TestExperimentMotion, TestHomeRevealsNothingEarly,
	)
}

// TestInTabPages tests lessons, the home page and all experiments, on phones and on paper, for
// accessibility.
func TestInTabPages(t *testing.T) {
	webtest.InTab(
		t, TestLearnIsAccessible, TestExperimentsAccessible, TestExperimentWithReducedMotion, TestHomeIsShort,
		TestLessonOnPaper, TestOpeningsFitTheField, TestReferencePrintsOnOneSheet, TestLearnReflows,
	)
}

// TestInTabPictures tests every state of the picture that grows from lesson to lesson.
func TestInTabPictures(t *testing.T) {
	webtest.InTab(t, TestOddPicturesAccessible, TestEvenPicturesAccessible)
}
