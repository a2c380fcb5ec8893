package classroom_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// lesson is a class in real browsers: one presenter, one projector, three phones.
type lesson struct {
	t                  *testing.T
	code               string
	presenter, wall    *browser.Tab
	phones             []*browser.Tab
	step               int  // the current step of the walkthrough
	reVoted, sawReveal bool // whether the walkthrough had a re-vote and a reveal
}

// newLesson creates a room as an instructor would, and joins it with the phones.
func newLesson(t *testing.T, walk string, laptop, wall, phone browser.Screen) *lesson {
	t.Helper()
	base := serve(t)
	l := &lesson{t: t, presenter: browser.Open(t, laptop, base+"/teach?walk="+walk)}
	l.presenter.Type("#title", "Room 7")
	l.presenter.Click(".make .btn--main")
	l.presenter.Wait("the new room", `document.querySelector(".made__code")`)
	u, err := url.Parse(l.presenter.URL())
	if err != nil {
		t.Fatal(err)
	}
	l.code = strings.Split(u.Path, "/")[2]
	l.presenter.Shot("made.png")
	l.presenter.Go(base + "/class/" + l.code + "/present")
	l.wall = l.presenter.Another(wall, base+"/class/"+l.code+"/projector")
	for range 3 {
		tab := browser.Open(t, phone, base+"/join?code="+strings.ToLower(l.code[:3]+" "+l.code[3:]))
		l.phones = append(l.phones, tab)
	}
	says(l.presenter, "#cl-who", "3 here")
	return l
}

// says waits until an element contains the given text.
func says(tab *browser.Tab, selector, text string) {
	tab.Wait(
		fmt.Sprintf("%q in %s", text, selector),
		fmt.Sprintf("document.querySelector(%q)?.textContent.replace(/\\s+/g, ' ').includes(%q)", selector, text),
	)
}

// all waits until the script returns true on every screen.
func (l *lesson) all(what, script string) {
	l.t.Helper()
	for _, tab := range append([]*browser.Tab{l.presenter, l.wall}, l.phones...) {
		tab.Wait(what, script)
	}
}

// next advances the walkthrough by one step, as a clicker would.
func (l *lesson) next() {
	l.t.Helper()
	l.step++
	l.presenter.Keys(kb.PageDown)
	says(l.presenter, "#pr-note small", fmt.Sprintf("Step %d of", l.step))
}

// cast votes on the phones: the first phone votes for the option with the first of the
// letters, and so on.
func (l *lesson) cast(letters string) {
	l.t.Helper()
	for i, phone := range l.phones {
		letter := letters[i : i+1]
		browser.Touch(phone).Press(`#cl-poll button[data-letter="` + letter + `"]`)
		phone.Wait(
			"a vote that counts",
			`document.querySelector('#cl-poll button[data-letter="`+letter+
				`"] em').textContent === "your vote, counted"`,
		)
	}
	l.all(
		"three votes",
		`[...document.querySelectorAll("#cl-poll, #cl-body")].some(e => e.textContent.includes("3 of 3 have voted"))`,
	)
}

// secrets is a script that returns the parts of a page that must not be visible before the
// reveal.
const secrets = `[...document.querySelectorAll("#cl-poll .two, #cl-body .two, #cl-stage .tc, #cl-stage .cum, ` +
	`#cl-body .tc, #cl-body .cum, .is-pick, .is-known")].map(e => e.outerHTML.slice(0, 200)).join("\n")`

// hides checks that no screen shows the answer.
func (l *lesson) hides() {
	l.t.Helper()
	for _, tab := range append([]*browser.Tab{l.presenter, l.wall}, l.phones...) {
		if found := browser.Value[string](tab, secrets); found != "" {
			l.t.Errorf("before the reveal, a screen shows %s", found)
		}
	}
}

