package labs_test

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// ahead is a JavaScript expression for how many of the first lane's tokens are still hidden.
const ahead = `[...document.querySelectorAll("#s-lanes .lane:first-of-type [data-at]")].filter((x) => ` +
	`getComputedStyle(x).visibility === "hidden").length`

// TestStepThroughLanes: the user can step through all lanes together. Each lane shows its own token
// and the shared u.
func TestStepThroughLanes(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t)
	browser.Ways(t, func(t *testing.T, screen browser.Screen, with func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, url+"/labs/strategies?tokens=8&runs=1&horizon=0&lanes=greedy,pure,t=2")
		hands := with(tab)
		run(tab, hands)
		if got := tab.Text("#s-lanes .walk__say"); got != "token 8 of 8" {
			t.Fatalf("at the end: got %q, want %q", got, "token 8 of 8")
		}
		hands.Press(`#s-lanes [data-by="-1"]`)
		hands.Press(`#s-lanes [data-by="-1"]`)
		hands.Press(`#s-lanes [data-by="-1"]`)
		hands.Press(`#s-lanes [data-by="1"]`)
		tab.WaitText("#s-lanes .walk__say", "token 6 of 8")
		if n := browser.Value[int](tab, ahead); n != 2 {
			t.Errorf("%d tokens are hidden, want 2", n)
		}
		now := tab.Texts("#s-lanes .lane__now")
		for i, say := range now {
			if !strings.HasPrefix(say, "token 6, ") || (i > 0) != strings.Contains(say, "; u = ") {
				t.Errorf(
					"lane %d says %q; want say beginning with %q, i > 0 = %t", i+1, say, "token 6, ",
					strings.Contains(say, "; u = "),
				)
			}
		}
		u := func(say string) string {
			_, u, _ := strings.Cut(say, "u = ")
			return strings.Fields(u + " .")[0]
		}
		if len(now) != 3 || u(now[1]) != u(now[2]) {
			t.Errorf("got lanes %q, want three with the same u", now)
		}
		hands.Slide("#s-lanes .walk input", 1)
		tab.WaitText("#s-lanes .walk__say", "token 1 of 8")
		hands.Press("#s-lanes [data-play]")
		tab.Wait(
			"the end of the replay",
			`document.querySelector("#s-lanes .walk__say").textContent === "token 8 of 8" && `+
				`document.querySelector("#s-lanes [data-play]").getAttribute("aria-pressed") === "false"`,
		)
		if n := browser.Value[int](tab, ahead); n != 0 {
			t.Errorf("%d tokens are hidden at the end, want 0", n)
		}
	})
}

// TestBillGrowsPerToken: the page shows how the bill grows with each token, and changed prices
// affect it immediately.
func TestBillGrowsPerToken(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	tab := browser.Open(t, browser.Phone, serve(t)+"/labs/bill?max_tokens=8&try_max_tokens=4")
	hands := browser.Touch(tab)
	run(tab, hands)
	// 8 output tokens at $15 per million are $0.00012, and 8 input tokens at $3 are $0.000024.
	if got := tab.Text(".meter"); !strings.HasPrefix(got, "8 read + 8 written = $0.000144 after ") {
		t.Errorf("at the end: got %q, want it to begin with %q", got, "8 read + 8 written = $0.000144 after ")
	}
	hands.Press(`#s-answer [data-by="-1"]`)
	tab.Wait(
		"a token less",
		`document.querySelector(".meter").textContent.startsWith("8 read + 7 written = $0.000129 after ")`,
	)
	tab.Set("#f-output_price", "150")
	tab.Wait(
		"another price, at the same token",
		`document.querySelector(".meter").textContent.startsWith("8 read + 7 written = $0.001074 after ")`,
	)
}

// TestSpeculationRoundsInWords: each verdict on a proposal has a sentence.
func TestSpeculationRoundsInWords(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	tab := browser.Open(t, browser.Laptop, serve(t)+"/labs/speculation?"+small["speculation"])
	hands := browser.Keyboard(tab)
	run(tab, hands)
	hands.Slide("#s-rounds .walk input", 1)
	tab.Wait(
		"the first verdict",
		`/^“.+”: q [\d.]+.*p [\d.]+.*u = [\d.]+ is (not )?below min\(1, p\/q\) = .*, so it is `+
			`(taken|refused)\.$/.test(document.querySelector("#s-rounds .meter").textContent)`,
	)
	if n := browser.Value[int](
		tab, `document.querySelectorAll("#s-rounds tr.is-ahead").length + 1`,
	); n != browser.Value[int](tab, `document.querySelectorAll("#s-rounds [data-at]").length`) {
		t.Errorf("got %d hidden verdicts, want all but one", n-1)
	}
}
