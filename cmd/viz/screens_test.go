package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
)

// screensPrompt is the prompt that the page designs use, so that screenshots can be compared with
// the designs.
const screensPrompt = "In the old house lived a"

// TestScreensFitTheirWindow takes screenshots of every state that a newcomer sees, at four sizes
// and in both themes, and saves them under $VIZ_SHOTS. The states are the home page, the first run,
// the Loop in both views, a lesson, and a class on the presenter's screen, the wall and a phone.
// $VIZ_ONLY selects some of the screens ("390-light") or parts ("first"). The test fails if a page
// is wider than its window.
func TestScreensFitTheirWindow(t *testing.T) {
	if os.Getenv("VIZ_SHOTS") == "" {
		t.Skip("set VIZ_SHOTS to a folder for screenshots of every screen")
	}
	s := start(t, "-addr", "127.0.0.1:0", "-no-open")
	parts := map[string]func(screens){
		"home": screens.home, "first": screens.first, "story": screens.story, "numbers": screens.numbers,
		"lesson": screens.lesson, "class": screens.class, "walk": screens.walk,
	}
	only := os.Getenv("VIZ_ONLY")
	for name, screen := range browser.Screens() {
		for part, shots := range parts {
			wanted := func(of string, all func(string) bool) bool { return !all(only) || strings.Contains(only, of) }
			if wanted(name, func(only string) bool { return strings.ContainsAny(only, "0123456789") }) &&
				wanted(part, func(only string) bool { return strings.Trim(only, "0123456789- darklight") != "" }) {
				shots(screens{browser.Open(t, screen, s.url+"/"), t, s.url, name + "-" + part, screen})
			}
		}
	}
}

// screens is a visitor whose pages are saved as screenshots.
type screens struct {
	*browser.Tab
	t         *testing.T
	url, name string
	on        browser.Screen
}

// shot saves a screenshot of the window and, on a phone, also of the whole page.
func (s screens) shot(what string) {
	s.t.Helper()
	s.Until(`document.readyState === "complete" && document.fonts.status === "loaded"`)
	wide := browser.Value[float64](
		s.Tab, `document.documentElement.scrollWidth - document.documentElement.clientWidth`,
	)
	if wide > 0 {
		s.t.Errorf("%s-%s: the page is %g px wider than the window, want 0", s.name, what, wide)
	}
	s.Shot(s.name + "-" + what + ".png")
}

func (s screens) home() {
	s.shot("1")
	s.Go(s.url + "/learn")
	s.shot("learn")
}

func (s screens) first() {
	at := func(scene string) {
		s.t.Helper()
		s.Until(`document.readyState === "complete" && document.querySelector(".fr--` + scene + `") !== null`)
	}
	press := func() { s.Eval(`document.querySelector("main .pick, main .btn--main").click()`) }
	s.Go(s.url + "/first")
	at("write")
	s.shot("1-write")
	s.Go(s.url + "/first?" + url.Values{"prompt": {screensPrompt}}.Encode())
	for n, scene := range []string{"read", "guess", "shares", "bolder", "drop", "joined", "end"} {
		at(scene)
		s.shot(fmt.Sprintf("%d-%s", n+2, scene))
		press()
		switch scene {
		case "drop":
			s.Until(`document.querySelector(".laid__drop")`)
			s.shot(fmt.Sprintf("%d-%s-fallen", n+2, scene))
			press()
		case "bolder":
			s.Until(`document.querySelector("#temperature")`)
			s.shot(fmt.Sprintf("%d-%s-knob", n+2, scene))
			press()
		}
	}
	s.Until(`document.querySelector(".keep")`)
	s.shot("9-card")
	s.Go(s.url + "/")
	s.shot("10-home-after")
}

const isLiveLoop = `document.querySelector("[data-live]")?.textContent.includes("live")`

func (s screens) story() {
	s.Go(s.url + "/loop")
	s.Until(isLiveLoop)
	s.shot("0-empty")
	s.loop("story")
}

