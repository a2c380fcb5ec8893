package coursework

import (
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/progress"
)

// Map is the course together with one learner's progress.
type Map struct {
	Lessons []MapLesson
	Minutes int // reading time of all lessons
	Tally   progress.Tally
	// Outcomes are the skills that learners have at the end of the course, in the course's order.
	Outcomes []progress.OutcomeMap
	// Next is the section to continue with: the first unseen section after the last one seen, or
	// else the first unseen section of the course. It is nil if all sections have been seen. Begun
	// reports whether any section has been seen.
	Next  *MapSection
	Begun bool
}

// Count returns the number of lessons, without the overview, which has no number.
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
	// Asked is the number of questions on the lesson's page. Answered is how many of them the
	// learner has answered.
	Asked, Answered int
	// Of is the number of all sections of the lesson if the map has only some of them, otherwise 0.
	Of int
}

// MapSection is one section of a lesson. Seen is set if the learner has seen it.
type MapSection struct {
	*lessons.Section
	LessonTitle string
	Seen        bool
}

// State returns "done", "begun" or "".
func (l *MapLesson) State() string {
	switch {
	case l.Tally.Seen == 0:
		return ""
	case l.Tally.Seen < len(l.Sections):
		return "begun"
	}
	return "done"
}

// Start returns the address at which to start reading: the lesson's, or the first section's if the
// map has only some of them.
func (l *MapLesson) Start() string {
	if l.Of > 0 && len(l.Sections) > 0 {
		return l.Sections[0].Href()
	}
	return l.Href()
}

// Seen describes how much of the lesson the learner has read.
func (l *MapLesson) Seen(w *terms.Language) string {
	switch l.State() {
	case "done":
		return w.T("coursework.read")
	case "begun":
		return w.T("coursework.read.some", "n", l.Tally.Seen, "all", len(l.Sections))
	}
	return w.T("coursework.read.none")
}

// Time describes how many minutes the lesson takes and whether it is shortened or one of the harder
// lessons.
func (l *MapLesson) Time(w *terms.Language) string {
	if l.Of > 0 {
		return w.T("coursework.minutes.short", "n", l.Minutes, "sections", len(l.Sections), "all", l.Of)
	}
	if l.Difficulty == "harder" {
		return w.T("coursework.minutes.harder", "n", l.Minutes)
	}
	return w.T("unit.min", "n", l.Minutes)
}

// Answers describes how many of the questions on the lesson's page the learner has answered. It
// returns "" if the learner has answered none of them.
func (l *MapLesson) Answers(w *terms.Language) string {
	if l.Answered == 0 {
		return ""
	}
	return w.T("coursework.answered", "n", l.Answered, "all", l.Asked)
}

// NewMap combines the course with a learner's progress.
func NewMap(c *lessons.Course, m progress.Map) *Map {
	v := &Map{Tally: m.All, Begun: m.LastSection != ""}
	seen := map[string]progress.SectionMap{}
	results := map[string]progress.LessonMap{}
	for _, l := range m.Lessons {
		results[l.Slug] = l
		for _, s := range l.Sections {
			seen[s.Where] = s
		}
	}
	for i, o := range m.Outcomes {
		o.Text = c.Outcomes[i].Text
		v.Outcomes = append(v.Outcomes, o)
	}
	for _, l := range c.Lessons {
		been := results[l.Slug]
		ml := MapLesson{Lesson: l, Tally: been.Tally, Asked: been.Asked, Answered: been.Answered}
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

// goOn returns the first unseen section after the section with the key last. If there is none, it
// returns the first unseen section of the course.
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

// Number returns a lesson's number, or "" for the overview.
func Number(l *lessons.Lesson) string {
	if l.Number == 0 {
		return ""
	}
	return strconv.Itoa(l.Number)
}

// Numbered returns a lesson's number and title.
func Numbered(l *lessons.Lesson) string {
	return strings.TrimSpace(Number(l) + " " + terms.Isolated(l.Name))
}

// StateName returns the state as part of a CSS class name.
func (l *MapLesson) StateName() string {
	if s := l.State(); s != "" {
		return s
	}
	return "new"
}
