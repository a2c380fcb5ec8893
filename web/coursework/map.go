package coursework

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/progress"
)

// Map is the course with what one learner has done of it.
type Map struct {
	Lessons []MapLesson
	Minutes int // of reading, all lessons together
	Tally   progress.Tally
	// Next is the section to continue with: the first one not seen, after the one
	// seen last if there is one; nil if all were seen. Begun says whether any was.
	Next  *MapSection
	Begun bool
}

// Count is how many lessons there are. The overview has no number and is not counted.
func (m *Map) Count() (n int) {
	for _, l := range m.Lessons {
		if l.Number > 0 {
			n++
		}
	}
	return n
}

// MapLesson is one lesson of a [Map].
type MapLesson struct {
	*lessons.Lesson
	Sections []MapSection
	Tally    progress.Tally
}

// MapSection is one section of a lesson and whether it was seen.
type MapSection struct {
	*lessons.Section
	LessonTitle string
	Seen        bool
}

// State is "done", "begun" or "".
func (l *MapLesson) State() string {
	switch {
	case l.Tally.Seen == 0:
		return ""
	case l.Tally.Seen < len(l.Sections):
		return "begun"
	}
	return "done"
}

// Seen says how far the learner is, in words.
func (l *MapLesson) Seen() string {
	switch l.State() {
	case "done":
		return "read"
	case "begun":
		return fmt.Sprintf("%d of %d read", l.Tally.Seen, len(l.Sections))
	}
	return "not begun"
}

// Time says how many minutes the lesson takes, and whether it is a harder one.
func (l *MapLesson) Time() string {
	if l.Difficulty == "harder" {
		return fmt.Sprintf("%d min, harder", l.Minutes)
	}
	return fmt.Sprintf("%d min", l.Minutes)
}

// Answers says how many of the lesson's questions were answered, "" for none.
func (l *MapLesson) Answers() string {
	if l.Tally.Answered == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d answered", l.Tally.Answered, l.Tally.Questions)
}

// NewMap joins the course with a learner's map.
func NewMap(c *lessons.Course, m progress.Map) *Map {
	v := &Map{Tally: m.All, Begun: m.LastSection != ""}
	seen := map[string]progress.SectionMap{}
	tallies := map[string]progress.Tally{}
	for _, l := range m.Lessons {
		tallies[l.Slug] = l.Tally
		for _, s := range l.Sections {
			seen[s.Where] = s
		}
	}
	for _, l := range c.Lessons {
		ml := MapLesson{Lesson: l, Tally: tallies[l.Slug]}
		for _, s := range l.Sections {
			at := seen[s.Key()]
			ml.Sections = append(ml.Sections, MapSection{s, l.Name, at.Seen})
		}
		v.Minutes += l.Minutes
		v.Lessons = append(v.Lessons, ml)
	}
	v.Next = v.goOn(m.LastSection)
	return v
}

// goOn returns the first section not seen after the one seen last, or if there is
// none the first one not seen at all.
func (v *Map) goOn(last string) *MapSection {
	var first, after *MapSection
	passed := last == ""
	for i := range v.Lessons {
		for j := range v.Lessons[i].Sections {
			s := &v.Lessons[i].Sections[j]
			if !s.Seen && first == nil {
				first = s
			}
			if !s.Seen && passed && after == nil {
				after = s
			}
			passed = passed || s.Key() == last
		}
	}
	if after != nil {
		return after
	}
	return first
}

// Number returns a lesson's number, "" for the overview, which has none.
func Number(l *lessons.Lesson) string {
	if l.Number == 0 {
		return ""
	}
	return strconv.Itoa(l.Number)
}

// Numbered returns what a lesson is about, after its number.
func Numbered(l *lessons.Lesson) string {
	return strings.TrimSpace(Number(l) + " " + terms.Isolated(l.Name))
}

// StateName is the state as a part of a class name.
func (l *MapLesson) StateName() string {
	if s := l.State(); s != "" {
		return s
	}
	return "new"
}
