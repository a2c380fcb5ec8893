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

// TestInTab tests Learn with the program running in a browser tab.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestLessonByEveryHand, TestReadingIsNoticed, TestSearchFromAnyPage, TestPhoneMenu, TestHomePlaysTheLoop,
		TestHomeWithReducedMotion, TestHomeWritesFirst, TestHomePromptStartsTheFirstRun, TestExperimentsByEveryHand,
		TestExperimentReportsErrorsInPlace, TestExperimentPlays, TestExperimentWithoutAScript, TestAnswersAreAccessible,
		TestReadingIsReportedAgain, TestTermNoteOpensInPlace, TestNumbersFoldedAndRemembered, TestPictureFollowsTheText,
		TestPictureByEveryHand, TestFirstScreenHasAnExercise, TestExperimentMotion, TestHomeRevealsNothingEarly,
	)
}

// TestInTabPages tests the lessons, the home page and all experiments in a browser tab: on phones,
// on paper and for accessibility.
func TestInTabPages(t *testing.T) {
	webtest.InTab(
		t, TestLearnIsAccessible, TestExperimentsAccessible, TestExperimentWithReducedMotion, TestHomeIsShort,
		TestLessonOnPaper, TestOpeningsFitTheField, TestReferencePrintsOnOneSheet, TestLearnReflows,
	)
}

// TestInTabPictures tests, in a browser tab, every state of the picture that grows from lesson to
// lesson.
func TestInTabPictures(t *testing.T) {
	webtest.InTab(
		t, TestFirstPicturesAccessible, TestMiddlePicturesAccessible, TestLastPicturesAccessible,
	)
}
