package loop_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/loop"
	"github.com/tokenbytoken/viz/web/webtest"
)

func init() { loop.InTab.Is, loop.InTab.Serve = webtest.IsInTab, webtest.ServeTab }

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
