package why_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestScreenshotsOfWhy does not belong in a tab: it takes pictures and holds the pages to nothing.

// TestInTab goes through the page, and that of scores, where the program runs in the page.
func TestInTab(t *testing.T) {
	webtest.InTab(
		t, TestBrowserSwitchesParts, TestBrowserOnAPhone, TestPageIsAccessible, TestBrowserByKeys,
		TestBrowserFormsByKeys, TestBrowserFromTheLoop, TestScoreIsAccessible,
	)
}
