package web_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/load"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestReflow: at 320 px, a laptop's window at 400 %, neither the Loop nor the pages of labs
// and classes scroll sideways. Learn and Practise have tests of their own.
func TestReflow(t *testing.T) {
	t.Parallel()
	url := webtest.Serve(t, webtest.Options{})
	teacher, err := load.NewTeacher(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range [][]string{
		{"start", "prompt", "The capital of France is"}, {"forward"}, {"ask-next", "n", "5", "where", "here"},
	} {
		if err := teacher.Do(t.Context(), do[0], do[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	const width = 320
	tab := browser.Open(t, browser.Screen{Width: width, Height: 800, Touch: true}, url)
	for _, path := range []string{
		"/loop", "/loop?log=" + link(t, 20), "/labs", "/teach", "/join", "/class/" + teacher.Code,
	} {
		tab.Go(url + path)
		if n := browser.Value[int](tab, `document.querySelectorAll('main').length`); n != 1 {
			t.Errorf("%.20s is no page", path)
		}
		if wide := browser.Value[int](tab, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("%.20s: %d px wide", path, wide)
		}
	}
}
