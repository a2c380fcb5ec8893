package records

import (
	"slices"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
)

// Limits of assignments and results.
const (
	MaxTasks    = 40
	MaxSlips    = 64
	longestTask = 80 // in bytes; applies to the names of tasks and of mistakes
)

// SameWork reports whether w and x are equal except for their times.
func SameWork(w, x class.Work) bool {
	return slices.Equal(w.Done, x.Done) && slices.Equal(w.Slips, x.Slips)
}

// Assign returns the room's data with a new assignment.
func (d Data) Assign(a class.Assign) (Data, error) {
	if len(a.Tasks) > MaxTasks {
		return d, terms.Refuse(class.CodeAsk, "class.refused.tasks", "n", MaxTasks)
	}
	for _, t := range a.Tasks {
		if !plainTask(t) {
			return d, terms.Refuse(class.CodeAsk, "class.refused.no_task", "task", class.Quoted(t))
		}
	}
	d.Tasks, d.AskNames = strings.Join(a.Tasks, " "), a.Names && len(a.Tasks) > 0
	return d, nil
}

func plainTask(t string) bool {
	return t != "" && text(t, longestTask) && !strings.ContainsAny(t, " \n\t:")
}

// Within returns the part of w that is about the given tasks, up to the limits.
func Within(w class.Work, tasks []string, now time.Time) class.Work {
	kept := class.Work{At: now.UTC()}
	for _, t := range tasks {
		if slices.Contains(w.Done, t) {
			kept.Done = append(kept.Done, t)
		}
	}
	for _, s := range w.Slips {
		task, what, ok := strings.Cut(s, ":")
		if ok && what != "" && text(s, longestTask) && slices.Contains(tasks, task) && len(kept.Slips) < MaxSlips &&
			!slices.Contains(kept.Slips, s) {
			kept.Slips = append(kept.Slips, s)
		}
	}
	return kept
}

// checkWork reports whether a record's results are valid.
func checkWork(w *class.Work) bool {
	if w == nil {
		return true
	}
	for _, s := range append(slices.Clone(w.Done), w.Slips...) {
		if !text(s, longestTask) {
			return false
		}
	}
	return ValidTime(w.At) && len(w.Done) <= MaxTasks && len(w.Slips) <= MaxSlips
}
