package labs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestRingsAreDragged: the rings of a guess follow the mouse or a finger while the page does not
// scroll. Afterward, the rings' fields contain their final positions on the chart's scale, and the
// chart shows the guess. A finger that moves next to a ring scrolls the page.
func TestRingsAreDragged(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t)
	for _, screen := range []browser.Screen{browser.Chromebook, browser.Phone} {
		tab := browser.Open(t, screen, url+"/labs/cache?tokens=8&repeats=1")
		tab.Wait("the script", `!document.querySelector("[data-slides]").hidden`)
		where := ".chart__pic"
		if screen.Touch {
			where = ".chart__phone"
		}
		// The upper ring is moved first; otherwise, the other ring would be moved onto it.
		for _, guess := range []struct {
			field string
			up    float64
		}{{"f-guess-again", 60}, {"f-guess-cached", 24}} {
			field, up := guess.field, guess.up
			ring := fmt.Sprintf(`%s [data-ring="%s"] [role="slider"]`, where, field)
			// at returns the value at the given number of pixels above the ring's start.
			at := func(up float64) float64 {
				return browser.Value[float64](tab, fmt.Sprintf(`(() => {
				const c = document.querySelector(%q), svg = c.ownerSVGElement, d = c.parentElement.dataset;
				const scale = svg.viewBox.baseVal.height / svg.getBoundingClientRect().height;
				const y = Number(c.getAttribute("cy")) - %v * scale;
				return Number(d.high) * (Number(d.bottom) - Math.max(y, Number(d.top))) /
					(Number(d.bottom) - Number(d.top));
			})()`, ring, up))
			}
			rest, want := at(0), at(up)
			near := (want-rest)/up*2 + 0.05*want // two significant digits, and the pointer can be off by a pixel or two
			tab.Drag(ring, screen.Touch, 0, -up)
			tab.Wait("the field", fmt.Sprintf(
				`Math.abs(Number(document.querySelector("#%s").value || NaN) - %v) <= %v`, field, want, near,
			))
		}
		tab.Wait("the guess", `document.querySelector("#lab-lead .plot").textContent.includes("you: cache") &&
			document.querySelector("#lab-lead .plot").textContent.includes("you: all again")`)
		if !screen.Touch {
			continue
		}
		if y := browser.Value[float64](tab, "scrollY"); y != 0 {
			t.Errorf("a finger on a ring has scrolled the page by %v pixels, want 0", y)
		}
		tab.Drag(where+" .rings", true, 0, -120)
		tab.Wait("a page that scrolls", "scrollY > 0")
	}
}

// TestGuessIsDrawnAsBars: a guess that is not a point on a curve is drawn as a bar on an axis
// before anything is measured. The measured value then appears below the guess, on the same axis,
// and another guess can be drawn next to the result.
func TestGuessIsDrawnAsBars(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t)
	tab := browser.Open(t, browser.Phone, url+"/labs/draw?draws=10000&repeats=2")
	const said = `document.querySelector("#lab-lead .guessed .chart__phone svg").textContent`
	tab.Wait("the picture", said+`.includes("not guessed yet")`)
	with := browser.Touch(tab)
	with.Press(`[name="guess"][value="1"]`)
	tab.Wait("the guess", `!`+said+`.includes("not guessed yet") && `+said+`.includes("guess: hardly")`)
	if !browser.Value[bool](tab, said+`.includes("Measured: not yet")`) ||
		browser.Value[bool](tab, `!!document.querySelector(".about")`) {
		t.Error("something was measured before Run")
	}
	axis := browser.Value[string](tab, `[...document.querySelectorAll("#lab-lead .guessed .chart__phone text")]`+
		`.filter((e) => /^\d+%$/.test(e.textContent)).map((e) => e.textContent).join(" ")`)
	runGuessed(tab, with)
	tab.Wait("what is measured", `document.querySelector(".about") && !`+said+`.includes("not yet")`)
	if !browser.Value[bool](tab, fmt.Sprintf(`%s.includes("guess: hardly") && %[2]q.split(" ").every((tick) => `+
		`[...document.querySelectorAll("#lab-lead .guessed .chart__phone text")].some((e) => e.textContent === tick))`,
		said, axis)) || axis == "" {
		t.Errorf("the guess is missing, or its axis has changed from %q: %s", axis, browser.Value[string](tab, said))
	}
	with.Press(`[name="guess"][value="100"]`)
	tab.Wait("another guess", said+`.includes("guess: to about a hundredth. Measured: ") && `+
		`!`+said+`.includes("not yet")`)
}

