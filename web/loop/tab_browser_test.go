package loop_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/loop"
	"github.com/tokenbytoken/viz/web/webtest"
)

func init() { loop.InTab.Is, loop.InTab.Serve = webtest.IsInTab, webtest.ServeTab }

// These tests of the Loop's page do not run in a tab, for these reasons:
//   - tests that cut, freeze and block sockets or stop servers (TestBrowserReportsLostServer,
//     TestBrowserReconnectsAtEveryStage, TestPageSurvivesServerRestart,
//     TestTwoTabsShareRecreatedRun, TestSleepingTabNoticesDeadConnection,
//     TestFrozenConnectionLosesNothing, TestFrozenConnectionIsReplaced,
//     TestPressLostWithTheServerIsReported, TestPressDuringOutageIsResentOnce, TestWaysToReconnect,
//     TestBlockedSocketsAreExplained): a tab has none of these, and web/site stops and wakes its
//     worker;
//   - TestEvictedRunReturnsOnNextPress: another learner's run takes the memory, and a tab has only
//     one learner;
//   - TestEveryStateIsAccessible, TestStoryStatesAreAccessible: a static site has no storybook;
//   - TestPatchAroundFocus: it tests one script, which is the same file in a tab;
//   - TestWaysByGesture: in the long tier the other tests use its features with every input.

// TestInTab uses the Loop with the program running in the page.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, loop.TestBrowserStepsByKeyboard, loop.TestBrowserControlsKeepFocusAndValues,
		loop.TestBrowserPlaysAtFullSpeed, loop.TestTwoTabsStayInStep, loop.TestReloadDuringARun,
		loop.TestBranchByMouse, loop.TestBranchByKeyboard, loop.TestBranchByTouch,
		loop.TestScrubberAndWhatIfSliders, loop.TestContinuePastLimitAndFinish, loop.TestLinkInFreshBrowser,
		loop.TestKeyboardShortcuts,
	)
}

// TestInTabWays draws, changes settings and exports by mouse, keyboard and touch.
func TestInTabWays(t *testing.T) {
	webtest.InTab(t, loop.TestWaysDraw, loop.TestWaysSettings, loop.TestWaysExportAndSetUp)
}

// TestInTabFields types in fields, drags sliders and opens details, and checks that they stay
// that way.
func TestInTabFields(t *testing.T) {
	webtest.InTab(
		t, loop.TestEnterStartsThePrompt, loop.TestArrowsStepAfterASliderWasDragged,
		loop.TestServerEchoDoesNotOverwriteTyping, loop.TestOpenedDetailsStayOpen,
		loop.TestMenusCloseAndSearchesClear, loop.TestTooLongTextKeepsTheConnection,
	)
}

// TestInTabHistory goes forward and back through the text, reloads at every stage, and
// opens one run in two tabs.
func TestInTabHistory(t *testing.T) {
	webtest.InTab(
		t, loop.TestWaysHistory, loop.TestReloadAtEveryStage, loop.TestTwoTabsDriveOneRun,
		loop.TestScrubberBeyondShortenedText,
	)
}

// TestInTabStrip inspects tokens of the text, branches at them, and finds others.
func TestInTabStrip(t *testing.T) {
	webtest.InTab(t, loop.TestWaysStrip, loop.TestNewestTextStaysInView, loop.TestBranchKeepsTheTokenInView)
}

// TestInTabInside inspects the pass, its blocks and heads, their cost, and the filters rule
// by rule.
func TestInTabInside(t *testing.T) {
	webtest.InTab(
		t, loop.TestWaysInside, loop.TestSamplingChainByKeyAndDrag, loop.TestZoomByKeyboard, loop.TestZoomFollowsTheRun,
		loop.TestZoomByTouch, loop.TestMapKeepsFocusDuringTheRun, loop.TestFilterOrderIsVisible,
		loop.TestWorkedLineIsNotCutOff,
	)
}

// TestInTabMoves checks the animations between stages.
func TestInTabMoves(t *testing.T) {
	webtest.InTab(
		t, loop.TestStageMotionInBothViews, loop.TestStepDuringMotionCounts, loop.TestZoomMotion,
		loop.TestMotionOnArrivalOnly, loop.TestReducedMotionMovesNothing, loop.TestStoryWithReducedMotion,
		loop.TestMarkerDoesNotRevealTheWinner, loop.TestSettingChangeElsewhereEndsTheMarker,
	)
}

// TestInTabViews writes texts in the Story and Numbers, and changes settings before the start.
func TestInTabViews(t *testing.T) {
	webtest.InTab(
		t, loop.TestBrowserStoryByKeyboard, loop.TestBrowserFinishedTextShowsShares,
		loop.TestNumbersViewEndsAsProse, loop.TestSettingsCanBeChangedBeforeStart,
	)
}

// TestInTabScreens uses the Story and Numbers on phones, Chromebooks and desktops.
func TestInTabScreens(t *testing.T) {
	webtest.InTab(
		t, loop.TestEmptyLoopIsShort, loop.TestPromptCoversTheStage, loop.TestPhoneKeepsTheStageInView,
		loop.TestPhoneDoesNotScrollWhileScrubbing, loop.TestConsoleIsOneRow,
	)
}

// TestInTabWords writes chats, opens links, sends commands that are refused, and withholds a draw.
func TestInTabWords(t *testing.T) {
	webtest.InTab(
		t, loop.TestChatFormByEveryHand, loop.TestPageSaysWhatIsRefused, loop.TestLinksThatLeadNowhere,
		loop.TestOpenedLinkReportsNoLoss, loop.TestBrowserWithholdsTheDraw,
	)
}
