package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// The tests in this file run the whole program: a server started as `viz serve` starts it, and a
// real browser.

const storyPrompt = "Once upon a time there was a"

// begin opens the page, types a prompt and starts the run.
func begin(t *testing.T, screen browser.Screen, prompt string) *browser.Tab {
	t.Helper()
	s := start(t, "-addr", "127.0.0.1:0", "-no-open")
	tab := openNumbers(t, screen, s.url)
	tab.Type("#prompt", prompt)
	tab.Keys(browser.Tabulator)
	tab.Click(`#prompt-form button[type="submit"]`)
	waitStage(tab, 1)
	return tab
}

// openNumbers opens the Loop as a learner who has switched to Numbers.
func openNumbers(t *testing.T, screen browser.Screen, url string) *browser.Tab {
	t.Helper()
	tab := browser.Open(t, screen, url+"/loop")
	const live = `document.querySelector("[data-live]")?.textContent.includes("live")`
	tab.Wait("a live page", live)
	tab.Click(`.view [value="numbers"]`)
	tab.Wait("a live page in Numbers", `document.body?.dataset.view === "numbers" && `+live)
	return tab
}

// waitStage waits until the panel shows the given stage. If the page withholds the draw at that
// stage, waitStage reveals it.
func waitStage(tab *browser.Tab, stage int) {
	tab.Wait(fmt.Sprintf("stage %d", stage),
		fmt.Sprintf(`document.querySelector("#panel").innerText.includes("stage %d of 7")`, stage))
	const drawn = `!document.querySelector("#panel[data-undrawn]")`
	if !browser.Value[bool](tab, drawn) {
		tab.Keys(browser.ArrowRight)
		tab.Wait("the draw", drawn)
	}
}

// figures returns the numbers in the panel, except for those in the line above the table, which
// explains the hovered or focused row.
func figures(tab *browser.Tab) string {
	return strings.Join(tab.Texts("#panel h1, #panel .facts dd, #panel tbody tr, #panel tfoot tr, #panel dd"), "\n")
}

// traced returns the objects that `viz trace -json` prints, keyed by step and stage.
func traced(t *testing.T, args ...string) map[string]map[string]any {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(
		context.Background(), append([]string{"trace", "-json"}, args...), func(string) string { return "" },
		strings.NewReader(""), &out, &errs,
	)
	if code != 0 {
		t.Fatalf("viz trace %q: exit %d, want 0: %s", args, code, errs.String())
	}
	stages := map[string]map[string]any{}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		step, _ := object["step"].(float64)
		stages[fmt.Sprintf("%v %s", step, object["stage"])] = object
	}
	return stages
}

// fourPlaces formats a probability as the pages do.
func fourPlaces(p float64) string {
	switch {
	case p > 0 && p < 0.00005:
		return "<0.0001"
	case p > 0.99995 && p < 1:
		return ">0.9999"
	}
	return fmt.Sprintf("%.4f", p)
}

// filterTable returns the token, z, p and p′ of each of the first rows of the page's filter table.
func filterTable(tab *browser.Tab, rows int) [][]string {
	return browser.Value[[][]string](tab, fmt.Sprintf(
		`[...document.querySelectorAll("#panel tbody tr[data-row]")].slice(0, %d).map(r =>
			[r.querySelector("th"), r.children[1], r.querySelector("td.p"), r.querySelector("td.q")]
				.map(cell => cell.innerText.trim()))`, rows))
}

// expectTable compares the page's filter table with the filter object of a trace.
func expectTable(t *testing.T, tab *browser.Tab, filter map[string]any) {
	t.Helper()
	rows := filter["rows"].([]any)
	var want [][]string
	for _, r := range rows {
		row := r.(map[string]any)
		q := fourPlaces(row["q"].(float64))
		if !row["kept"].(bool) {
			q = "–"
		}
		text := strings.ReplaceAll(row["text"].(string), " ", "·")
		want = append(want, []string{text, fmt.Sprintf("%.2f", row["z"]), fourPlaces(row["p"].(float64)), q})
	}
	if got := filterTable(tab, len(rows)); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the page shows\n%v\nwant the trace's rows:\n%v", got, want)
	}
}

// Promise: The page shows the numbers that `viz trace -json` prints, to the last digit shown.
func TestPageShowsWhatTheTracePrints(t *testing.T) {
	t.Parallel()
	tab := begin(t, browser.Laptop, storyPrompt)
	for stage := 2; stage <= 4; stage++ {
		tab.Keys(browser.ArrowRight)
		waitStage(tab, stage)
	}
	expectTable(t, tab, traced(t, "-prompt", storyPrompt, "-n", "1", "-rows", "20")["1 filter"])

	// Moving a control at the filter stage takes effect immediately.
	tab.Set("#temperature", "1.5")
	tab.WaitText("#out-temperature", "1.50")
	tab.Set("#top_k", "7")
	stages := traced(t, "-prompt", storyPrompt, "-n", "1", "-rows", "20", "-temp", "1.5", "-top-k", "7")
	tab.Wait("top-k 7", `document.querySelector("#out-top_k").innerText.startsWith("7")`)
	tab.WaitText("#panel .facts dd", fmt.Sprint(stages["1 filter"]["kept"]))
	expectTable(t, tab, stages["1 filter"])

	// The draw matches the trace: u, and the drawn token.
	tab.Keys(browser.Escape)
	tab.Keys(browser.ArrowRight)
	waitStage(tab, 5)
	sample := stages["1 sample"]
	if panel := tab.Text("#panel"); !strings.Contains(panel, fmt.Sprintf("u = %.4f", sample["u"])) {
		t.Errorf(
			"the panel lacks u = %.4f:\ngot %s\nwant it to contain %q", sample["u"], panel,
			fmt.Sprintf("u = %.4f", sample["u"]),
		)
	}
	tab.Keys(browser.ArrowRight)
	waitStage(tab, 6)
	want := strings.ReplaceAll(sample["chosen"].(map[string]any)["text"].(string), " ", "·")
	if got := tab.Text("#t-1 > span:not(.sr)"); got != want {
		t.Errorf("the strip shows %q, want %q as in the trace", got, want)
	}
}

