package practice

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/progress"
)

// questionsOf returns n questions for each of some lessons, named LESSON1, LESSON2 and so on, in the
// order of the lessons.
func questionsOf(n int, slugs ...string) (list []*lessons.Question) {
	for _, slug := range slugs {
		for i := range n {
			list = append(list, &lessons.Question{ID: fmt.Sprint(slug, i+1), Section: slug + "#section"})
		}
	}
	return list
}

func idsOf(list []*lessons.Question) (ids []string) {
	for _, q := range list {
		ids = append(ids, q.ID)
	}
	return ids
}

// TestMixedTakesEveryLesson: ten of the questions about twelve lessons are about ten lessons, and
// the mixed quizzes of a day have each question once.
func TestMixedTakesEveryLesson(t *testing.T) {
	t.Parallel()
	slugs := strings.Split("abcdefghijkl", "")
	list := questionsOf(4, slugs...)
	of := map[string]int{}
	for _, q := range mixed(list, 1, nil, 1) {
		of[lessonOf(q)]++
	}
	if len(of) != 10 {
		t.Errorf("ten questions are about %d lessons, want 10", len(of))
	}
	var all []string
	for n := 1; n <= 5; n++ { // 48 questions
		ten := idsOf(mixed(list, 1, nil, n))
		if want := min(10, 48-10*(n-1)); len(ten) != want {
			t.Errorf("quiz %d has %d questions, want %d", n, len(ten), want)
		}
		all = append(all, ten...)
	}
	if slices.Sort(all); !slices.Equal(all, slices.Sorted(slices.Values(idsOf(list)))) {
		t.Errorf("the quizzes of a day have %v, want each question once", all)
	}
	for _, n := range []int{6, 1 << 62} {
		if more := mixed(list, 1, nil, n); more != nil {
			t.Errorf("quiz %d has %v, want none", n, idsOf(more))
		}
	}
}