// ask goes through a poll on the next token: the class votes, changes a vote, sees the votes
// and votes again, and the presenter reveals the result.
func (l *lesson) ask() {
	l.t.Helper()
	l.hides()
	l.cast("abc")
	l.cast("bbc") // one member has changed their vote
	l.hides()
	l.shots("voting")
	l.presenter.Click(`#pr-ctl button[value="spread"]`)
	l.all(
		"the votes",
		`document.querySelector('[data-phase="spread"]') && document.querySelectorAll(".two .by-class").length > 0`,
	)
	for _, tab := range l.phones {
		if browser.Value[bool](tab, `document.querySelector(".two .by-model") !== null`) {
			l.t.Error("the model's bars are shown together with the votes")
		}
	}
	l.presenter.Keys("p")
	l.all("a second vote", `document.querySelector('[data-phase="open"]')`)
	l.cast("ddc")
	l.presenter.Keys("v")
	l.all("the reveal", `document.querySelector('[data-phase="revealed"]') && document.querySelector(".two .by-model")`)
	for i, want := range []string{"67%", "67%", "33%"} {
		says(l.phones[i], "[data-yours]", "like "+want+" of the class")
	}
	l.shots("revealed")
	l.reVoted, l.sawReveal = true, true
}

func (l *lesson) shots(name string) {
	l.presenter.Shot(name + "-presenter.png")
	l.wall.Shot(name + "-wall.png")
	l.phones[0].Shot(name + "-phone.png")
}

// place is a script that returns the stage that a screen shows.
const place = `document.querySelector("#cl-rail .is-now .stage__short, .seven .is-now span")?.textContent ?? ""`

// TestTeachFirstWalkthrough leads a class through the whole first walkthrough, with polls,
// a second vote and reveals.
// Promise: An instructor can lead a class through the first script, with polls, second votes and reveals.
func TestTeachFirstWalkthrough(t *testing.T) {
	t.Parallel()
	wide := browser.Desktop
	l := newLesson(t, "loop", browser.Laptop, wide, browser.Phone)
	l.shots("begin")
	for _, step := range webtest.Course(t).Walk("loop").Steps {
		l.next()
		l.presenter.Wait(
			"the step", `document.querySelector("#pr-script .is-now b")?.textContent === "`+fmt.Sprint(l.step)+`"`,
		)
		stage := browser.Value[string](l.presenter, place)
		l.all("the same stage, "+stage, place+` === "`+stage+`"`)
		l.shots(fmt.Sprintf("step-%02d", l.step))
		if step.Ask == nil {
			continue
		}
		l.all("the vote", `document.querySelector('[data-poll][data-phase="open"]')`)
		switch step.Ask.Kind {
		case lessons.AskNext:
			l.ask()
		case lessons.AskDraw:
			l.draw()
		default:
			l.quiz(step.Ask.Kind)
		}
	}
	if !l.reVoted || !l.sawReveal {
		t.Error("the walkthrough had no poll on a token")
	}
}

// draw makes each phone draw its number.
func (l *lesson) draw() {
	l.t.Helper()
	for _, phone := range l.phones {
		browser.Touch(phone).Press("[data-draw]")
		phone.Wait(
			"a draw that counts",
			`/Your number, 0\.\d{4}, falls on .* counted/.test(document.querySelector("[data-mine]").textContent)`,
		)
	}
	says(l.wall, "#cl-body", "3 of 3 have drawn")
	l.shots("drawn")
	l.presenter.Keys("v")
	l.all("the end of the draw", `document.querySelector('[data-phase="revealed"]')`)
}

// quiz answers a question of any kind and reveals the result.
func (l *lesson) quiz(kind lessons.AskKind) {
	l.t.Helper()
	if kind == lessons.AskQuestion {
		l.cast("aab")
	} else {
		for _, phone := range l.phones {
			phone.Type("#cl-poll input[name=choice]", "12")
			browser.Touch(phone).Press("#cl-poll .btn--main")
			says(phone, "[data-mine]", "12")
		}
	}
	l.hides()
	l.shots("quiz")
	l.presenter.Keys("v")
	l.all("the answer", `document.querySelector('[data-phase="revealed"]')`)
	l.shots("quiz-revealed")
}
