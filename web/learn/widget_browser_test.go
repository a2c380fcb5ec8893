package learn_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
)

// A use is a user's action in an experiment and the expected result: a JavaScript condition on f,
// the experiment's figure element.
type use struct {
	do   func(h browser.Hands, in string) // in is the figure's selector
	then string
}

// uses contains at least one use for each kind of experiment. The expected results do not depend on
// the model.
var uses = map[lessons.WidgetKind][]use{
	lessons.WidgetTurn: {
		{press(".w [data-next]"), `f.querySelector("[aria-current=step]").textContent.includes("Logits")`},
		{
			press(`.w__steps button[value="9"]`),
			`f.querySelectorAll(".tok--gen").length === 1 && f.querySelector(".w__sum").textContent.includes("Logits")`,
		},
		{press(`.w__steps button[value="8"]`), `f.querySelector(".w__sum").textContent.includes("One token")`},
		{fill(`[name="prompt"]`, "The old man"), `true`},
		{press(".w__acts .btn:not([data-play])"), `f.querySelector(".w-text").textContent.includes("man")`},
	},
	lessons.WidgetTemperature: {
		{slide(`[name="t"]`, 2), `f.querySelector("caption").textContent.includes("T = 2.00")`},
		{
			press(`.w__marks button[value="0.5"]`),
			`f.querySelector("caption").textContent.includes("T = 0.50") && ` +
				`f.querySelector("input[type=range]").value === "0.5" && f.querySelector("output").textContent === ` +
				`"0.50"`,
		},
		{fill(`[name="prompt"]`, "Two and two"), `(window.before ??= f.querySelector("tbody").textContent, true)`},
		{
			press(".w__acts .btn"),
			`f.querySelector("tbody").textContent !== window.before && f.querySelector("textarea").value === "Two ` +
				`and two"`,
		},
	},
	lessons.WidgetNucleus: {
		{
			slide(`[name="k"]`, 1),
			`[...f.querySelectorAll("dd")].filter((d) => d.textContent.startsWith("1 ")).length >= 2`,
		},
		{slide(`[name="p"]`, 1), `f.querySelector(".w__sum").textContent.includes("Top-p 1.00")`},
	},
	lessons.WidgetGreedyLoop: {
		{slide(`[name="t"]`, 1.5), `f.querySelector(".w__sum").textContent.includes("T = 1.50")`},
		{press(`.w__marks button[value="0"]`), `f.querySelector(".w__sum").textContent.includes("Greedy")`},
	},
	lessons.WidgetBestSequence: {
		{
			slide(`[name="length"]`, 2),
			`f.querySelectorAll(".w-way").length === 2 && [...f.querySelectorAll(".w-way ol")].every((l) => ` +
				`l.children.length <= 2)`,
		},
	},
	lessons.WidgetStopString: {
		{press(`.w__steps button[value="1"]`), `f.querySelectorAll("tbody tr").length === 1`},
		{press(".w [data-next]"), `f.querySelectorAll("tbody tr").length === 2`},
		{fill(`[name="stop"]`, ""), `true`},
		{press(".w__acts .btn:not([data-play])"), `!f.querySelector("thead").textContent.includes("Matches")`},
	},
	lessons.WidgetCache: {
		{
			press(`.w__steps button[name="at"]:first-of-type`),
			`/Step 47 of 48|Step \d+ of/.test(f.querySelector(".w__sum").textContent) && ` +
				`!f.querySelector("[data-next]").hasAttribute("aria-disabled")`,
		},
		{
			slide(`.w-range input`, 1),
			`f.querySelector(".w__sum").textContent.includes("Step 1 of") && f.querySelector(".w-range ` +
				`output").textContent.startsWith("1 of")`,
		},
	},
	lessons.WidgetTokens: {
		{press(".w-cut__letter:nth-of-type(4) input"), `f.querySelector(".w-cut input:checked").dataset.model === ""`},
		{
			press(".w-cut__letter:nth-of-type(2) input"),
			`f.querySelectorAll(".w-cut input:checked").length === 2 && !f.querySelector(".w-cuts").checkVisibility()`,
		},
		{
			press(".w-model > summary"),
			`f.querySelector(".w-cuts").checkVisibility() && ` +
				`f.querySelector("[data-cut-say]").textContent === "You found 1 of them, and made 1 more."`,
		},
		{fill(`[name="prompt"]`, "un happily"), `true`},
		{
			press(".w__acts .btn"),
			`f.querySelectorAll(".w-cut input").length === 9 && !f.querySelector(".w-cut input:checked") && ` +
				`f.querySelector(".w-cuts").checkVisibility()`,
		},
	},
	lessons.WidgetLook: {
		{
			press(`.w-tri button:nth-of-type(3)`),
			`f.querySelectorAll(".w-tab--look tbody tr").length === 3 && ` +
				`f.querySelectorAll(".w-tri [aria-pressed=true]").length === 1`,
		},
		{slide(`[name="head"]`, 5), `f.querySelector(".w__sum").textContent.includes("head 5")`},
	},
	lessons.WidgetCounters: {
		{
			press(`tbody tr:nth-child(4) button:last-child`),
			`f.querySelector("[name=spread]").value.startsWith("0.0.0.1.") && ` +
				`!f.querySelector("tbody tr:nth-child(4) button").hasAttribute("aria-disabled")`,
		},
		{
			press(`tbody tr:nth-child(4) button:first-child`),
			`f.querySelector("[name=spread]").value.startsWith("0.0.0.0.")`,
		},
		{press(`#ten-wizard-none`), `f.querySelectorAll("tbody td circle").length === 10`},
	},
	lessons.WidgetHide: {
		{
			press(`.w-hide button:nth-of-type(4)`),
			`f.querySelectorAll(".w-hide [aria-pressed=true]").length === 1 && ` +
				`f.querySelector(".w__sum").textContent.includes("1 token hidden")`,
		},
		{press(`.w-hide button:nth-of-type(4)`), `!f.querySelector(".w-hide [aria-pressed=true]")`},
	},
	lessons.WidgetSpeculate: {
		{press(".w [data-next]"), `f.querySelector(".w__sum").textContent.startsWith("Round 2.")`},
		{slide(`[name="gamma"]`, 1), `f.querySelectorAll("tbody tr").length <= 2`},
	},
	lessons.WidgetSure: {
		{slide(`[name="b_sure"]`, 70), `f.querySelector("output[for=sure-four-b-slider]").textContent === "70"`},
		{
			press(`#sure-four-b button[value="invented"]`),
			`f.querySelector("#sure-four-b .w-sure__mark")?.getAttribute("cx") === "70%" && ` +
				`!f.querySelector("#sure-four-a .w-bar")`,
		},
	},
}

