package practice_test

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestShortDrillToTheSummary: the short drill can be solved from the first answer to the summary,
// and axe-core reports no problems on its first step.
func TestShortDrillToTheSummary(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Phone, url+"/practice/five?seed=0&level=1")
	tab.Wait("the first step", `document.querySelectorAll("main input").length >= 5`)
	tab.FullShot("five-first.png")
	p, err := drill.New(terms.English, drill.Five, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.Overview()); n != 6 {
		t.Errorf("%d summaries, want one for each step", n)
	}
	tab.Audit("the short drill")
}
