package coursework

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/progress"
)

// TestWithinFitsTheTime: the center of the course is chosen first. The lessons exceed the given time
// by at most a quarter, are in the order of the course, and exclude lessons that have been read.
// Promise: The overview suggests lessons for the time that you have, at most a quarter over it.
func TestWithinFitsTheTime(t *testing.T) {
	t.Parallel()
	course, err := lessons.Load()
	if err != nil {
		t.Fatal(err)
	}
	m := NewMap(course, progress.Map{})
	for _, minutes := range []int{5, 20, 60, 500} {
		part, took := m.Within(minutes)
		sum, last := 0, -1
		for _, l := range part.Lessons {
			if sum += l.Minutes; l.Number <= last {
				t.Errorf("%d minutes: %s is out of order", minutes, l.Slug)
			}
			last = l.Number
		}
		if sum != took || sum > minutes+minutes/4 || sum == 0 || part.Next == nil {
			t.Errorf(
				"%d minutes: %d of reading, took %d; want sum = %d, sum at most %d, sum not 0, part.Next not nil",
				minutes, sum, took, took, minutes+minutes/4,
			)
		}
	}
	if part, _ := m.Within(5); len(part.Lessons) != 1 || part.Lessons[0].Slug != "the-loop" {
		t.Errorf("for five minutes, got %+v, want 1 element, [0].Slug = %q", part.Lessons, "the-loop")
	}
	if part, _ := m.Within(500); len(part.Lessons) != len(course.Lessons) {
		t.Errorf("with enough time for the course, got %d lessons, want %d", len(part.Lessons), len(course.Lessons))
	}
	for i := range m.Lessons {
		if m.Lessons[i].Slug == "the-loop" {
			m.Lessons[i].Tally.Seen = len(m.Lessons[i].Sections)
		}
	}
	if part, _ := m.Within(5); len(part.Lessons) != 1 || part.Lessons[0].Slug == "the-loop" {
		t.Errorf(
			"after the first lesson, for five minutes, got %+v, want 1 element, [0].Slug other than %q", part.Lessons,
			"the-loop",
		)
	}
}

// numbersOf returns the numbers of a map's lessons.
func numbersOf(m *Map) (list []int) {
	for _, l := range m.Lessons {
		list = append(list, l.Number)
	}
	return list
}

// TestWithinKeepsTheCenter: twenty minutes are enough for the loop, softmax, the choice of a token
// and the API, if the lesson on the choice is shortened. An hour is enough for all of it, for
// temperature, stopping and the cache, for speculative decoding, and for the lesson on certainty.
func TestWithinKeepsTheCenter(t *testing.T) {
	t.Parallel()
	course, err := lessons.Load()
	if err != nil {
		t.Fatal(err)
	}
	part, took := NewMap(course, progress.Map{}).Within(20)
	if got, want := numbersOf(part), []int{1, 4, 5, 10}; !slices.Equal(got, want) {
		t.Fatalf("for 20 minutes, got lessons %v, want %v", got, want)
	}
	short := part.Lessons[2]
	var ids []string
	for _, s := range short.Sections {
		ids = append(ids, s.ID)
	}
	all := course.Lesson("choosing-a-token")
	if want := []string{"greedy", "the-choice", "top-k", "top-p"}; !slices.Equal(ids, want) ||
		short.Of != len(all.Sections) || short.Start() != "/learn/choosing-a-token#greedy" {
		t.Errorf("lesson 5 has sections %v of %d and starts at %s, want %v of %d", ids, short.Of, short.Start(), want,
			len(all.Sections))
	}
	if half := (all.Minutes + 1) / 2; short.Minutes != half || short.Time(terms.English) != fmt.Sprintf(
		"%d min, 4 of 8 sections", half) { // 4 of 8 sections take half the time, rounded up
		t.Errorf("lesson 5 takes %q, want %d minutes for 4 of 8 sections", short.Time(terms.English), half)
	}
	want := course.Lesson("the-loop").Minutes + course.Lesson("logits-and-softmax").Minutes + short.Minutes +
		course.Lesson("calling-an-api").Minutes
	if took != want || part.Minutes != want {
		t.Errorf("the lessons take %d and %d minutes, want %d", took, part.Minutes, want)
	}
	part, _ = NewMap(course, progress.Map{}).Within(60)
	got := numbersOf(part)
	for _, n := range []int{1, 4, 5, 6, 7, 8, 9, 10, 14} {
		if !slices.Contains(got, n) {
			t.Errorf("for 60 minutes, got lessons %v, want lesson %d too", got, n)
		}
	}
	for _, l := range part.Lessons {
		if l.Of != 0 || l.Start() != l.Href() {
			t.Errorf("for 60 minutes, lesson %d is shortened", l.Number)
		}
	}
}

// TestWithinLeavesOutWhatIsRead: a shortened lesson is done once its remaining sections have been
// read.
func TestWithinLeavesOutWhatIsRead(t *testing.T) {
	t.Parallel()
	course, err := lessons.Load()
	if err != nil {
		t.Fatal(err)
	}
	m := NewMap(course, progress.Map{})
	for i := range m.Lessons {
		for j := range m.Lessons[i].Sections {
			if s := &m.Lessons[i].Sections[j]; slices.Contains(short["choosing-a-token"], s.ID) {
				s.Seen = true
			}
		}
		if l := &m.Lessons[i]; l.Slug == "choosing-a-token" {
			l.Tally.Seen = 4
			if l.State() != "begun" {
				t.Errorf("with 4 of %d sections read, the lesson is %q, want begun", len(l.Sections), l.State())
			}
		}
	}
	if part, _ := m.Within(20); slices.Contains(numbersOf(part), 5) {
		t.Errorf("after the short form was read, the lessons for 20 minutes are %v, want none of it", numbersOf(part))
	}
}
