package model_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestInTab looks at the page where the program runs in it.
func TestInTab(t *testing.T) { webtest.InTab(t, TestModelPageIsAccessible) }
