package coursework

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/progress"
)

// TestTaskIsDoneWithTheQuestionsOfItsPage: a lesson is done when all sections have been read and all
// questions on its page have been answered. Questions that only the quiz asks do not matter.
func TestTaskIsDoneWithTheQuestionsOfItsPage(t *testing.T) {
	t.Parallel()
	section := &lessons.Section{ID: "a", Lesson: "one"}
	c := &lessons.Course{Lessons: []*lessons.Lesson{{Slug: "one", Sections: []*lessons.Section{section}}}}
	for _, row := range []struct {
		seen, asked, answered int
		done                  bool
		been                  string
	}{
		{0, 2, 0, false, "not started"},
		{1, 2, 0, false, "read"},
		{1, 2, 1, false, "read, 1 of 2 answered"},
		{1, 2, 2, true, "read, 2 of 2 answered"},
		{0, 2, 2, false, "not started, 2 of 2 answered"},
		{1, 0, 0, true, "read"},
	} {
		tally := progress.Tally{Sections: 1, Seen: row.seen, Questions: 5, Answered: row.answered}
		m := progress.Map{Lessons: []progress.LessonMap{
			{Slug: "one", Tally: tally, Asked: row.asked, Answered: row.answered},
		}}
		read, _ := Tasks(terms.English, NewMap(c, m), nil)
		if got := read[0]; got.Done != row.done || got.Been != row.been {
			t.Errorf("%+v: got done %v, %q; want %v, %q", row, got.Done, got.Been, row.done, row.been)
		}
	}
}
