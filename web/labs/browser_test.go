package labs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/browser"
)

// small contains settings for quick runs of the labs whose defaults are slow.
var small = map[string]string{
	"strategies":   "tokens=8&runs=2&horizon=2&passes=200",
	"draw":         "draws=10000&repeats=2",
	"cache":        "tokens=8&repeats=1",
	"memory":       "tokens=8",
	"prefill":      "lengths=1,8,16&tokens=8&repeats=1",
	"bill":         "max_tokens=8&try_max_tokens=4",
	"speculation":  "tokens=12&gammas=1,2&gamma=2&repeats=1&rounds=200",
	"stops":        "tokens=24&max_tokens=12",
	"quantization": "tokens=8&repeats=1",
	"induction":    "rows=1&length=8&off=2",
}

// guessFirst is the selector of the first choice of the prediction. It matches nothing if the guess
// is drawn instead. Radio buttons are a single Tab stop, and the space bar selects the focused one.
const guessFirst = ".commit__one input"

// TestEveryLabByEveryHand: each lab can be opened from the list of labs and used by mouse, by
// keyboard alone, and by touch on a phone. For each lab, the test makes a prediction, runs the lab,
// opens a chart's numbers, and follows the link to the same settings.
// Promise: Every lab can be used by mouse, by keyboard alone and by touch.
func TestEveryLabByEveryHand(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t)
	browser.Ways(t, func(t *testing.T, screen browser.Screen, with func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, url+"/labs")
		hands := with(tab)
		hands.Press(`.door a[href="/labs/draw"]`)
		tab.WaitText("h1", "Draw often enough, and chance draws the model’s own bars.")
		for _, l := range lab.All() {
			i := l.Info(terms.English)
			tab.Go(url + "/labs/" + i.Name + "?" + small[i.Name])
			tab.Wait(
				"the script",
				`document.querySelector("[data-slides]") === null || !document.querySelector("[data-slides]").hidden`,
			)
			asks := i.Name != "memory" // the memory lab shows results without a run
			if asks {
				hands.Press(`.btn--run`)
				tab.Wait(
					"the question",
					`document.querySelector("#guess-error").textContent.includes("First say what you expect")`,
				)
			}
			run(tab, hands)
			found := ""
			if asks && i.Name != "cache" { // the cache lab's guess is drawn
				if found = tab.Text(".verdict"); !strings.Contains(found, "You said") {
					t.Errorf(
						"%s: the prediction was not compared: got %q, want it to contain %q", i.Name, found, "You said",
					)
				}
			}
			if n := browser.Value[int](tab, `document.querySelectorAll(".chart svg[role=img] title").length`); n == 0 {
				t.Errorf("%s: no chart", i.Name)
			}
			hands.Press(".chart .twin summary")
			tab.Wait(
				"the numbers",
				`document.querySelector(".chart .twin").open && `+
					`document.querySelector(".chart .twin td").getBoundingClientRect().height > 0`,
			)
			hands.Press(".lab__link")
			tab.Wait("the same again", `document.querySelector(".about") && !document.querySelector(".verdict")`)
			if !strings.Contains(found, tab.Text("h1")) && tab.Text(".about") == "" {
				t.Errorf("%s: the link leads to %s, want its lesson or lab", i.Name, tab.URL())
			}
		}
	})
}

// TestGuessIsDrawnFirst: before anything is measured, the user draws a guess by moving its two
// rings with the arrow keys, and the chart shows it as dotted lines. The result is then drawn over
// it.
// Promise: You draw your guess into a chart before the measurement, and the result appears over it.
func TestGuessIsDrawnFirst(t *testing.T) {
	t.Parallel()
	url := serve(t)
	for _, screen := range []browser.Screen{browser.Chromebook, browser.Phone} {
		tab := browser.Open(t, screen, url+"/labs/cache?tokens=8&repeats=1")
		tab.Wait("the script", `!document.querySelector("[data-slides]").hidden`)
		if asked := browser.Value[int](tab, `[...document.querySelectorAll(".commit input")].filter(
			(e) => e.checkVisibility()).length`); asked != 1 {
			t.Errorf("besides the rings, the guess has %d more fields, want only the one for no guess", asked)
		}
		where := ".chart__pic"
		if screen.Touch {
			where = ".chart__phone"
		}
		for _, field := range []string{"f-guess-again", "f-guess-cached"} {
			tab.Eval(`document.querySelector('` + where + ` [data-ring="` + field + `"] [role="slider"]').focus()`)
			tab.Keys(browser.ArrowUp)
			tab.Keys(browser.ArrowUp)
			tab.Wait("the field", `Number(document.querySelector("#`+field+`").value) > 0`)
		}
		tab.Wait("the guess", `document.querySelector("#lab-lead .plot").textContent.includes("you: cache")`)
		if browser.Value[bool](tab, `!!document.querySelector(".about")`) {
			t.Error("something was measured before Run")
		}
		runGuessed(tab, browser.Mouse(tab))
		tab.Wait("the result over the guess", `document.querySelector(".about") && `+
			`document.querySelector("#lab-lead .plot").textContent.includes("you: cache") && `+
			`document.querySelector("#lab-lead .lab__verdict").textContent.includes("You drew")`)
	}
}

