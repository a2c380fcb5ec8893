package learn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestDrillAsDrawn: the drill with some cells right, one slip and the step
// shown, in every size and theme.
func TestDrillAsDrawn(t *testing.T) {
	url, _ := serve(t)
	b := browser.New(t)
	for name, screen := range screens() {
		t.Run(name, func(t *testing.T) {
			tab := b.Stranger(t, screen, url+"/practice/softmax")
			enter(tab, "softmax.exp.0", "54.598")
			enter(tab, "softmax.exp.1", "20.086")
			enter(tab, "softmax.sum", "86.44")
			enter(tab, "softmax.p.0", "63.2%")
			enter(tab, "softmax.p.1", "0.3679")
			tab.WaitText(".slip b", "You divided by the largest exp, not by their sum.")
			browser.Mouse(tab).Press(".slip .btn")
			tab.WaitText(".shown .blank", "?")
			looks(t, tab, screen)
			tab.FullShot(name + "-drill.png")
		})
	}
}

// looks has axe-core look at a page, and makes sure it is no wider than the
// window.
func looks(t *testing.T, tab *browser.Tab, screen browser.Screen) {
	t.Helper()
	for _, fault := range tab.Axe("../../testdata/axe/axe.min.js.gz") {
		t.Error(fault)
	}
	if wide := browser.Value[float64](tab, `document.documentElement.scrollWidth`); wide > float64(screen.Width) {
		t.Errorf("%g px wide", wide)
	}
}

// enter types an answer into a cell and checks it by the Enter key.
func enter(tab *browser.Tab, cell, answer string) {
	field := fmt.Sprintf(`[id="c-%s"]`, cell)
	tab.Wait("the cell", fmt.Sprintf(`document.querySelector('%s')`, field))
	tab.Eval(fmt.Sprintf(`document.querySelector('%s').focus(); document.querySelector('%s').select()`, field, field))
	tab.Keys(answer + browser.Enter)
	tab.Wait("a verdict on "+cell, fmt.Sprintf(`document.querySelector('%s')?.dataset.state !== "empty"`, field))
}

var _ = strings.Join
var _ = drill.Softmax
