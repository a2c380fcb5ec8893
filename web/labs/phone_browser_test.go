package labs_test

import (
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestFirstChartFitsPhones: on a phone, a lab first shows the chart drawn for phones, and the note
// at the chart's first token does not overlap the two guesses that begin there. No word in the
// chart is cut off at the edges or overlaps another.
func TestFirstChartFitsPhones(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t)
	tab := browser.Open(t, browser.Phone, url+"/labs/memory")
	const shown = `[...document.querySelectorAll("#lab-lead .plot")].filter((e) => e.checkVisibility())`
	const cut = `[...document.querySelectorAll("#lab-lead .chart__phone .plot")].flatMap((plot) => {
		const air = 8; // space above and below the letters of two words, together
		const edge = plot.getBoundingClientRect();
		const words = [...plot.querySelectorAll("text")].map((e) => [e.textContent, e.getBoundingClientRect()]);
		return words.flatMap(([a, r], i) => [
			...(r.left < edge.left || r.right > edge.right ? [a + " is cut"] : []),
			...words.slice(i + 1).filter(([, s]) => r.left + 2 < s.right && s.left + 2 < r.right &&
				r.top + air < s.bottom && s.top + air < r.bottom).map(([b]) => a + " lies across " + b),
		]);
	})`
	for _, lab := range []string{"memory", "cache", "bill"} {
		tab.Go(url + "/labs/" + lab)
		got := browser.Value[[]bool](tab, shown+`.map((e) => e.closest(".chart__phone") !== null)`)
		if want := map[bool]int{true: 2, false: 1}[lab == "bill"]; len(got) != want || slices.Contains(got, false) {
			t.Errorf("%s: whether each chart is the one for phones: got %v, want %d, all true", lab, got, want)
		}
		if got := browser.Value[[]string](tab, cut); len(got) > 0 {
			t.Errorf("%s: %q, want every word whole", lab, got)
		}
		tab.Shot("phone-" + lab + ".png")
	}
	for _, query := range []string{"", "?tokens=256", "?tokens=8", "?prompt=a&tokens=500"} {
		tab.Go(url + "/labs/cache" + query)
		got := browser.Value[[]string](tab, `(() => {
			const note = [...document.querySelectorAll(".chart__phone .plot text")]
				.find((e) => e.textContent.startsWith("about"))?.getBoundingClientRect();
			if (!note) return ["no note"];
			return [...document.querySelectorAll(".chart__phone .ring path")].flatMap((path) => {
				for (let at = 0, all = path.getTotalLength(); at <= all; at += 2) {
					const p = path.getPointAtLength(at).matrixTransform(path.getScreenCTM());
					const { left, right, top, bottom } = note, slack = 2; // space inside the box of a letter
					const inside = p.x > left && p.x < right && p.y > top + slack && p.y < bottom - slack;
					if (inside) return ["line at " + at];
				}
				return [];
			});
		})()`)
		if len(got) > 0 {
			t.Errorf("%q: got %v in the note, want 0 elements", query, got)
		}
	}
}
