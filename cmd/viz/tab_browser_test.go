package main

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// Some tests are not repeated in a tab: TestDeepModelFitsEveryScreen uses a different model,
// TestPagesMoveToOtherServers is about servers, and TestTourNeverScrollsSideways and
// TestScreensFitTheirWindow take screenshots.

// TestInTab uses the whole program while it runs in a browser tab. It goes from the home page to a
// generated token by keyboard alone, and through all stages in the Loop, whose numbers match the
// output of viz trace.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestJourneyByKeyboard, TestPageShowsWhatTheTracePrints, TestForwardAndBackThroughAllStages, TestPlayToAStop,
		TestInputErrorsAppearBesideTheirControl, TestReloadShowsTheSameStage,
	)
}