// TestCancelKeepsMeasurements: the page asks for confirmation before a large run, and it keeps the
// run's measurements if the run is canceled.
// Promise: A measurement that you cancel keeps what it has measured.
func TestCancelKeepsMeasurements(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t)
	browser.Ways(t, func(t *testing.T, screen browser.Screen, with func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, url+"/labs/cache?tokens=400&repeats=50")
		hands := with(tab)
		hands.Press(guessFirst)
		hands.Press(".btn--run")
		tab.Wait("the estimate", `document.querySelector(".ask")?.textContent.includes("multiply-adds")`)
		hands.Press(".ask button")
		tab.Wait("first rows", `document.querySelector("#s-each svg")`)
		hands.Press("#lab-run button")
		tab.Wait(
			"the end",
			`document.querySelector("#lab-run").textContent.includes("Canceled after") && `+
				`document.querySelector(".about")`,
		)
		if !strings.Contains(tab.Text(".about"), "ended early") {
			t.Error("the report does not state that the run was ended early")
		}
	})
}

// TestErrorNextToFieldInBrowser: when the focus leaves a field with an invalid number, the field is
// marked and the error is explained next to it. A valid number removes the message.
func TestErrorNextToFieldInBrowser(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	tab := browser.Open(t, browser.Laptop, serve(t)+"/labs/cache")
	tab.Set("#f-tokens", "0")
	tab.WaitText("#err-tokens", "Tokens to write is 0; it must be a whole number from 1 to 2048 tokens.")
	if tab.Attr("#f-tokens", "aria-invalid") != "true" {
		t.Error("the field is not marked")
	}
	tab.Set("#f-tokens", "16")
	tab.Wait(
		"no error",
		`document.querySelector("#err-tokens").textContent === "" && `+
			`!document.querySelector("#f-tokens").hasAttribute("aria-invalid")`,
	)
	tab.Wait("the address", `location.search === "?tokens=16"`)
}

// TestSlidersAndResultsFollow: moving a slider sets its number, and results that depend only on the
// numbers appear at once, before anything is measured.
func TestSlidersAndResultsFollow(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t)
	browser.Ways(t, func(t *testing.T, screen browser.Screen, with func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, url+"/labs/memory?tokens=8")
		hands := with(tab)
		before := tab.Text(".tile--sum")
		hands.Slide(`[data-slides="f-positions"]`, 700)
		tab.Wait("another size", fmt.Sprintf(`document.querySelector(".tile--sum").innerText !== %q`, before))
		run(tab, hands) // this measures the engine and leaves the calculated results in place
		if got, want := tab.Attr(
			`[data-slides="f-positions"]`, "aria-valuetext",
		), browser.Value[string](tab, `document.querySelector("#f-positions").value`); got != want {
			t.Errorf("the slider is at %q, want %q", got, want)
		}
		tab.Wait("the address", `location.search.includes("positions=")`)
	})
}

// TestBillJSONFollowsFieldsInBrowser: in a browser, the bill's fields and its JSON stay in sync.
func TestBillJSONFollowsFieldsInBrowser(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	tab := browser.Open(t, browser.Laptop, serve(t)+"/labs/bill")
	tab.Set("#f-max_tokens", "12")
	tab.Wait("the JSON", `document.querySelector("#f-request").value.includes('"max_tokens": 12')`)
	tab.Set("#f-request", `{"prompt": "Once upon", "max_tokens": 7, "stream": false, "stop": ["\n"]}`)
	tab.Wait(
		"the fields",
		`document.querySelector("#f-max_tokens").value === "7" && `+
			`document.querySelector("#f-prompt").value === "Once upon" && `+
			`document.querySelector("#f-stream").value === "false" && `+
			`document.querySelector("#f-stop").value === "\\n"`,
	)
	tab.Set("#f-request", `{"prompt": `)
	tab.Wait("what is wrong", `document.querySelector("#err-request").textContent.includes("JSON")`)
}

// TestJSONFollowsUnderTheCaret: if the user changes a field and then clicks into the JSON, the JSON
// already contains the change, and editing the JSON does not undo it.
func TestJSONFollowsUnderTheCaret(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	tab := browser.Open(t, browser.Laptop, serve(t)+"/labs/bill")
	hands := browser.Mouse(tab)
	hands.Fill("#f-max_tokens", "12")
	hands.Press("#f-request")
	tab.Wait(
		"the JSON",
		`document.activeElement.id === "f-request" && document.activeElement.value.includes('"max_tokens": 12')`,
	)
	hands.Fill("#f-seed", "7")
	hands.Press("#f-requests")
	tab.Wait(
		"both",
		`document.querySelector("#f-request").value.includes('"seed": 7') && `+
			`document.querySelector("#f-max_tokens").value === "12"`,
	)
	if got := browser.Value[string](
		tab, `document.querySelector("#f-request").value`,
	); !strings.Contains(got, `"max_tokens": 12`) {
		t.Errorf("the first change was undone: got %s, want it to contain %q", got, `"max_tokens": 12`)
	}
}

// TestLabsAreAccessible: axe-core finds no violations on the labs' pages before and after a run,
// and no page is wider than the window.
// Promise: axe-core finds nothing on the labs (WCAG 2.2 AA).
func TestLabsAreAccessible(t *testing.T) {
	t.Parallel()
	url := serve(t)
	paths := []string{"/labs"}
	if fixture.LongTier() {
		paths = append(paths, "/labs/cache") // before a run
	}
	for _, l := range lab.All() {
		i := l.Info(terms.English)
		if i.Name != "cache" && !fixture.LongTier() {
			continue // all labs share one layout
		}
		paths = append(paths, "/labs/"+i.Name+"?"+small[i.Name]+"&run=1&sure=1&guess=none")
	}
	tab := browser.Open(t, browser.Laptop, url)
	for _, path := range paths {
		tab.Go(url + path)
		tab.Eval(`for (const d of document.querySelectorAll("details:not(.menu)")) d.open = true`)
		tab.Audit(path)
	}
}
