package loop_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/loop"
	"github.com/tokenbytoken/viz/web/webtest"
)

func init() { loop.InTab.Is, loop.InTab.Serve = webtest.IsInTab, webtest.ServeTab }

// These tests of the Loop's page do not belong in a tab, for these reasons:
//   - those that cut, freeze and block sockets or stop servers (TestBrowserLoss, TestBrowserCut,
//     TestServerRestarted, TestTwoTabsAfterARestart, TestSleepingTab, TestFrozenLine, TestFrozenLineGivenUp,
//     TestPressLostWithTheServer, TestPressInTheGap, TestWaysReconnect, TestProxyBlocksSockets): a tab has
//     none of these, and web/site stops and wakes its worker;
//   - TestEvictedRun: it is another learner's run that takes the memory, and a tab has one learner;
//   - TestEveryStateIsAccessible, TestStoryStatesAreAccessible: a site has no storybook;
//   - TestPatchAroundFocus: it is about one script, which is the same file there;
//   - TestWaysByGesture: in the long tier its features are used by every hand in the others.

// TestInTab goes through the Loop where the program runs in the page.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, loop.TestBrowserWalk, loop.TestBrowserControls, loop.TestBrowserPlay, loop.TestTwoTabs,
		loop.TestReloadInMidRun, loop.TestBranchByMouse, loop.TestBranchByKeyboard, loop.TestBranchByTouch,
		loop.TestScrubAndWhatIf, loop.TestGoOnAndFinish, loop.TestLinkInFreshBrowser, loop.TestKeys,
	)
}

// TestInTabWays draws, changes settings and takes things away by mouse, keyboard and touch.
func TestInTabWays(t *testing.T) {
	webtest.InTab(t, loop.TestWaysDraw, loop.TestWaysSettings, loop.TestWaysShare)
}

// TestInTabFields types, drags and opens: what is typed and what is open stays.
func TestInTabFields(t *testing.T) {
	webtest.InTab(
		t, loop.TestEnterStartsThePrompt, loop.TestArrowsStepAfterASliderWasDragged, loop.TestEchoOfAnOlderNumber,
		loop.TestOpenedStaysOpen, loop.TestMenusAndFindings, loop.TestLongTextsKeepTheLine,
	)
}

// TestInTabHistory goes forward and back through what was written, reloads at every stage, and
// has two tabs at one run.
func TestInTabHistory(t *testing.T) {
	webtest.InTab(
		t, loop.TestWaysHistory, loop.TestReloadAtEveryStage, loop.TestTwoTabsAtOnce, loop.TestScrubberPastTheEnd,
	)
}

// TestInTabStrip looks at tokens of the text, branches at them, and finds others.
func TestInTabStrip(t *testing.T) {
	webtest.InTab(t, loop.TestWaysStrip, loop.TestTextFollows, loop.TestBranchKeepsTheTokenInView)
}

// TestInTabInside looks into the pass, its blocks and heads, at what they cost, and at the
// filters rule by rule.
func TestInTabInside(t *testing.T) {
	webtest.InTab(
		t, loop.TestWaysInside, loop.TestChain, loop.TestZoomByKeyboard, loop.TestZoomFollowsTheRun,
		loop.TestZoomByTouch, loop.TestMapKeepsTheFocus, loop.TestOrderOfFiltersCanBeRead,
		loop.TestWorkedLineIsWhole,
	)
}

// TestInTabMoves watches what moves from stage to stage.
func TestInTabMoves(t *testing.T) {
	webtest.InTab(
		t, loop.TestCarries, loop.TestCarriesAtOnce, loop.TestZoomMoves, loop.TestMotion, loop.TestMotionReduced,
		loop.TestStoryIsStill, loop.TestTheFallTellsNothing, loop.TestAnotherPageDuringTheFall,
	)
}

// TestInTabScreens goes through the Story and Numbers on phones, Chromebooks and desktops.
func TestInTabScreens(t *testing.T) {
	webtest.InTab(
		t, loop.TestBrowserStory, loop.TestBrowserReading, loop.TestEndIsReadInNumbers, loop.TestEmptyLoop,
		loop.TestSettingsBeforeStart, loop.TestPromptHasTheWholePanel, loop.TestPhoneKeepsTheStageInView,
		loop.TestPhoneStaysAtTheScrubber, loop.TestConsoleIsOneRow,
	)
}

// TestInTabWords writes chats, opens links, and asks for what cannot be; a draw is withheld.
func TestInTabWords(t *testing.T) {
	webtest.InTab(
		t, loop.TestChatForm, loop.TestPageSaysWhatCannotBe, loop.TestLinksThatLeadNowhere,
		loop.TestOpenedLinkIsNotALoss, loop.TestBrowserWithholdsTheDraw,
	)
}
