package coursework

import (
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/progress"
)

// MostTasks is the maximum number of tasks that can be assigned together.
const MostTasks = 40

// Task is a lesson or a drill that can be assigned.
type Task struct {
	Key   string // "learn/SLUG" or "practice/DRILL", as in URLs
	Title string
	Time  string
	Been  string // the learner's progress in words
	Done  bool
}

// Tasks returns all lessons and drills, with a learner's progress in them.
func Tasks(m *Map, been []progress.DrillMap) (read, drills []Task) {
	for i := range m.Lessons {
		l := &m.Lessons[i]
		t := Task{
			Key: "learn/" + l.Slug, Title: l.Title, Time: l.Time(), Been: l.Seen(),
			Done: l.State() == "done" && l.Tally.Answered == l.Tally.Questions,
		}
		if answers := l.Answers(); answers != "" {
			t.Been += ", " + answers
		}
		read = append(read, t)
	}
	for _, info := range drill.Kinds() {
		t := Task{
			Key: "practice/" + string(info.Kind), Title: info.Title, Time: terms.Counted(info.Minutes, "minute"),
			Been: DrillText(been, info.Kind),
		}
		if t.Done = t.Been != ""; !t.Done {
			t.Been = "not begun"
		}
		drills = append(drills, t)
	}
	return read, drills
}

// DrillText describes the progress in a drill. It returns "" if the drill has not been started.
func DrillText(all []progress.DrillMap, kind drill.Kind) string {
	for _, d := range all {
		if d.Drill == string(kind) {
			return fmt.Sprintf("%s done, best %s", terms.Counted(d.Times, "step"), terms.Percent(d.Best))
		}
	}
	return ""
}

// Only returns the tasks in list with the given keys, in the order of list.
func Only(list []Task, named []string) (kept []Task) {
	for _, t := range list {
		for _, key := range named {
			if t.Key == key {
				kept = append(kept, t)
				break
			}
		}
	}
	return kept
}

// TaskOf returns the key of the task in which a mistake was made: the drill, or the lesson of the
// question. It returns "" if the question does not belong to a lesson.
func TaskOf(course *lessons.Course, s progress.Slip) string {
	if s.Drill != "" {
		return "practice/" + s.Drill
	}
	for _, q := range course.Questions {
		if q.ID == s.Question {
			slug, _, _ := strings.Cut(q.Section, "#")
			return "learn/" + slug
		}
	}
	return ""
}
