package records

import (
	"slices"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/web/class"
)

// SameWork reports whether w and x are equal except for their times.
func SameWork(w, x class.Work) bool {
	return slices.Equal(w.Done, x.Done) && slices.Equal(w.Slips, x.Slips)
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
