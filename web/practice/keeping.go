package practice

import (
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/progress"
)

// Keeping determines how long progress is kept.
type Keeping int

const (
	// Expires keeps progress until the learner has been away for [progress.Life]. Servers use it.
	Expires Keeping = iota
	// InBrowser keeps progress until the learner or the browser deletes it.
	InBrowser
	// Nowhere keeps progress until the pages are closed. It is used in a browser without storage.
	Nowhere
)

// lead describes what is saved, and where.
func (k Keeping) lead() string {
	const what = ": what you have read, how your answers and cards went, and how well you judge your guesses. " +
		"It keeps no text you wrote"
	switch k {
	case InBrowser:
		return "What this browser keeps about you" + what + "."
	case Nowhere:
		return "What this browser keeps about you until you close its pages" + what + "."
	}
	return "What this server keeps about you" + what + ", and no name except one you give in a class."
}

// inClasses describes what deletion does to a learner's classes, which exist only on a server.
func (k Keeping) inClasses() string {
	if k == Expires {
		return " Your name is removed from the classes you joined."
	}
	return ""
}

// sentence describes how long progress is kept.
func (k Keeping) sentence() string {
	switch k {
	case InBrowser:
		return "It is kept in this browser and nowhere else, until you delete it here. A private window deletes it " +
			"when you close it, and some browsers do when you stay away for weeks: a file that you export is safe."
	case Nowhere:
		return "This browser keeps nothing for this site: what you did is lost when you close its pages, unless you " +
			"export it."
	}
	days := func(d time.Duration) string { return terms.Counted(int(d/(24*time.Hour)), "day") }
	return "It is kept for " + days(progress.Life) + " after you last did something, and then deleted. If all you " +
		"did was read one section, it is kept for " + days(progress.AbandonedLife) + "."
}
