package labs_test

import (
	"strconv"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestListsAreChips: lists are shown as chips that work by mouse, keyboard and touch. Pressing a
// chip removes it, typing an entry adds one, and the submitted field contains the list.
func TestListsAreChips(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t)
	browser.Ways(t, func(t *testing.T, screen browser.Screen, with func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, url+"/labs")
		hands := with(tab)
		for _, row := range []struct{ path, field, less, more, all string }{
			{
				"/labs/strategies", "#f-lanes", "pure,top_k,top_p,common", "t=2 k=10",
				"pure,top_k,top_p,common,t=2 k=10",
			},
			{"/labs/prefill", "#f-lengths", "8,16,32,64,128,192,256", "3", "8,16,32,64,128,192,256,3"},
			{"/labs/stops", "#f-stop", "</answer>\n\\n\\n", "sea", "</answer>\n\\n\\n\nsea"},
		} {
			tab.Go(url + row.path)
			holds := func(list string) {
				t.Helper()
				tab.Wait("the list "+list, `document.querySelector("`+row.field+`").value === `+strconv.Quote(list))
			}
			hands.Press(row.field + " ~ .chips-in .chip")
			holds(row.less)
			// The response can change the height of the chart above. After that, nothing moves.
			tab.Wait("the page's answer", `location.search !== ""`)
			hands.Point(row.field + " ~ .chips-in input")
			tab.Keys(row.more + browser.Enter)
			holds(row.all)
		}
	})
}
