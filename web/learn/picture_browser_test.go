package learn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
)

// state returns a JavaScript condition that is true if the picture shows only its nth state.
func state(n int) string {
	return fmt.Sprintf(
		`[...document.querySelectorAll(".pic__state")].every((e, i) => e.checkVisibility() === (i === %d))`, n-1,
	)
}

// TestPictureFollowsTheText: the picture changes to the state that the text describes, and stays in
// view.
func TestPictureFollowsTheText(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	states := course.Lesson("inside-one-pass").Pictures()
	for _, screen := range []browser.Screen{browser.Laptop, browser.Phone} {
		tab := browser.Open(t, screen, url+"/learn/inside-one-pass")
		tab.Wait("the first state", state(1))
		for _, n := range []int{2, 4, 5, 1} {
			tab.Eval(fmt.Sprintf(
				`document.getElementById("%s").scrollIntoView({block: "start"}); scrollBy(0, %d)`, states[n-1].ID,
				map[bool]int{true: -10000, false: -300}[n == 1],
			))
			tab.Wait(fmt.Sprintf("state %d", n), state(n))
			tab.Wait("the picture in view", `(b => b.top >= 0 && b.bottom <= innerHeight + 1)(`+
				`document.querySelector(".pic").getBoundingClientRect())`)
		}
	}
}

// TestPictureByEveryHand: states can be selected by mouse, by keyboard and by touch, and the text
// scrolls to the matching passage.
func TestPictureByEveryHand(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	open := func(screen browser.Screen) *browser.Tab {
		tab := browser.Open(t, screen, url+"/learn/inside-one-pass")
		tab.Wait("the script", `document.querySelector("[data-picture-go='-1'][aria-disabled='true']")`)
		return tab
	}
	goesAlong := func(tab *browser.Tab) {
		tab.Wait("the second state", state(2))
		tab.Wait("its place in the text", `scrollY > 0`)
	}
	tab := open(browser.Phone)
	browser.Touch(tab).Press(".pic__steps label:nth-of-type(2) input")
	goesAlong(tab)
	tab = open(browser.Laptop)
	tab.Eval(`document.querySelector(".pic__steps input").focus()`)
	tab.Keys(browser.ArrowRight)
	goesAlong(tab)
	tab = open(browser.Laptop)
	tab.Click("[data-picture-go='1']")
	tab.Wait("the second state", state(2))
	tab.Click("[data-picture-go='1']")
	tab.Wait("the third state", state(3))
	tab.Click("[data-picture-go='-1']")
	tab.Wait("the second state again", state(2))
}

// TestFirstPicturesAccessible: all states of the pictures in the first third of the lessons pass the
// accessibility audit.
func TestFirstPicturesAccessible(t *testing.T) {
	fixture.Long(t)
	auditPictures(t, 0)
}

// TestMiddlePicturesAccessible checks the pictures in the second third of the lessons.
func TestMiddlePicturesAccessible(t *testing.T) {
	fixture.Long(t)
	auditPictures(t, 1)
}

// TestLastPicturesAccessible checks the pictures in the other lessons.
func TestLastPicturesAccessible(t *testing.T) {
	fixture.Long(t)
	auditPictures(t, 2)
}

// auditPictures checks the pictures in one third of the lessons.
func auditPictures(t *testing.T, third int) {
	t.Helper()
	t.Parallel()
	url, course := serve(t)
	tab := browser.Open(t, browser.Laptop, url)
	n := len(course.Lessons)
	for _, lesson := range course.Lessons[n*third/3 : n*(third+1)/3] {
		auditPicture(tab, url, lesson)
	}
}

// auditPicture checks every state of a lesson's picture.
func auditPicture(tab *browser.Tab, url string, l *lessons.Lesson) {
	tab.Go(url + l.Href())
	for n := range l.Pictures() {
		tab.Eval(fmt.Sprintf(`document.querySelectorAll(".pic__steps input")[%d].click()`, n))
		tab.Wait("the state", state(n+1))
		tab.Audit(fmt.Sprintf("%s, state %d", l.Slug, n+1))
	}
}

// TestFirstScreenHasAnExercise: the first screen of each lesson has something to press. On a
// laptop, that is an experiment or a question; on a phone, it is at least the steps of the picture.
func TestFirstScreenHasAnExercise(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	for _, screen := range []browser.Screen{browser.Laptop, browser.Phone} {
		tab := browser.Open(t, screen, url)
		for _, l := range course.Lessons {
			tab.Go(url + l.Href())
			first := map[bool]string{
				false: `".widget :is(input, textarea, button), .check input"`,
				true:  `".pic__steps input, .check input"`,
			}
			got := browser.Value[float64](tab, `Math.min(...[...document.querySelectorAll(`+
				first[screen.Width < 1000]+`)].filter(e => e.checkVisibility())`+
				`.map(e => e.getBoundingClientRect().bottom)) / innerHeight`)
			if got > 1 {
				t.Errorf(
					"%s at %d px: the first thing to press ends at %.2f screens, want at most 1", l.Slug, screen.Width,
					got,
				)
			}
			if strings.Contains(l.Slug, "tokens") {
				tab.Shot(fmt.Sprintf("picture-%d.png", screen.Width))
			}
		}
	}
}
