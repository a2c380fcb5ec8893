package classroom_test

import (
	"fmt"
	"math"
	"net/url"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/classroom"
)

// TestManyNamesInTheStripDoNotOverlap: with 30 or 200 names in the strip of a draw, on the
// wall or on a phone, no name overlaps another or leaves the screen. Every number has a
// tick, and the names that do not fit are counted.
func TestManyNamesInTheStripDoNotOverlap(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, url.Values{})
	p.do(code, "start", "prompt", "Once upon a time there was a")
	p.do(code, "ask-draw", "where", "here")
	screens := map[string]*browser.Tab{
		"wall":  browser.Open(t, browser.Screen{Width: 1440, Height: 900}, base+"/class/"+code+"/projector"),
		"phone": browser.Open(t, browser.Phone, base+"/class/"+code),
	}
	list := []string{"Ada", "Grace Hopper", "Wilhelmina Ottoline 1234", "Bo", "Émilie", "李小龙", "MMMMMMMM"}
	for name, tab := range screens {
		tab.Eval(`for (const e of document.querySelectorAll("#cl-body, #cl-poll")) e.id = ""`) // nothing replaces them
		for _, n := range []int{30, 200} {
			var falls []class.Fall
			for i := range n {
				_, u := math.Modf(float64(i) * 0.6180339887)
				falls = append(falls, class.Fall{Member: class.Member{ID: i + 1, Name: list[i%len(list)]}, U: u})
			}
			html, more := classroom.FallsHTML(t, name == "wall", falls)
			tab.Eval(fmt.Sprintf(`document.querySelector(".falls")?.remove();
				document.querySelector(".poll, .ph__main > [data-poll]").insertAdjacentHTML("afterbegin", %q)`, html))
			tab.Shot(fmt.Sprintf("names-%s-%d.png", name, n))
			bad := browser.Value[[]string](tab, `(() => {
				const all = [...document.querySelectorAll(".falls__names text")];
				const boxes = all.map((e) => e.getBoundingClientRect());
				const bad = [];
				boxes.forEach((a, i) => {
					if (a.left < 0 || a.right > innerWidth) bad.push(all[i].textContent + " leaves the screen");
					boxes.slice(0, i).forEach((b, j) => {
						const over = Math.min(a.right, b.right) - Math.max(a.left, b.left);
						const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
						if (over > 1 && high > 4) bad.push(all[j].textContent + " lies under " + all[i].textContent);
					});
				});
				return bad;
			})()`)
			if len(bad) > 0 {
				t.Errorf("%d names on the %s: got %d faults, want 0, such as %s", n, name, len(bad), bad[0])
			}
			named := browser.Value[int](tab, `document.querySelectorAll(".falls__names text").length`)
			ticks := browser.Value[int](tab, `document.querySelectorAll("[data-fall] circle").length`)
			if ticks != n || named+more != n || named == 0 {
				t.Errorf(
					"%d names on the %s: got %d ticks, %d names, %d more; want ticks = %d, names+more = %d, names > 0",
					n, name, ticks, named, more, n, n,
				)
			}
		}
	}
}
