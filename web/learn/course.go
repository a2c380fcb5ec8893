package learn

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/progress"
)

// courseMap is the course with what one learner has done of it.
type courseMap struct {
	Lessons []mapLesson
	Minutes int // of reading, all lessons together
	Tally   progress.Tally
	// Next is where to go on: the first section not seen, after the one seen
	// last if there is one; Begun tells whether any was seen. Next is nil when
	// all were.
	Next  *mapSection
	Begun bool
}

// mapLesson is one lesson of a [courseMap].
type mapLesson struct {
	*lessons.Lesson
	Sections []mapSection
	Tally    progress.Tally
}

// mapSection is one section of a lesson and whether it was seen.
type mapSection struct {
	*lessons.Section
	LessonTitle string
	Seen        bool
}

// State is "done", "begun" or "".
func (l *mapLesson) State() string {
	switch {
	case l.Tally.Seen == 0:
		return ""
	case l.Tally.Seen < len(l.Sections):
		return "begun"
	}
	return "done"
}

// Seen says how far the learner is, in words.
func (l *mapLesson) Seen() string {
	switch l.State() {
	case "done":
		return "read"
	case "begun":
		return fmt.Sprintf("%d of %d read", l.Tally.Seen, len(l.Sections))
	}
	return "not begun"
}

// Time says how long the lesson takes, and where it is a harder one.
func (l *mapLesson) Time() string {
	if l.Difficulty == "harder" {
		return fmt.Sprintf("%d min, harder", l.Minutes)
	}
	return fmt.Sprintf("%d min", l.Minutes)
}

// Answers says how many of the lesson's questions were answered, "" for none.
func (l *mapLesson) Answers() string {
	if l.Tally.Answered == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d answered", l.Tally.Answered, l.Tally.Questions)
}

// newCourseMap joins the course with a learner's map.
func newCourseMap(c *lessons.Course, m progress.Map) *courseMap {
	v := &courseMap{Tally: m.All, Begun: m.LastSection != ""}
	seen := map[string]progress.SectionMap{}
	tallies := map[string]progress.Tally{}
	for _, l := range m.Lessons {
		tallies[l.Slug] = l.Tally
		for _, s := range l.Sections {
			seen[s.Where] = s
		}
	}
	for _, l := range c.Lessons {
		ml := mapLesson{Lesson: l, Tally: tallies[l.Slug]}
		for _, s := range l.Sections {
			at := seen[s.Key()]
			ml.Sections = append(ml.Sections, mapSection{s, l.Title, at.Seen})
		}
		v.Minutes += l.Minutes
		v.Lessons = append(v.Lessons, ml)
	}
	v.Next = v.goOn(m.LastSection)
	return v
}

// goOn is the first section not seen after the one seen last, or from the
// beginning where all of those were seen.
func (v *courseMap) goOn(last string) *mapSection {
	var first, after *mapSection
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

// mapOf reads a learner's map.
func (p *Pages) mapOf(ctx context.Context, learner string) (*courseMap, error) {
	m, err := p.Progress.Map(ctx, learner)
	if err != nil {
		return nil, err
	}
	return newCourseMap(p.Course, m), nil
}

// lessonNumber is how a lesson is counted; the overview has none.
func lessonNumber(l *lessons.Lesson) string {
	if l.Number == 0 {
		return ""
	}
	return strconv.Itoa(l.Number)
}

// StateName is the state as a class.
func (l *mapLesson) StateName() string {
	if s := l.State(); s != "" {
		return s
	}
	return "new"
}
