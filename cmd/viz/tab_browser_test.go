package main

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// Some tests have no counterpart in a tab: TestDeepModelFitsEveryScreen uses another model,
// TestPagesMoveToOtherServers is about servers, and TestTourNeverScrollsSideways and
// TestScreensFitTheirWindow take screenshots.

// TestInTab uses the whole program while it runs in the page. It goes from the home page to a token
// by keyboard alone, and through all stages in the Loop, whose figures match viz trace.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestJourneyByKeyboard, TestPageShowsWhatTheTracePrints, TestForwardAndBackThroughAllStages, TestPlayToAStop,
		TestInputErrorsAppearBesideTheirControl, TestReloadShowsTheSameStage,
	)
}
