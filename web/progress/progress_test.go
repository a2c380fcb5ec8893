package progress

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/fsrs"
	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperDir); dir != "" {
		reviewUntilKilled(dir)
	}
	goleak.VerifyTestMain(fixture.Suite{M: m})
}

// course returns a small course: two lessons, three sections, three questions, three cards and
// two outcomes.
func course() *lessons.Course {
	section := func(lesson, id string) *lessons.Section {
		return &lessons.Section{ID: id, Title: "About " + id, Lesson: lesson}
	}
	return &lessons.Course{
		Lessons: []*lessons.Lesson{
			{
				Slug: "loop", Title: "The loop",
				Sections: []*lessons.Section{section("loop", "steps"), section("loop", "draw")},
			},
			{Slug: "cache", Title: "The cache", Number: 1, Sections: []*lessons.Section{section("cache", "cost")}},
		},
		Outcomes: []lessons.Outcome{
			{ID: "trace", Text: "Trace the loop", Explanation: []string{"/learn/loop#steps", "/learn/loop#draw"}},
			{ID: "count", Text: "Count bytes", Explanation: []string{"/learn/cache#cost"}},
		},
		Questions: []*lessons.Question{
			{ID: "q-order", Outcome: "trace", Section: "loop#steps"},
			{ID: "q-draw", Outcome: "trace", Section: "loop#draw"},
			{ID: "q-bytes", Outcome: "count", Section: "cache#cost"},
		},
		Cards: []*lessons.Card{
			{ID: "c-steps", Outcome: "trace", Section: "loop#steps"},
			{ID: "c-draw", Outcome: "trace", Section: "loop#draw"},
			{ID: "c-cost", Outcome: "count", Section: "cache#cost"},
		},
	}
}

// A clock advances only when a test advances it.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// morning is the time at which tests begin. The digits beyond milliseconds are not saved.
var morning = time.Date(2026, 11, 21, 9, 0, 0, 123_456_789, time.UTC)

func newStore(t testing.TB) (*Store, *clock) {
	t.Helper()
	return newStoreIn(t, "")
}