func press(selector string) func(browser.Hands, string) {
	return func(h browser.Hands, in string) { h.Press(in + " " + selector) }
}

func slide(selector string, to float64) func(browser.Hands, string) {
	return func(h browser.Hands, in string) { h.Slide(in+" "+selector, to) }
}

func fill(selector, text string) func(browser.Hands, string) {
	return func(h browser.Hands, in string) { h.Fill(in+" "+selector, text) }
}

// TestExperimentsByEveryHand: every kind of experiment works by mouse, by keyboard alone and by
// touch, and its link opens the Loop.
func TestExperimentsByEveryHand(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	browser.Ways(t, func(t *testing.T, screen browser.Screen, with func(*browser.Tab) browser.Hands) {
		done := map[lessons.WidgetKind]bool{}
		tab := browser.Open(t, screen, url+"/learn")
		hands := with(tab)
		for _, w := range experiments(course) {
			if done[w.Kind] {
				continue
			}
			done[w.Kind] = true
			tab.Go(url + w.href)
			in := "#" + w.ID
			tab.Wait("the experiment", fmt.Sprintf(`document.querySelector(%q) !== null`, in))
			tab.Eval(fmt.Sprintf(`document.querySelector(%q).scrollIntoView()`, in))
			noIdea(tab, hands, w.Widget)
			for i, u := range uses[w.Kind] {
				u.do(hands, in)
				tab.Wait(
					fmt.Sprintf("%s, use %d (%s)", w.Kind, i+1, u.then),
					fmt.Sprintf(
						`(() => { const f = document.querySelector(%q); return `+
							`!f.querySelector("[data-feed-error]").textContent && (%s); })()`,
						in, u.then,
					),
				)
			}
			hands.Press(in + " a.w__open")
			tab.Wait("the Loop", `location.pathname === "/loop" && document.getElementById("panel")`)
		}
	})
}

