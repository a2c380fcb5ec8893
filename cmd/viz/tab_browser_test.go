package main

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// These tests do not belong in a tab: TestDeepModelFitsEveryScreen has another model write,
// TestPagesMoveToOtherServers is about servers, and TestTourNeverScrollsSideways and
// TestScreensFitTheirWindow take pictures.

// TestInTab goes through the whole program where it runs in the page: from the home page to
// a token by keyboard alone, and at the Loop through all stages, whose figures are those of
// viz trace.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestJourneyByKeyboard, TestPageShowsWhatTheTracePrints, TestForwardAndBackThroughAllStages, TestPlayToAStop,
		TestInputErrorsAppearBesideTheirControl, TestReloadShowsTheSameStage,
	)
}