// memory returns a database that is closed when the test ends.
func memory(t testing.TB) *store.DB {
	t.Helper()
	db, err := store.Open("", nil)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func newStoreIn(t testing.TB, dir string) (*Store, *clock) {
	t.Helper()
	db, err := store.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c := &clock{t: morning}
	return New(journal.For(db), db, course(), c.now), c
}

var ctx = context.Background()

const ada, bob = "ada", "bob"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mapOf(t testing.TB, s *Store, learner string) Map {
	t.Helper()
	m, err := s.Map(ctx, learner)
	must(t, err)
	return m
}

func TestMapCountsProgress(t *testing.T) {
	s, c := newStore(t)
	empty := mapOf(t, s, ada)
	if want := (Tally{Sections: 3, Questions: 3, Cards: 3}); empty.All != want || empty.LastSection != "" ||
		len(empty.Drills) != 0 {
		t.Errorf("at the beginning: got %+v, want %+v", empty, want)
	}
	must(t, s.Visit(ctx, ada, "cache#cost"))
	c.add(time.Minute)
	must(t, s.Visit(ctx, ada, "loop#steps"))
	c.add(time.Minute)
	must(t, s.Visit(ctx, ada, "cache#cost"))
	must(t, s.Answer(ctx, ada, Answer{ID: "a1", Item: "q-order", Kind: Check, Credit: 0.25}))
	must(t, s.Answer(ctx, ada, Answer{ID: "a2", Item: "q-bytes", Kind: Quiz, Credit: 1}))
	must(t, s.Answer(ctx, ada, Answer{ID: "d1", Item: "softmax/T2", Kind: Drill, Credit: 0.75}))
	c.add(time.Minute)
	must(t, s.Answer(ctx, ada, Answer{ID: "a3", Item: "q-order", Kind: Quiz, Credit: 0.5})) // the newest answer counts
	must(t, s.Answer(ctx, ada, Answer{ID: "d2", Item: "softmax", Kind: Drill, Credit: 0.5}))
	_, err := s.Review(ctx, ada, "c-steps", fsrs.Good, "r1")
	must(t, err)
	m := mapOf(t, s, ada)
	steps := Tally{Sections: 1, Seen: 1, Questions: 1, Answered: 1, Credit: 0.5, Cards: 1, Reviewed: 1}
	draw := Tally{Sections: 1, Questions: 1, Cards: 1}
	cost := Tally{Sections: 1, Seen: 1, Questions: 1, Answered: 1, Credit: 1, Cards: 1}
	loop := Tally{Sections: 2, Seen: 1, Questions: 2, Answered: 1, Credit: 0.5, Cards: 2, Reviewed: 1}
	at := func(minutes int) time.Time {
		return morning.Add(time.Duration(minutes) * time.Minute).Truncate(time.Millisecond)
	}
	want := Map{
		Lessons: []LessonMap{
			{"loop", "The loop", loop, []SectionMap{
				{"steps", "loop#steps", "About steps", true, at(1), steps},
				{"draw", "loop#draw", "About draw", false, time.Time{}, draw},
			}, 0, 0},
			{"cache", "The cache", cost, []SectionMap{{"cost", "cache#cost", "About cost", true, at(0), cost}}, 0, 0},
		},
		Outcomes:    []OutcomeMap{{"trace", "Trace the loop", loop}, {"count", "Count bytes", cost}},
		Drills:      []DrillMap{{"softmax", 2, 0.75, 0.5}},
		All:         Tally{Sections: 3, Seen: 2, Questions: 3, Answered: 2, Credit: 1.5, Cards: 3, Reviewed: 1},
		LastSection: "cache#cost",
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("map\n%+v\nwant\n%+v", m, want)
	}
	if other := mapOf(t, s, bob); !reflect.DeepEqual(other, empty) {
		t.Errorf("another learner's map is %+v", other)
	}
}

// TestMapCountsTheQuestionsOfAPage: a lesson asks two of the three questions, one of which belongs
// to another lesson.
func TestMapCountsTheQuestionsOfAPage(t *testing.T) {
	c := course()
	cache := c.Lessons[1].Sections[0]
	cache.Blocks = []lessons.Block{
		lessons.Prose{}, lessons.Check{Question: c.Questions[0]}, lessons.Check{Question: c.Questions[2]},
	}
	s := New(journal.For(memory(t)), memory(t), c, time.Now)
	if l := mapOf(t, s, ada).Lessons; l[0].Asked != 0 || l[1].Asked != 2 || l[1].Answered != 0 {
		t.Errorf("at the beginning, the lessons are %+v, want 0 and 2 questions, none answered", l)
	}
	for i, want := range []int{1, 1, 2} { // the question that no page asks does not count
		must(t, s.Answer(ctx, ada, Answer{ID: c.Questions[i].ID, Item: c.Questions[i].ID, Kind: Quiz, Credit: 1}))
		if l := mapOf(t, s, ada).Lessons; l[0].Answered != 0 || l[1].Answered != want {
			t.Errorf("after %d answers, the lessons are %+v, want 0 and %d answered", i+1, l, want)
		}
	}
}

// TestCardIsStrongAfterThreeWeeks: a card is strong if its stability is three weeks or more. In
// FSRS-6, an easy first review gives a stability of S = w3 = 8.2956 days, so the card is due after
// 8 days. A second easy review at that time increases its stability far beyond 21 days.
func TestCardIsStrongAfterThreeWeeks(t *testing.T) {
	s, c := newStore(t)
	first, err := s.Review(ctx, ada, "c-steps", fsrs.Easy, "r1")
	must(t, err)
	if first.Strong || first.Stability != 8.2956 || first.Due.Sub(first.Last) != 8*24*time.Hour {
		t.Errorf(
			"after one easy review: got %+v, want Strong = false, Stability = 8.2956, Due.Sub(first.Last) = %v", first,
			8*24*time.Hour,
		)
	}
	c.add(8 * 24 * time.Hour)
	second, err := s.Review(ctx, ada, "c-steps", fsrs.Easy, "r2")
	must(t, err)
	if !second.Strong || second.Stability < StrongDays || second.Reviews != 2 {
		t.Errorf("after two reviews: got %+v, want Strong = true, Stability at least %v, Reviews = 2",
			second, StrongDays)
	}
	if all := mapOf(t, s, ada).All; all.Strong != 1 || all.Reviewed != 1 {
		t.Errorf("the map counts %+v, want Strong = 1, Reviewed = 1", all)
	}
}

// TestCalibrationByHand compares the calibration for five predictions with values computed by hand.
//
//	stated 0.9 0.9 0.9 0.6 0.3, right yes yes no yes no
//	mean stated (0.9·3 + 0.6 + 0.3) / 5 = 3.6 / 5 = 0.72; right 3 of 5
//	scores ln .9, ln .9, ln .1, ln .6, ln .7:
//	  −0.105361 − 0.105361 − 2.302585 − 0.510826 − 0.356675 = −3.380807; mean −0.676161
//	bin 0.9–1: n 3, right 2, hit rate 2/3; bin 0.6–0.7: 1 of 1; bin 0.3–0.4: 0 of 1
func TestCalibrationByHand(t *testing.T) {
	s, _ := newStore(t)
	zero, err := s.Calibration(ctx, ada)
	must(t, err)
	if zero.N != 0 || zero.Stated != 0 || zero.Score != 0 || len(zero.Bins) != 10 || zero.Bins[9].To != 1 {
		t.Errorf(
			"without predictions: got %+v, want N = 0, Stated = 0, Score = 0, len(Bins) = 10, Bins[9].To = 1", zero,
		)
	}
	for i, p := range []Prediction{
		{Confidence: 0.9, Right: true},
		{Confidence: 0.9, Right: true},
		{Confidence: 0.9},
		{Confidence: 0.6, Right: true},
		{Confidence: 0.3},
	} {
		p.ID = fmt.Sprint(i)
		if p.Score = math.Log(p.Confidence); !p.Right {
			p.Score = math.Log(1 - p.Confidence)
		}
		for _, want := range []bool{true, false} { // the second is the same prediction, resent
			if kept, err := s.Predict(ctx, ada, p); err != nil || kept != want {
				t.Errorf("got kept = %v, %v; want %v", kept, err, want)
			}
			// Later requests with the same id, sent once the answer is known, change nothing.
			p.Confidence, p.Right, p.Score = 0.99, true, math.Log(0.99)
		}
	}
	c, err := s.Calibration(ctx, ada)
	must(t, err)
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	if c.N != 5 || c.Right != 3 {
		t.Errorf("got %d predictions, %d right; want 5 and 3", c.N, c.Right)
	}
	near("mean confidence", c.Stated, 0.72)
	near("mean score", c.Score, -0.676161)
	for i, b := range c.Bins {
		want := map[int]predict.Bin{
			9: {N: 3, Hits: 2, Stated: 0.9, Rate: 2. / 3}, 6: {N: 1, Hits: 1, Stated: 0.6, Rate: 1},
			3: {N: 1, Stated: 0.3},
		}[i]
		if b.N != want.N || b.Hits != want.Hits {
			t.Errorf("bin %d is %+v, want %+v", i, b, want)
		}
		near(fmt.Sprintf("bin %d's mean", i), b.Stated, want.Stated)
		near(fmt.Sprintf("bin %d's hit rate", i), b.Rate, want.Rate)
		near(fmt.Sprintf("bin %d's start", i), b.From, float64(i)/10)
	}
}

func TestInvalidEntriesAreRefused(t *testing.T) {
	s, _ := newStore(t)
	long := strings.Repeat("x", saved.MaxID+1)
	answer := func(a Answer) error { return s.Answer(ctx, ada, a) }
	review := func(card string, g fsrs.Grade, id string) error {
		_, err := s.Review(ctx, ada, card, g, id)
		return err
	}
	failed := func(_ bool, err error) error { return err }
	for say, err := range map[string]error{
		"section":     s.Visit(ctx, ada, "loop#nothing"),
		"learner":     s.Visit(ctx, "", "loop#steps"),
		"learner ":    s.Visit(ctx, "a b", "loop#steps"),
		"question":    answer(Answer{ID: "1", Item: "q-none", Kind: Quiz}),
		"id must":     answer(Answer{Item: "q-order", Kind: Quiz}),
		"1 to 128":    answer(Answer{ID: long, Item: "q-order", Kind: Quiz}),
		"id ":         answer(Answer{ID: "a b", Item: "q-order", Kind: Quiz}),
		"kind":        answer(Answer{ID: "1", Item: "q-order", Kind: "exam"}),
		"item":        answer(Answer{ID: "1", Item: "", Kind: Drill}),
		"credit":      answer(Answer{ID: "1", Item: "q-order", Kind: Quiz, Credit: 1.01}),
		"credit must": answer(Answer{ID: "1", Item: "q-order", Kind: Quiz, Credit: math.NaN()}),
		"detail": answer(
			Answer{ID: "1", Item: "q-order", Kind: Quiz, Detail: strings.Repeat("x", saved.MaxDetail+1)},
		),
		"detail must": answer(Answer{ID: "1", Item: "q-order", Kind: Quiz, Detail: "a\nb"}),
		"detail ":     answer(Answer{ID: "1", Item: "q-order", Kind: Quiz, Detail: "\xff"}),
		"card":        review("c-none", fsrs.Good, "1"),
		"grade":       review("c-steps", 0, "1"),
		"grade must":  review("c-steps", 5, "1"),
		"id":          review("c-steps", fsrs.Good, ""),
		"confidence":  failed(s.Predict(ctx, ada, Prediction{ID: "1", Confidence: -0.1})),
		"score":       failed(s.Predict(ctx, ada, Prediction{ID: "1", Score: math.Inf(-1)})),
		"score must":  failed(s.Predict(ctx, ada, Prediction{ID: "1", Score: 0.1})),
	} {
		if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), strings.TrimSpace(say)) {
			t.Errorf("a refusal must name the %s, got %v", say, err)
		}
	}
	if m := mapOf(t, s, ada); m.All.Seen+m.All.Answered+m.All.Reviewed > 0 {
		t.Errorf("a refused entry was saved: got %+v, want m.All.Seen+m.All.Answered+m.All.Reviewed = 0", m)
	}
}

