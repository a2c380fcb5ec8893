package coursework

import (
	"slices"
	"strconv"

	"github.com/tokenbytoken/viz/infer/terms"
)

// core lists the most useful lessons for learners with little time, in order of importance. All
// other lessons follow in course order.
var core = []string{
	"the-loop", "temperature", "logits-and-softmax", "stopping", "choosing-a-token", "kv-cache", "calling-an-api",
}

// Within returns a map of the unread lessons that fit into the given number of minutes, in course
// order, and their total time. The total may exceed minutes by up to a quarter, since reading times
// are only estimates.
func (v *Map) Within(minutes int) (part *Map, took int) {
	order := slices.Clone(core)
	for i := range v.Lessons {
		if l := &v.Lessons[i]; !slices.Contains(order, l.Slug) {
			order = append(order, l.Slug)
		}
	}
	chosen := map[string]bool{}
	for _, slug := range order {
		i := slices.IndexFunc(v.Lessons, func(l MapLesson) bool { return l.Slug == slug })
		if i < 0 || v.Lessons[i].State() == "done" || took+v.Lessons[i].Minutes > minutes+minutes/4 {
			continue
		}
		chosen[slug], took = true, took+v.Lessons[i].Minutes
	}
	part = &Map{Minutes: took, Tally: v.Tally, Begun: v.Begun}
	for _, l := range v.Lessons {
		if chosen[l.Slug] {
			part.Lessons = append(part.Lessons, l)
		}
	}
	part.Next = part.goOn("")
	return part, took
}

// Times lists the times, in minutes, that a learner can choose instead of taking the whole course.
var Times = []int{5, 20}

// TimeLink is the link for one of the offered times.
type TimeLink struct {
	Href, Says string
	Now        bool
}

// TimeLinks returns the links for [Times] and for the whole course. The parameter all is the length
// of the course in minutes; asked is the chosen time, or 0 if none was chosen.
func TimeLinks(w *terms.Language, all, asked int) []TimeLink {
	var list []TimeLink
	for _, n := range Times {
		list = append(list, TimeLink{"/learn?minutes=" + strconv.Itoa(n), w.T("coursework.time", "n", n), n == asked})
	}
	return append(list, TimeLink{"/learn", w.T("coursework.time.all", "n", all), asked == 0})
}
