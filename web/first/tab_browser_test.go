package first_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestFirstRunBeforeItsScripts does not belong in a tab: without scripts no program runs there.

// TestInTab goes through the first run where the program runs in the page.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestBrowserFirstRun, TestFirstRunShowsPendingAnswer, TestFirstRunMotion, TestBrowserEnterContinues,
		TestCardPicturesAreSaved, TestScenesAreAccessible,
	)
}
