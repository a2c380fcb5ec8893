package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
)

// TestTourNeverScrollsSideways walks through the program like a visitor, at three sizes, in the
// light and dark themes, and saves screenshots under $VIZ_SHOTS. It fails if a screen scrolls
// sideways.
func TestTourNeverScrollsSideways(t *testing.T) {
	if os.Getenv("VIZ_SHOTS") == "" {
		t.Skip("set VIZ_SHOTS to a folder for screenshots of every screen")
	}
	s := start(t, "-addr", "127.0.0.1:0", "-no-open")
	for _, size := range []browser.Screen{browser.Phone, browser.Laptop, browser.Desktop} {
		for _, dark := range []bool{false, true} {
			screen := size
			screen.Dark = dark
			name := fmt.Sprintf("%d-%s-", size.Width, map[bool]string{false: "light", true: "dark"}[dark])
			tour(t, openNumbers(t, screen, s.url), name)
		}
	}
}

func tour(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	shot := func(what string) {
		t.Helper()
		if wide := browser.Value[float64](
			tab, `document.documentElement.scrollWidth - document.documentElement.clientWidth`,
		); wide > 0 {
			t.Errorf("%s%s: the page is %g px wider than the window, want 0", name, what, wide)
		}
		tab.FullShot(name + what + ".png")
	}
	tab.Wait("a live page", `document.querySelector("[data-live]").textContent.includes("live")`)
	shot("0-empty")
	tab.Type("#prompt", "Once upon a time there was a")
	tab.Wait("the pieces of the prompt", `document.querySelectorAll("#pieces .tk").length >= 7`)
	shot("0-typed")
	tab.Click(`#prompt-form button[type="submit"]`)
	for step := 1; step <= 3; step++ {
		for stage := 1; stage <= 7; stage++ {
			tab.Wait(fmt.Sprintf("step %d, stage %d", step, stage),
				fmt.Sprintf(
					`document.querySelector("#panel")?.innerText.includes("stage %d of 7") && `+
						`document.querySelector("#rail .rail__head").innerText.length > 0`,
					stage,
				))
			if step == 1 || step == 3 {
				shot(fmt.Sprintf("step%d-%d", step, stage))
			}
			tab.Keys(browser.ArrowRight)
		}
	}
	tab.Click(`[data-cmd*='"max"']`)
	tab.Click(`[data-cmd='{"cmd":"play"}']`)
	tab.Wait(
		"the end of the run",
		`document.querySelector("#transport").innerText.includes("New prompt") && `+
			`!document.querySelector("#transport").innerText.includes("Pause") && `+
			`document.querySelectorAll("#strip-gen > *").length > 10`,
	)
	shot("9-stopped")
}