func (s screens) numbers() {
	s.Go(s.url + "/loop")
	s.Until(isLiveLoop)
	s.Click(`.view [value="numbers"]`)
	s.Until(`document.body?.dataset.view === "numbers" && ` + isLiveLoop)
	s.shot("0-empty")
	s.loop("panel")
}

// loop visits the second token of a run in one of the views, and the end of the run.
func (s screens) loop(class string) {
	s.Type("#prompt", screensPrompt)
	s.shot("0-typed")
	s.Chord(browser.Enter)
	at := func(n int) {
		s.t.Helper()
		s.Until(fmt.Sprintf(`document.querySelector("#panel")?.innerText.includes("%d of 7")`, n))
	}
	for stage := 1; stage <= 7; stage++ {
		at(stage)
		s.shot(fmt.Sprint(stage))
		if stage == 1 {
			s.Eval(`document.querySelector(".map__key--row")?.click()`)
			s.Until(`!document.querySelector(".map__key--row") || document.querySelector("#map-zoom [data-zoom-now]")`)
			s.shot("1-zoom")
			s.Eval(`document.querySelector("[data-zoom-out]")?.click(); document.activeElement.blur()`)
		}
		s.Keys(browser.ArrowRight)
		if stage == 5 {
			s.Until(`!document.querySelector("#panel[data-undrawn], .laid.is-open")`)
			s.shot("5-drawn")
			s.Keys(browser.ArrowRight)
		}
	}
	at(1)
	s.shot("8-second-token")
	s.Eval(`document.querySelector('[data-toggle="prompt-box"]').click()`)
	s.Until(`document.activeElement.id === "prompt"`)
	s.shot("8-new-beginning")
	s.Keys(browser.Escape)
	s.Keys("e")
	s.Until(`document.querySelector(".the-end")`)
	s.shot("9-end")
	s.Eval(`document.querySelector("#strip-gen [data-step]:not([aria-current])").click()`)
	s.Until(`!document.querySelector(".story--end, #reading:not([hidden])")`)
	s.shot("10-looking-back")
	s.Eval(`document.querySelector("#strip-gen [data-step]").focus()`)
	s.Until(`document.querySelector("#peek .alt")`)
	s.Eval(`document.querySelector("#peek .alt").click()`)
	s.Until(`document.querySelector("#branched .btn")`)
	s.shot("11-branch")
	if class == "panel" {
		s.settings()
	}
}

// settings shows the console with everything open and an invalid value.
func (s screens) settings() {
	s.Eval(`document.querySelector("#all-controls").checked = true`)
	s.Eval(`document.querySelector("#more-rules > summary").click()`)
	s.Until(`document.querySelector("#more-rules").open`)
	s.shot("12-settings")
	s.Eval(`const field = document.querySelector('.slide__n[data-set="temperature"]');
		field.value = "warm"; field.dispatchEvent(new Event("input", {bubbles: true}))`)
	s.Until(`document.querySelector("#err-temperature").textContent !== ""`)
	s.shot("13-error")
	s.Eval(`document.querySelector("#more-rules > summary").click()`)
	s.shot("13-error-closed")
}

func (s screens) lesson() {
	for _, page := range []string{"01-the-loop", "04-temperature"} {
		s.Go(s.url + "/learn/" + page[3:])
		s.shot(page)
		s.Eval(`document.querySelector("[id^=widget], .widget, [data-widget]")?.scrollIntoView()`)
		s.shot(page + "-experiment")
	}
}