// Promise: Stepping back shows each stage as it was, and stepping forward again changes nothing.
func TestForwardAndBackThroughAllStages(t *testing.T) {
	fixture.Long(t)
	tab := begin(t, browser.Laptop, storyPrompt)
	seen := map[int]string{1: figures(tab)}
	for stage := 2; stage <= 7; stage++ {
		tab.Keys(browser.ArrowRight)
		waitStage(tab, stage)
		seen[stage] = figures(tab)
	}
	for stage := 6; stage >= 1; stage-- {
		tab.Keys(browser.ArrowLeft)
		waitStage(tab, stage)
		if got := figures(tab); got != seen[stage] {
			t.Errorf("back at stage %d, the panel shows\n%s\nwant the same as before:\n%s", stage, got, seen[stage])
		}
	}
	for stage := 2; stage <= 7; stage++ {
		tab.Keys(browser.ArrowRight)
		waitStage(tab, stage)
	}
	if got := figures(tab); got != seen[7] {
		t.Errorf("forward again, the cache stage shows\n%s\nwant\n%s", got, seen[7])
	}
	tab.Keys("3") // view an earlier stage
	waitStage(tab, 3)
}

func TestPlayToAStop(t *testing.T) {
	fixture.Long(t)
	tab := begin(t, browser.Laptop, storyPrompt)
	tab.Set("#max_tokens", "9")
	tab.Click(`[data-cmd*='"max"']`)
	tab.Click(`[data-cmd='{"cmd":"play"}']`)
	tab.Wait(
		"nine tokens and the stop",
		`document.querySelectorAll("#strip-gen > *").length === 9 && `+
			`document.querySelector("#stops-head").innerText.length > 0 && `+
			`!document.querySelector("#transport").innerText.includes("Pause")`,
	)
	stages := traced(t, "-prompt", storyPrompt, "-n", "9")
	var want []string
	for step := 1; step <= 9; step++ {
		want = append(
			want,
			strings.ReplaceAll(
				stages[fmt.Sprintf("%d append", step)]["token"].(map[string]any)["text"].(string), " ", "·",
			),
		)
	}
	if got := tab.Texts("#strip-gen > * > span:not(.sr)"); !slices.Equal(got, want) {
		t.Errorf("the page generated %q, want %q as in the trace", got, want)
	}
	if stages["9 append"]["stop"] != "max_tokens" {
		t.Errorf("the trace stopped because of %v, want %v", stages["9 append"]["stop"], "max_tokens")
	}
	if next := tab.Text("#strip-next"); !strings.Contains(next, "max tokens") {
		t.Errorf("the slot after the text shows %q, want the reason for the stop", next)
	}
}

// Promise: An error in a form appears next to the field that caused it.
func TestInputErrorsAppearBesideTheirControl(t *testing.T) {
	fixture.Long(t)
	tab := begin(t, browser.Laptop, storyPrompt)
	before := tab.Text("#strip-prompt")
	for _, c := range []struct{ field, value, say string }{
		{"seed", "-1", "seed"},
		{"max_tokens", "0", "1 to 1,000,000"},
		{"max_tokens", "many", "number"},
	} {
		tab.Set("#"+c.field, c.value)
		tab.Wait(
			"an error on "+c.field, fmt.Sprintf(`document.querySelector("#err-%s").innerText.trim() !== ""`, c.field),
		)
		if got := tab.Text("#err-" + c.field); !strings.Contains(strings.ToLower(got), c.say) {
			t.Errorf("%s = %q: the page says %q, want it to say %q", c.field, c.value, got, c.say)
		}
	}
	if after := tab.Text("#strip-prompt"); after != before {
		t.Error("an invalid input changed the run")
	}
}

func TestReloadShowsTheSameStage(t *testing.T) {
	fixture.Long(t)
	tab := begin(t, browser.Phone, storyPrompt)
	for range 3 {
		tab.Tap(`#transport .btn--main`)
	}
	waitStage(tab, 4)
	panel := figures(tab)
	tab.Reload()
	waitStage(tab, 4)
	if got := figures(tab); got != panel {
		t.Errorf("after a reload, the panel shows\n%s\nwant the same as before:\n%s", got, panel)
	}
}
