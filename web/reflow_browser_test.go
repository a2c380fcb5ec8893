package web_test

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/load"
	"github.com/tokenbytoken/viz/web/webtest"
)

// narrow is a laptop's window at 400% zoom.
var narrow = browser.Screen{Width: 320, Height: 800, Touch: true}

// TestClassPagesReflow: in a narrow window, the class pages do not scroll sideways.
func TestClassPagesReflow(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := webtest.Serve(t, webtest.Options{})
	instructor, err := load.NewInstructor(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range [][]string{
		{"start", "prompt", "The capital of France is"}, {"forward"}, {"ask-next", "n", "5", "where", "here"},
	} {
		if err := instructor.Do(t.Context(), do[0], do[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	reflows(t, url, "/teach", "/teach/study", "/teach/study/sheet", "/join", "/class/"+instructor.Code)
}

func reflows(t *testing.T, url string, paths ...string) {
	t.Helper()
	tab := browser.Open(t, narrow, url)
	for _, path := range paths {
		tab.Go(url + path)
		if n := browser.Value[int](tab, `document.querySelectorAll('main').length`); n != 1 {
			t.Errorf("%.20s is not a page", path)
		}
		if wide := browser.Value[int](tab, `document.documentElement.scrollWidth`); wide > narrow.Width {
			t.Errorf("%.20s: got %d px wide, want at most %d", path, wide, narrow.Width)
		}
	}
}
