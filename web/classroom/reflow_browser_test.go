package classroom_test

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestInstructorPagesReflow: at a width of 320 px (a laptop's window at 400% zoom), none of these
// scrolls sideways: the presenter's page and its dialogs, the projector's page, the page that lets
// phones in, and the summary.
func TestInstructorPagesReflow(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serveStory(t)
	const width = 320
	tab := browser.Open(t, browser.Screen{Width: width, Height: 800, Touch: true}, base+"/teach")
	room := classroomTab(t, tab, base)
	drive(tab, room, "start", "prompt", "The capital of France is")
	for range 3 {
		drive(tab, room, "forward")
	}
	drive(tab, room, "ask-next", "n", "5", "where", "here")
	for page, has := range map[string]string{
		"/made": ".made__code", "/present": ".page-present", "/projector": ".page-deck", "/summary": "main",
	} {
		tab.Go(room + page)
		if !browser.Value[bool](tab, `!!document.querySelector("`+has+`")`) {
			t.Errorf("%s leads to another page", page)
		}
		if wide := browser.Value[int](tab, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("%s: got %d px wide, want at most %d", page, wide, width)
		}
	}
	tab.Go(room + "/present")
	for _, s := range []browser.Screen{{Width: width, Height: 800}, browser.Chromebook} {
		tab.Screen(s)
		for _, dialog := range []string{"d-ask", "d-run", "d-room"} {
			cut := browser.Value[int](tab, `(d => {
				d.showModal();
				const cut = d.scrollWidth - d.clientWidth;
				d.close();
				return cut;
			})(document.getElementById("`+dialog+`"))`)
			if cut > 0 {
				t.Errorf("%s in a window of %d px: %d px are cut off, want 0", dialog, s.Width, cut)
			}
		}
	}
}
