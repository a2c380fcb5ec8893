package main

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// Some tests have no counterpart in a tab: TestDeepModelFitsEveryScreen uses another model,
// TestPagesMoveToOtherServers is about servers, and TestTourNeverScrollsSideways and
// TestScreensFitTheirWindow take pictures.

// TestInTab uses the whole program where it runs in the page: from the home page to a token
// by keyboard alone, and in the Loop through all stages, whose figures match viz trace.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestJourneyByKeyboard, TestPageShowsWhatTheTracePrints, TestForwardAndBackThroughAllStages, TestPlayToAStop,
		TestInputErrorsAppearBesideTheirControl, TestReloadShowsTheSameStage,
	)
}
