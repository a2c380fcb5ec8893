package why_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestScreenshotsOfWhy does not run in a tab, since it only takes screenshots and checks nothing.

// TestInTab tests this page and the /score page with the program running in a browser tab.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestBrowserSwitchesParts, TestBrowserOnAPhone, TestPageIsAccessible, TestBrowserByKeys,
		TestBrowserFormsByKeys, TestBrowserFromTheLoop, TestScoreIsAccessible,
	)
}