// walk shows the first walkthrough, in which two phones vote and draw.
func (s screens) walk() {
	presenter, room := s.room()
	presenter.Go(room + "/present")
	wall := screens{presenter.Another(s.on, room+"/projector"), s.t, s.url, s.name, s.on}
	phones := []*browser.Tab{s.Tab, browser.Open(s.t, browser.Phone, room)}
	s.Go(room)
	presenter.Until(`document.querySelector("#cl-who")?.textContent.includes("2 here")`)
	const next = ".presenter__form .btn--main"
	for n := range 30 {
		for i, phone := range phones {
			phone.Eval(fmt.Sprintf(
				`document.querySelectorAll("#cl-poll :is([data-letter], [data-draw])")[%d]?.click()`, i,
			))
		}
		screens{presenter, s.t, s.url, s.name, s.on}.shot(fmt.Sprintf("%02d-desk", n))
		wall.shot(fmt.Sprintf("%02d-wall", n))
		s.shot(fmt.Sprintf("%02d-phone", n))
		was := presenter.Text(".presenter__ctl") + presenter.Text("#pr-note")
		if strings.Contains(was, "See the summary") {
			break
		}
		presenter.Click(next)
		presenter.Until(fmt.Sprintf(
			`document.querySelector(".presenter__ctl").innerText.trim() +
				document.querySelector("#pr-note").innerText.trim() !== %q`, was,
		))
	}
	presenter.Go(room + "/summary")
	screens{presenter, s.t, s.url, s.name, s.on}.shot("99-summary")
}

// room creates a new classroom and opens its presenter's page.
func (s screens) room() (presenter *browser.Tab, at string) {
	presenter = browser.Open(s.t, s.on, s.url+"/teach")
	presenter.Eval(`document.querySelector("#title").value = "Room 7";
		document.querySelector('[name="alone"]').checked = true;
		document.querySelector(".make").requestSubmit()`)
	presenter.Wait("the new room", `document.querySelector(".made__code")`)
	made, err := url.Parse(presenter.URL())
	if err != nil {
		s.t.Fatal(err)
	}
	return presenter, s.url + strings.TrimSuffix(made.Path, "/made")
}

// class shows a class with a presenter, a wall, and one phone that has the size of the screen.
func (s screens) class() {
	presenter, room := s.room()
	shown := map[string]screens{"presenter": {presenter, s.t, s.url, s.name, s.on}}
	shown["presenter"].shot("0-made")
	presenter.Go(room + "/present")
	shown["wall"] = screens{presenter.Another(s.on, room+"/projector"), s.t, s.url, s.name, s.on}
	s.Go(room)
	shown["phone"] = s
	presenter.Until(`document.querySelector("#cl-who")?.textContent.includes("1 here")`)
	drive := func(cmd string, fields ...string) {
		form := url.Values{"cmd": {cmd}}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		presenter.Eval(fmt.Sprintf(`window.done = false; fetch(%q, {method: "POST", body: %q, headers: {
			"Viz-Fragment": "1", "Content-Type": "application/x-www-form-urlencoded"}})
			.then(async r => { window.done = r.status === 204 ? "done" : await r.text() })`, room+"/do", form.Encode()))
		presenter.Wait("an answer to "+cmd, `window.done === "done"`)
	}
	all := func(what, script string) {
		for name, on := range shown {
			on.Wait(what+" on the "+name, script)
			on.shot(what + "-" + name)
		}
	}
	all("0-waiting", `document.readyState === "complete"`)
	drive("start", "prompt", screensPrompt)
	for stage := 1; stage <= 7; stage++ {
		if stage > 1 {
			drive("forward")
		}
		all(fmt.Sprint(stage), fmt.Sprintf(`document.querySelector("#panel.story--%d")`, stage))
	}
	drive("ask-next", "where", "here")
	all("8-vote", `document.querySelector("#cl-ask, #cl-poll")`)
	drive("reveal")
	all("8-revealed", `document.querySelector('[data-phase="revealed"]')`)
	drive("ask-draw", "where", "here")
	all("9-dice", `document.querySelector("#cl-ask, #cl-poll")`)
	s.Eval(`document.querySelector("[data-draw]").click()`)
	drive("reveal")
	all("9-dice-revealed", `document.querySelector('[data-phase="revealed"]')`)
	drive("end")
	all("10-end", `document.readyState === "complete"`)
}