// TestGuessIsMarkedInTheRace: before a run, the stop-condition race shows only the positions of the
// limits. The guess is marked in its lane. After the run, the mark is still there, and the lanes
// are in the same order.
func TestGuessIsMarkedInTheRace(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t)
	tab := browser.Open(t, browser.Chromebook, url+"/labs/stops?tokens=60&max_tokens=20&stop=sea")
	const lanes = `[...document.querySelectorAll("#lab-lead .chart__pic text")].map((e) => e.textContent)`
	tab.Wait("the race", lanes+`.includes("?") && `+lanes+`.includes("20")`)
	if browser.Value[bool](tab, `!!document.querySelector(".guess__drawn")`) {
		t.Error("the page asks for a guess in milliseconds")
	}
	with := browser.Mouse(tab)
	with.Press(`[name="guess"][value="max_tokens"]`)
	tab.Wait("the guess", lanes+`.filter((s) => s === "your guess").length === 1`)
	const names = lanes + `.filter((s) => /^(max|end|stop|context)/.test(s)).join()`
	order := browser.Value[string](tab, names)
	runGuessed(tab, with)
	tab.Wait("what is measured", `document.querySelector(".about") && !`+lanes+`.includes("?")`)
	if got := browser.Value[[]string](tab, lanes); !slices.Contains(got, "your guess") {
		t.Errorf("the guess is gone: got %q, want it to contain %q", got, "your guess")
	}
	if got := browser.Value[string](tab, names); got != order || order == "" {
		t.Errorf("the lanes were %s and are %s; want non-empty, %s", order, got, order)
	}
}

// TestGuessIsMarkedAmongTheSavings: before a run, each change to the bill has a lane without a bar.
// The guess is marked in its lane. After the run, the mark is still there, and the bars match the
// table.
func TestGuessIsMarkedAmongTheSavings(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	tab := browser.Open(t, browser.Chromebook, serve(t)+"/labs/bill?max_tokens=20&try_max_tokens=10")
	const texts = `[...document.querySelectorAll("#lab-lead .guessed .chart__pic text")].map((e) => e.textContent)`
	tab.Wait("lanes that nobody knows", texts+`.filter((s) => s === "?").length === 3`)
	with := browser.Mouse(tab)
	with.Press(`[name="guess"][value="max_tokens"]`)
	tab.Wait("the guess", texts+`.filter((s) => s === "your guess").length === 1`)
	runGuessed(tab, with)
	const saved, sure = `document.querySelector(".about") && !` + texts + `.includes("?")`, `.ask [name="sure"]`
	tab.Wait("what each saved, or the question of a slow machine", `(`+saved+`) || document.querySelector('`+sure+`')`)
	if browser.Value[bool](tab, `document.querySelector('`+sure+`') !== null`) {
		with.Press(sure)
	}
	tab.Wait("what each saved", saved)
	if got := browser.Value[[]string](tab, texts); !slices.Contains(got, "your guess") {
		t.Errorf("the guess is gone: got %q, want it to contain %q", got, "your guess")
	}
	share := browser.Value[string](tab, `[...document.querySelectorAll("#s-savings tr")].find(
		(r) => r.textContent.includes("max_tokens 10")).querySelectorAll("td")[4].textContent.trim()`)
	if got := browser.Value[[]string](tab, texts); share == "" || !slices.Contains(got, share) {
		t.Errorf(
			"the table says that the smaller limit saves %s, the lanes show %q; want a share, and %q in a lane", share,
			got, share,
		)
	}
	tab.Audit("the bill with its savings")
}