// TestExperimentReportsErrorsInPlace: if the prompt is cleared, the experiment shows an error
// message and keeps the old result. The next valid input removes the message.
func TestExperimentReportsErrorsInPlace(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	for _, w := range experiments(course) {
		if w.Kind != lessons.WidgetTemperature {
			continue
		}
		tab := browser.Open(t, browser.Laptop, url+w.href)
		hands := browser.Keyboard(tab)
		in := "#" + w.ID
		noIdea(tab, hands, w.Widget)
		before := tab.Text(in + " table")
		hands.Fill(in+" textarea", "")
		tab.Keys("\r")
		tab.Wait(
			"the refusal",
			fmt.Sprintf(`document.querySelector(%q).textContent.includes("empty")`, in+" [data-feed-error]"),
		)
		if tab.Attr(in+" textarea", "aria-invalid") != "true" || tab.Text(in+" table") != before {
			t.Error("the field is not marked, or the old result is gone")
		}
		hands.Fill(in+" textarea", "Two words")
		tab.Keys("\r")
		tab.Wait("no message", fmt.Sprintf(`!document.querySelector(%q).textContent`, in+" [data-feed-error]"))
		if tab.Attr(in+" textarea", "aria-invalid") != "" {
			t.Error("the field is still marked")
		}
		return
	}
}

// TestSlowExperimentFinishesInPlace: if an experiment has exceeded the page's time limit, as on a
// slow machine, it is computed once the reader scrolls to it.
func TestSlowExperimentFinishesInPlace(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	w := experiments(course)[slices.IndexFunc(experiments(course), func(w placed) bool { return w.Ask == "" })]
	forward := forwardTo(t, url)
	const empty, slow = `data-feed-error role="alert"></p>`, `data-feed-error role="alert">Too slow.</p>`
	forward.ModifyResponse = func(r *http.Response) error {
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			return nil
		}
		page, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		r.Header.Del("Content-Length")
		r.ContentLength = -1
		r.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(page, []byte(empty), []byte(slow))))
		return nil
	}
	line := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding")
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(line.Close)
	tab := browser.Open(t, browser.Laptop, line.URL+w.href)
	say := fmt.Sprintf(`document.querySelector("#%s [data-feed-error]").textContent`, w.ID)
	tab.Wait("the page", say+` !== undefined`)
	tab.Eval(fmt.Sprintf(`document.querySelector("#%s").scrollIntoView()`, w.ID))
	tab.Wait("a result in place of the message", say+` === ""`)
}

// TestExperimentPlays: Play steps forward automatically, and pauses when pressed again. With
// reduced motion, an experiment plays only on request.
func TestExperimentPlays(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	for _, w := range experiments(course) {
		if w.Kind != lessons.WidgetTurn {
			continue
		}
		tab := browser.Open(t, browser.Laptop, url+w.href)
		now := func(stage string) string {
			return fmt.Sprintf(
				`document.querySelector("#%s [aria-current=step]").textContent.includes(%q)`, w.ID, stage,
			)
		}
		noIdea(tab, browser.Mouse(tab), w.Widget)
		tab.Wait("the first stage", now("Forward"))
		tab.Click("#" + w.ID + " [data-play]")
		tab.Wait("the third stage", now("Softmax"))
		tab.Click("#" + w.ID + " [data-play]")
		if tab.Attr("#"+w.ID+" [data-play]", "aria-pressed") != "false" {
			t.Error("the experiment still plays")
		}
		return
	}
}

// TestExperimentWithoutAScript: without scripts, submitting the form opens a page that shows the
// experiment with its inputs and links back to the lesson.
func TestExperimentWithoutAScript(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	for _, w := range experiments(course) {
		if w.Kind != lessons.WidgetTemperature {
			continue
		}
		tab := browser.Open(t, browser.Laptop, url+"/learn/widget/"+w.ID+"?t=2&prompt=The+old")
		if caption := tab.Text("caption"); !strings.Contains(caption, "T = 2.00") {
			t.Errorf("the table is %q, want it to contain %q", caption, "T = 2.00")
		}
		tab.Click(".w-alone .lead a")
		tab.Wait("the lesson", fmt.Sprintf(`location.pathname === %q`, w.href))
		return
	}
}
