package coursework

import (
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/progress"
)

// MostTasks is the maximum number of tasks in one assignment.
const MostTasks = 40

// Task is a lesson or a drill that can be assigned.
type Task struct {
	Key   string // "learn/SLUG" or "practice/DRILL", as in URLs
	Title string
	Time  string
	Been  string // the learner's progress in words
	Done  bool
}

// Tasks returns all lessons and all drills, each with the learner's progress, in the given
// language.
func Tasks(l *terms.Language, m *Map, been []progress.DrillMap) (read, drills []Task) {
	for i := range m.Lessons {
		lesson := &m.Lessons[i]
		t := Task{
			Key: "learn/" + lesson.Slug, Title: lesson.Title, Time: lesson.Time(l), Been: lesson.Seen(l),
			Done: lesson.State() == "done" && lesson.Answered == lesson.Asked,
		}
		if answers := lesson.Answers(l); answers != "" {
			t.Been = l.T("list.next", "list", t.Been, "next", answers)
		}
		read = append(read, t)
	}
	for _, info := range drill.Kinds(l) {
		t := Task{
			Key: "practice/" + string(info.Kind), Title: info.Title, Time: l.T("coursework.time", "n", info.Minutes),
			Been: DrillText(l, been, info.Kind),
		}
		if t.Done = t.Been != ""; !t.Done {
			t.Been = l.T("coursework.read.none")
		}
		drills = append(drills, t)
	}
	return read, drills
}

// DrillText describes the progress in a drill. It returns "" if the drill has not been started.
func DrillText(l *terms.Language, all []progress.DrillMap, kind drill.Kind) string {
	for _, d := range all {
		if d.Drill == string(kind) {
			return l.T("coursework.drilled", "n", d.Times, "best", terms.Percent(d.Best))
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