// TestMixedKeepsLessonsApart: neighbors are about different lessons as long as there is another
// lesson to take.
func TestMixedKeepsLessonsApart(t *testing.T) {
	t.Parallel()
	got := idsOf(apart(questionsOf(3, "a", "b")))
	if want := []string{"a1", "b1", "a2", "b2", "a3", "b3"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	got = idsOf(apart(append(questionsOf(3, "a"), questionsOf(1, "b")...)))
	if want := []string{"a1", "b1", "a2", "a3"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestMixedPrefersWhatIsDue: due questions come first, then unanswered ones, then the others. The
// day decides the order among equals.
func TestMixedPrefersWhatIsDue(t *testing.T) {
	t.Parallel()
	list := questionsOf(8, "a", "b", "c")
	standings := map[string]progress.Standing{}
	for i, q := range list {
		standings[q.ID] = []progress.Standing{progress.Known, progress.Due, progress.Unanswered, progress.Known}[i%4]
	}
	// Of 24 questions, 6 are due, 6 are unanswered and 12 are known.
	want := []progress.Standing{progress.Due, progress.Unanswered, progress.Known}
	for i, q := range ranked(list, 1, standings) {
		if got := standings[q.ID]; got != want[min(i/6, 2)] {
			t.Errorf("question %d has the standing %d, want %d", i+1, got, want[min(i/6, 2)])
		}
	}
	delete(standings, "a3") // the first unanswered one
	for i, q := range ranked(list, 1, standings) {
		if unanswered := i >= 6 && i < 12; q.ID == "a3" && !unanswered {
			t.Errorf("without a standing, a3 is question %d, want it among the unanswered ones, 7 to 12", i+1)
		}
	}
	one, again, other := ranked(list, 1, standings), ranked(list, 1, standings), ranked(list, 2, standings)
	if !slices.Equal(one, again) {
		t.Errorf("the same day gives %v and %v, want the same", idsOf(one), idsOf(again))
	}
	if slices.Equal(one, other) {
		t.Errorf("two days give the same order, %v", idsOf(one))
	}
}

// shown returns the ids of the questions on a page, in order.
func shown(d *goquery.Document) (ids []string) {
	d.Find(".quiz__list > li").Each(func(_ int, item *goquery.Selection) { ids = append(ids, item.AttrOr("id", "")) })
	return ids
}

// TestQuizIsTenMixedQuestions: the quiz begins with ten questions from different lessons. They stay
// the same after a reload and while they are answered, without scripts too. The next ten are others.
// The page leads to all questions. The next day has other questions.
// Promise: The quiz begins with ten questions from all lessons: what is due first, then what is new.
func TestQuizIsTenMixedQuestions(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	s := newSiteAt(t, func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	})
	course := s.pages.Course
	d := s.Get("/quiz")
	ten := shown(d)
	of := map[string]bool{}
	for _, id := range ten {
		of[lessonOf(course.Question(id))] = true
	}
	if len(ten) != 10 || len(of) != 10 {
		t.Fatalf("the quiz has %d questions from %d lessons, want 10 from 10", len(ten), len(of))
	}
	if n := d.Find(`.quiz__n a[href="/quiz?all=1"]`).Length(); n != 1 {
		t.Errorf("%d links lead to all questions, want 1", n)
	}
	for _, id := range ten {
		q := course.Question(id)
		action := d.Find("#check-"+id).AttrOr("action", "")
		if action != "/quiz/"+id+"?ten=1" {
			t.Fatalf("%s is sent to %q, want the mixed quiz", id, action)
		}
		form := url.Values{"key": {"key-" + id}, "step": {"keep"}, "written": {"x"}}
		if q.Kind == "choice" {
			right := slices.IndexFunc(q.Choices, func(c lessons.Choice) bool { return c.Right })
			form.Set("pick", strconv.Itoa(right))
		}
		if got := shown(s.Parse(id, s.Post(action, false, form), http.StatusOK)); !slices.Equal(got, ten) {
			t.Fatalf("after the answer to %s, the page has %v, want %v", id, got, ten)
		}
	}
	d = s.Get("/quiz")
	if got := shown(d); !slices.Equal(got, ten) || d.Find("[data-answered]").Length() != 10 {
		t.Errorf("after a reload, the page has %v, want %v, all answered", got, ten)
	}
	next := shown(s.Get(d.Find(".quiz__more a").AttrOr("href", "")))
	for _, id := range next {
		if slices.Contains(ten, id) {
			t.Errorf("the next ten questions have %s again", id)
		}
	}
	if len(next) != 10 {
		t.Errorf("the next quiz has %d questions, want 10", len(next))
	}
	last := s.Get("/quiz?ten=" + strconv.Itoa((len(course.Questions)+9)/10))
	if n := last.Find(".quiz__more").Length(); n != 0 || len(shown(last)) == 0 {
		t.Errorf("the last quiz has %d questions and %d links to another, want some and 0", len(shown(last)), n)
	}
	mu.Lock()
	now = now.Add(24 * time.Hour)
	mu.Unlock()
	if tomorrow := shown(s.Get("/quiz")); len(tomorrow) != 10 || slices.Equal(tomorrow, ten) {
		t.Errorf("the next day has %v, want ten questions, other ones", tomorrow)
	}
}

// TestMixStaysTheSameAllDay: a learner who has answered every question gets the same ten questions
// all day, whether they answer them in the quiz, without scripts, or in a lesson.
func TestMixStaysTheSameAllDay(t *testing.T) {
	t.Parallel()
	morning := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	var hours atomic.Int64
	s := newSiteAt(t, func() time.Time { return morning.Add(time.Duration(hours.Load()) * time.Hour) })
	answer := func(id, key string) {
		t.Helper()
		a := progress.Answer{ID: key, Item: id, Kind: progress.Check, Credit: 1}
		if err := s.pages.Progress.Answer(t.Context(), courseworktest.Learner, a); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range s.pages.Course.Questions {
		answer(q.ID, "first-"+q.ID)
	}
	hours.Store(24)
	ten := shown(s.Get("/quiz"))
	for i, id := range ten {
		if i%2 == 0 {
			answer(id, "lesson-"+id)
		} else {
			form := url.Values{"key": {"quiz-" + id}, "step": {"keep"}, "written": {"x"}, "pick": {"0"}}
			s.Parse(id, s.Post("/quiz/"+id+"?ten=1", false, form), http.StatusOK)
		}
		if got := shown(s.Get("/quiz")); !slices.Equal(got, ten) {
			t.Fatalf("after answer %d, the page has %v, want %v", i+1, got, ten)
		}
	}
}
