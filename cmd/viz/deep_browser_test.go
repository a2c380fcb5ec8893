package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/browser"
)

// deepPrompt contains words of the made-up vocabulary, tokens of other scripts
// and an emoji.
const deepPrompt = "ba 日本語 dabu 😀 bobi"

// deepModel writes a model with 28 blocks and 151,936 tokens and returns its folder. If $VIZ_DEEP
// is set, it names the folder. To try the model by hand, run
//
//	go run ./cmd/viz -model $VIZ_DEEP
func deepModel(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("VIZ_DEEP")
	if dir == "" {
		dir = t.TempDir()
	}
	if err := fixture.Write(dir, fixture.Deep); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestDeepModelFitsEveryScreen: every stage of a model with 28 blocks and
// 151,936 tokens fits each screen, and shows the numbers that the trace prints
// for the same model.
func TestDeepModelFitsEveryScreen(t *testing.T) {
	fixture.Long(t)
	dir := deepModel(t)
	s := start(t, "-addr", "127.0.0.1:0", "-no-open", "-model", dir)
	trace := traced(t, "-model", dir, "-prompt", deepPrompt, "-n", "2", "-rows", "20")
	for _, size := range []browser.Screen{browser.Phone, browser.Chromebook, browser.Laptop, browser.Desktop} {
		for _, dark := range []bool{false, true} {
			if dark && os.Getenv("VIZ_SHOTS") == "" {
				continue // colors do not change the layout
			}
			size.Dark = dark
			v := deepVisit{
				t, size, openNumbers(t, size, s.url),
				fmt.Sprintf("deep/%d-%s-", size.Width, map[bool]string{false: "light", true: "dark"}[dark]),
			}
			v.walk(trace)
			v.inside()
			v.find()
			v.long()
			v.tab = browser.Open(t, size, s.url+"/loop")
			v.story(trace)
		}
	}
}

// deepVisit is a visit to the Loop with the deep model, on one screen.
type deepVisit struct {
	t    *testing.T
	size browser.Screen
	tab  *browser.Tab
	name string
}

// fits checks that everything on the screen fits the width of the window.
func (v *deepVisit) fits(what string) {
	v.t.Helper()
	// innerWidth would be wrong here: on a phone, it grows with overflowing content.
	if wide := browser.Value[int](v.tab, `document.documentElement.scrollWidth`); wide > v.size.Width {
		widest := browser.Value[[]string](
			v.tab,
			fmt.Sprintf(
				`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > `+
					`%d).slice(-3).map(e => e.outerHTML.slice(0, 120))`,
				v.size.Width,
			),
		)
		v.t.Errorf("%s%s: the page is %d px wide in a window of %d px: %q", v.name, what, wide, v.size.Width, widest)
	}
	v.tab.FullShot(v.name + what + ".png")
	v.tab.Shot(v.name + what + "-window.png")
}

// says checks that the panel contains the given texts.
func (v *deepVisit) says(what string, want ...string) {
	v.t.Helper()
	panel := v.tab.Text("#panel")
	for _, w := range want {
		if !strings.Contains(panel, w) {
			v.t.Errorf("%s%s: the panel lacks %q:\n%s", v.name, what, w, panel)
		}
	}
}

// walk goes through two turns.
func (v *deepVisit) walk(trace map[string]map[string]any) {
	v.t.Helper()
	v.tab.Wait("a live page", `document.documentElement.dataset.conn === "live"`)
	if page := browser.Value[string](
		v.tab, `document.body.textContent`,
	); !strings.Contains(page, "28 blocks, 151,936 tokens") {
		v.t.Errorf("%s: the page does not show which model is loaded", v.name)
	}
	v.tab.Type("#prompt", deepPrompt)
	v.tab.Wait("the pieces of the prompt", `document.querySelectorAll("#pieces .tk").length >= 5`)
	v.fits("0-typed")
	v.tab.Click(`#prompt-form button[type="submit"]`)
	for step := 1; step <= 2; step++ {
		for stage := 1; stage <= 7; stage++ {
			waitStage(v.tab, stage)
			v.stage(step, stage, trace)
			v.fits(fmt.Sprintf("step%d-%d", step, stage))
			if step == 1 || stage < 7 {
				v.tab.Keys(browser.ArrowRight)
			}
		}
	}
}

// stage compares the panel with the trace.
func (v *deepVisit) stage(step, stage int, trace map[string]map[string]any) {
	v.t.Helper()
	of := func(stage string) map[string]any { return trace[fmt.Sprintf("%d %s", step, stage)] }
	number := func(stage, field string) float64 { return of(stage)[field].(float64) }
	switch stage {
	case 1:
		v.says("forward", "Block 28", terms.English.MultAdds(int64(number("forward", "mult_adds"))))
	case 2:
		v.says(
			"logits", "151,936", fmt.Sprintf("%.2f", of("logits")["rows"].([]any)[0].(map[string]any)["z"]), "151,916",
		)
	case 3:
		v.says("softmax", "all 151,936", "sum = 1.0000", fmt.Sprintf("%.4f", number("softmax", "sum_exp")))
	case 4:
		// The trace records stages after the draw, so its last row may be the
		// drawn token.
		expectTable(v.t, v.tab, map[string]any{"rows": of("filter")["rows"].([]any)[:19]})
	case 5:
		v.says("sample", fmt.Sprintf("u = %.4f", number("sample", "u")))
	case 6:
		want := strings.ReplaceAll(of("append")["token"].(map[string]any)["text"].(string), " ", "·")
		if got := v.tab.Text(fmt.Sprintf("#t-%d > span:not(.sr)", step)); got != want {
			v.t.Errorf("%s: token %d is %q on the strip, want %q as in the trace", v.name, step, got, want)
		}
	case 7: // 2 · 28 layers · 2 heads · 8 · 4 bytes a position
		v.says("cache", "28", fmt.Sprintf("%g", number("cache", "positions")))
		if got, want := number("cache", "bytes"), 2*28*2*8*4*number("cache", "positions"); got != want {
			v.t.Errorf("the trace counts %v bytes of cache, want %v", got, want)
		}
	}
}

// inside opens the view of the last block.
func (v *deepVisit) inside() {
	v.t.Helper()
	v.tab.Keys("1")
	waitStage(v.tab, 1)
	v.tab.Eval(`document.querySelector('[data-cmd*=look][data-cmd*=true]')?.click()`)
	v.tab.Wait("28 blocks seen from inside", `document.querySelectorAll("#panel .look .blks > li").length === 28`)
	v.fits("look")
	v.tab.Eval(`[...document.querySelectorAll("#panel [data-cmd*=inside]")].at(-1).click()`)
	v.tab.Wait(
		"block 28 opened",
		`document.querySelector("#map-zoom").innerText.includes("Inside block 28") && `+
			`document.querySelectorAll("#map-zoom .ins__heads tr").length === 8`,
	)
	v.fits("inside")
	v.tab.Eval(`document.querySelector('[data-zoom-out]').click()`)
}

// find searches for an improbable token.
func (v *deepVisit) find() {
	v.t.Helper()
	v.tab.Keys("5")
	waitStage(v.tab, 5)
	v.tab.Eval(
		`for (const d of document.querySelectorAll("details")) if (d.querySelector("[data-find]")) d.open = true`,
	)
	v.tab.Set("[data-find]", "<script>")
	v.tab.Wait("the token <script>", `document.querySelector("#found [data-cmd]")?.innerText.includes("<script>")`)
	v.fits("find")
	v.tab.Set("[data-find]", "Donau")
	v.tab.Wait("a long token", `document.querySelector("#found [data-cmd]")?.innerText.includes("Donau")`)
	v.fits("find-long")
}

// story goes through a turn in the Story, and then to the end of its text.
func (v *deepVisit) story(trace map[string]map[string]any) {
	v.t.Helper()
	v.tab.Wait("a live page in the Story",
		`document.documentElement.dataset.conn === "live" && document.body.dataset.view === "story"`)
	v.fits("story-empty")
	v.tab.Type("#prompt", deepPrompt)
	v.tab.Chord(browser.Enter)
	for stage := 1; stage <= 7; stage++ {
		v.tab.Wait(fmt.Sprintf("stage %d in the Story", stage), fmt.Sprintf(
			`document.querySelector("#rail li:nth-child(%d)")?.classList.contains("is-now")`, stage))
		v.fits(fmt.Sprintf("story-%d", stage))
		if stage == 5 {
			v.tab.Keys(browser.ArrowRight)
			v.tab.Wait("the draw", `!document.querySelector("#panel[data-undrawn]")`)
			v.fits("story-drawn")
		}
		v.tab.Keys(browser.ArrowRight)
	}
	want := strings.TrimSpace(trace["1 append"]["token"].(map[string]any)["text"].(string))
	if got := v.tab.Text("#strip-gen > .w"); got != want {
		v.t.Errorf("%s: the Story continues with %q, want %q as in the trace", v.name, got, want)
	}
	v.tab.Keys("e")
	v.tab.Wait("the end of the text", `document.querySelector(".story--end")`)
	v.fits("story-end")
}

// long selects the longest token of the vocabulary and checks that it fits wherever tokens are
// shown.
func (v *deepVisit) long() {
	v.t.Helper()
	v.tab.Set("[data-find]", fixture.LongWord[len(fixture.LongWord)-20:]) // the longest text that a search accepts
	v.tab.Wait(
		"the longest token",
		fmt.Sprintf(`document.querySelector("#found [data-cmd]")?.textContent.includes(%q)`, fixture.LongWord[1:]),
	)
	v.fits("find-longest")
	v.tab.Click("#found [data-cmd]")
	for _, stage := range []int{5, 6, 7, 1, 2, 3} {
		waitStage(v.tab, stage)
		v.fits(fmt.Sprintf("long-%d", stage))
		v.tab.Keys(browser.ArrowRight)
	}
}