// settingOf returns a learner's own setting, or "" if there is none.
func settingOf(s *Store, learnerID, name string) (value string, err error) {
	err = s.use(ctx, learnerID, func(l *learner) error {
		if x := l.State().Settings[name]; x != nil {
			value = x.Value
		}
		return nil
	})
	return value, err
}

func TestLearnerSettings(t *testing.T) {
	s, _ := newStore(t)
	want := func(learner, name, want string) {
		t.Helper()
		if got, err := settingOf(s, learner, name); err != nil || got != want {
			t.Errorf("%s's %s is %q, %v; want %q", learner, name, got, err, want)
		}
	}
	want(ada, "pace", "")
	must(t, s.set(ctx, ada, "pace", "slow"))
	must(t, s.set(ctx, ada, "pace", "ganz schön schnell"))
	want(ada, "pace", "ganz schön schnell")
	want(bob, "pace", "")
	must(t, s.set(ctx, ada, "pace", ""))
	want(ada, "pace", "")
	for i := range saved.MaxSettings {
		must(t, s.set(ctx, ada, fmt.Sprint(i), "x"))
	}
	if _, err := s.Import(ctx, ada, []byte(example)); !errors.Is(err, ErrFull) {
		t.Errorf("an import with setting %d: got error %v, want ErrFull", saved.MaxSettings+1, err)
	}
	want(ada, "pace", "")
}

// TestNoticesAreShownOnce: a notice about the data is shown to each learner once, until it is a few
// weeks old.
func TestNoticesAreShownOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "viz.db"), []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, c := newStoreIn(t, dir)
	c.t = time.Now()
	told := func(learner string, want int) {
		t.Helper()
		list, err := s.Notices(ctx, learner)
		if err != nil || len(list) != want {
			t.Errorf("%s gets notices %v, %v; want %d", learner, list, err, want)
		}
		for _, n := range list {
			if !strings.Contains(n.Text, "set aside") || n.At.IsZero() {
				t.Errorf(`got notice %+v, want a notice with "set aside" and a time`, n)
			}
		}
	}
	told(ada, 1)
	told(ada, 0)
	told(bob, 1)
	c.add((noticeDays + 1) * 24 * time.Hour)
	told("carl", 0)
}
