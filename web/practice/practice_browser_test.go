package practice_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
)

// practicePages maps screenshot names to Practice pages.
var practicePages = map[string]string{
	"practice": "/practice", "cards": "/cards", "card-turned": "/cards?card=c-softmax&turn=yes",
	"quiz":   "/quiz?lesson=temperature",
	"assign": "/assigned", "then": "/then-and-now",
	"assigned": "/assigned?do=learn/temperature&do=practice/five&do=learn/none",
	"predict":  "/predict", "guess": "/predict?start=story&n=3", "print": "/cards/print", "fold": "/cards/fold",
	"locked": "/practice/softmax?step=greedy", "kv-bytes": "/practice/kv-bytes?seed=7&level=3",
	"bill": "/practice/bill", "attention": "/practice/attention",
	"stops": "/practice/stops?seed=3&level=3", "shift": "/practice/shift?level=2&step=after",
	"draw":          "/practice/softmax?step=cold",
	"multiply-adds": "/practice/multiply-adds", "speculation": "/practice/speculation?level=3",
}

// shortPages are the pages that the short tier audits, one for each layout.
var shortPages = []string{"practice", "card-turned", "quiz", "assign", "guess", "draw"}

// TestPracticePagesAreAccessible: axe-core reports no problems on the Practice pages, no page is
// wider than its window, and every control is large enough.
// Promise: axe-core finds nothing on the practice pages (WCAG 2.2 AA).
func TestPracticePagesAreAccessible(t *testing.T) {
	t.Parallel()
	url, course := serve(t)
	tab := browser.Open(t, browser.Laptop, url)
	for _, page := range slices.Sorted(maps.Keys(practicePages)) {
		if !fixture.LongTier() && !slices.Contains(shortPages, page) {
			continue
		}
		path := practicePages[page]
		if strings.HasPrefix(page, "card-") {
			path = "/cards?card=" + course.Cards[0].ID + "&turn=yes"
		}
		tab.Go(url + path)
		tab.Wait("the page", `document.fonts.status === "loaded" && document.querySelector("main")`)
		tab.Audit(page)
		tab.FullShot(page + ".png")
	}
}

// TestProgressAccessible: axe-core reports no problems on the progress page. At 320 px, which is a
// laptop's window at 400% zoom, the page does not scroll sideways.
func TestProgressAccessible(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/progress")
	tab.Audit("/progress")
	const width = 320
	tab = browser.Open(t, browser.Screen{Width: width, Height: 800, Touch: true}, url+"/progress")
	if wide := browser.Value[int](tab, `document.documentElement.scrollWidth`); wide > width {
		t.Errorf("got %d px wide, want at most %d", wide, width)
	}
}

// TestQuizByEveryHand: by mouse, keyboard and touch, a learner can answer a choice question, first
// with a wrong choice. They can also write an answer, compare it, and check off its points.
func TestQuizByEveryHand(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	first := func(kind string) *lessons.Question {
		for _, q := range course.Questions {
			if q.Kind == kind && strings.HasPrefix(q.Section, "temperature#") {
				return q
			}
		}
		t.Fatalf("no %s question about temperature", kind)
		return nil
	}
	browser.Ways(t, func(t *testing.T, screen browser.Screen, with func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, url)
		for _, kind := range []string{"choice", "recall"} {
			q := first(kind)
			tab.Go(url + "/quiz?lesson=temperature&kind=" + kind + "#" + q.ID)
			courseworktest.Answer(tab, with(tab), q)
		}
		tab.Go(url + "/quiz")
		tab.Wait("both answers", `document.querySelector(".quiz__n").innerText.includes("Answered so far: 2.")`)
	})
}

// TestQuizShowsOneQuestion: the quiz shows one question at a time. Back and Next lead to other
// questions, an address can select a question, and all questions can be shown at once.
func TestQuizShowsOneQuestion(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/quiz?lesson=temperature")
	inView := func(what, want string) {
		tab.Wait(what, `[...document.querySelectorAll(".quiz__list > li")].filter((i) => i.offsetHeight)
			.map((i) => i.id).join(" ") === "`+want+`"`)
	}
	var ids []string
	for _, q := range course.Questions {
		if strings.HasPrefix(q.Section, "temperature#") {
			ids = append(ids, q.ID)
		}
	}
	list := browser.Value[[]string](tab, `[...document.querySelectorAll(".quiz__list > li")].map((i) => i.id)`)
	if len(list) != len(ids) || len(list) < 3 {
		t.Fatalf("the page has %q, and the course has %q; want the same %d, at least 3", list, ids, len(ids))
	}
	inView("the first", list[0])
	tab.Click("[data-quiz-next]")
	inView("the second", list[1])
	tab.Click("[data-quiz-back]")
	inView("the first again", list[0])
	tab.Go(url + "/quiz?lesson=temperature#" + list[2])
	inView("the one in the address", list[2])
	tab.Click("[data-quiz-all]")
	inView("all of them", strings.Join(list, " "))

	q := course.Question(list[0])
	tab.Go(url + "/quiz?lesson=temperature")
	courseworktest.Answer(tab, browser.Mouse(tab), q)
	tab.Go(url + "/quiz?lesson=temperature")
	inView("the first that was not answered", list[1])

	// The score appears with the answer to the last question. It counts the first one, which Answer
	// answers wrongly at first, and the last one.
	tab.Go(url + "/quiz?lesson=temperature&kind=choice")
	list = browser.Value[[]string](tab, `[...document.querySelectorAll(".quiz__list > li")].map((i) => i.id)`)
	first, last := course.Question(list[0]), course.Question(list[len(list)-1])
	tab.Go(url + "/quiz?lesson=temperature&kind=choice#" + first.ID)
	courseworktest.Answer(tab, browser.Mouse(tab), first)
	if got := tab.Text("[data-quiz-score]"); got != "" {
		t.Errorf("before the last answer, the score is %q, want none", got)
	}
	tab.Eval(`location.hash = "#` + last.ID + `"`)
	inView("the last", last.ID)
	right := slices.IndexFunc(last.Choices, func(c lessons.Choice) bool { return c.Right })
	tab.Click(fmt.Sprintf(`[id="%s"] [name=pick][value="%d"]`, last.ID, right))
	tab.Click(fmt.Sprintf(`[id="%s"] .btn--main`, last.ID))
	tab.WaitText("[data-quiz-score]", "At the first try you got 1 of 2 right, counting only questions with choices.")
}
