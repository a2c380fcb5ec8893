package practice

import (
	"time"

	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/stage"
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
func (k Keeping) lead(w stage.Words) string {
	switch k {
	case InBrowser:
		return w.T("practice.keeping.lead.browser")
	case Nowhere:
		return w.T("practice.keeping.lead.nowhere")
	}
	return w.T("practice.keeping.lead.server")
}

// sentence describes how long progress is kept.
func (k Keeping) sentence(w stage.Words) string {
	switch k {
	case InBrowser:
		return w.T("practice.keeping.browser")
	case Nowhere:
		return w.T("practice.keeping.nowhere")
	}
	days := func(d time.Duration) string { return w.Counted(int(d/(24*time.Hour)), "day") }
	return w.T("practice.keeping.server", "days", days(progress.Life), "abandoned", days(progress.AbandonedLife))
}

// deleteText describes what deletion erases. Only a server has classes.
func deleteText(w stage.Words, v progressPage) string {
	t := v.Map.Tally
	key := "practice.delete.say"
	if v.Keeping == Expires {
		key = "practice.delete.say.classes"
	}
	return w.T(
		key, "sections", w.T("practice.count.sections", "n", t.Seen),
		"questions", w.T("practice.count.questions", "n", t.Answered),
		"cards", w.T("practice.count.cards", "n", t.Reviewed),
	)
}
