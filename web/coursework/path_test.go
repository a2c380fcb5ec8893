package coursework

import (
	"testing"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/progress"
)

// TestWithinFitsTheTime: the core lessons are chosen first. The lessons exceed the given time by
// at most a quarter, are in the order of the course, and exclude lessons that have been read.
// Promise: The overview suggests lessons for the time that you have, at most a quarter over it.
func TestWithinFitsTheTime(t *testing.T) {
	t.Parallel()
	course, err := lessons.Load()
	if err != nil {
		t.Fatal(err)
	}
	m := NewMap(course, progress.Map{})
	for _, minutes := range []int{5, 20, 500} {
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
