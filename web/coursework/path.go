package coursework

import (
	"fmt"
	"slices"
	"strconv"
)

// core are the lessons to read first when there is little time, the most useful before
// the others. All others follow in the order of the course.
var core = []string{
	"the-loop", "temperature", "logits-and-softmax", "stopping", "choosing-a-token", "kv-cache", "calling-an-api",
}

// Within returns the map of the lessons not yet read for which there are so many minutes,
// in the order of the course, and how many they take together. A lesson that takes a
// little longer than what is left counts as fitting: nobody reads to the minute.
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

// Times are the minutes that somebody is offered besides all of the course.
var Times = []int{5, 20}

// TimeLink is one of the times that somebody may have, and its part of the course.
type TimeLink struct {
	Href, Says string
	Now        bool
}

// TimeLinks are the [Times] and all of the course, which takes so many minutes; asked is
// the time that was chosen, 0 for none of them.
func TimeLinks(all, asked int) []TimeLink {
	var list []TimeLink
	for _, n := range Times {
		list = append(list, TimeLink{"/learn?minutes=" + strconv.Itoa(n), fmt.Sprintf("%d minutes", n), n == asked})
	}
	return append(list, TimeLink{"/learn", fmt.Sprintf("all %d minutes", all), asked == 0})
}
