package model_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestInTab checks the page when the program runs in a browser tab.
func TestInTab(t *testing.T) { webtest.InTab(t, TestModelPageIsAccessible) }
