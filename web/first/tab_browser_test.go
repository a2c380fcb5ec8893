package first_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestFirstRunBeforeItsScripts is missing here because the program cannot run in a tab without
// scripts.

// TestInTab tests the first run with the program running in a browser tab.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestBrowserFirstRun, TestFirstRunShowsPendingAnswer, TestFirstRunMotion, TestBrowserEnterContinues,
		TestCardPicturesAreSaved, TestScenesAreAccessible,
	)
}
