package learn_test

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
)

// practicePages are the pages of Practise, by the names of their pictures.
var practicePages = map[string]string{
	"practice": "/practice", "cards": "/cards", "card-turned": "/cards?card=c-softmax&turn=yes", "quiz": "/quiz?lesson=temperature",
	"predict": "/predict", "guess": "/predict?start=story&n=3", "print": "/cards/print", "fold": "/cards/fold",
	"locked": "/practice/softmax?step=greedy", "kv-bytes": "/practice/kv-bytes?seed=7&level=3", "bill": "/practice/bill",
	"stops": "/practice/stops?seed=3&level=3", "shift": "/practice/shift?level=2&step=after", "draw": "/practice/softmax?step=cold",
	"multiply-adds": "/practice/multiply-adds", "speculation": "/practice/speculation?level=3",
}

// TestPractisePages: axe-core finds nothing on the pages of Practise, and none
// is wider than its window.
func TestPractisePages(t *testing.T) {
	url, course := serve(t)
	b := browser.New(t)
	for name, screen := range screens() {
		t.Run(name, func(t *testing.T) {
			tab := b.Stranger(t, screen, url)
			for page, path := range practicePages {
				if strings.HasPrefix(page, "card-") {
					path = "/cards?card=" + course.Cards[0].ID + "&turn=yes"
				}
				tab.Go(url + path)
				tab.Wait("the page", `document.fonts.status === "loaded" && document.querySelector("main")`)
				t.Run(page, func(t *testing.T) { looks(t, tab.As(t), screen) })
				tab.FullShot(name + "-" + page + ".png")
			}
		})
	}
}

// TestQuizByEveryHand: a choice, wrong first, and an answer in one's own words
// compared and ticked, by mouse, keyboard and touch.
func TestQuizByEveryHand(t *testing.T) {
	url, course := serve(t)
	b := browser.New(t)
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
		tab := b.Stranger(t, screen, url)
		for _, kind := range []string{"choice", "recall"} {
			tab.Go(url + "/quiz?lesson=temperature&kind=" + kind)
			answer(tab, with(tab), first(kind))
		}
		tab.Go(url + "/quiz")
		tab.Wait("both counted", `document.querySelector(".quiz__n").innerText.includes("Answered so far: 2.")`)
	})
}
