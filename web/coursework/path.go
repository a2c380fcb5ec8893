package coursework

import (
	"math"
	"slices"
	"strconv"

	"github.com/tokenbytoken/viz/infer/terms"
)

// order lists the most useful lessons for learners with little time, in order of importance. The
// first [center] of them explain what the course is about: the loop, softmax, the choice of a token,
// and what the settings and the tokens of a service do and cost. All other lessons follow in course
// order.
var order = []string{
	"the-loop", "logits-and-softmax", "choosing-a-token", "calling-an-api", "temperature", "kv-cache", "stopping",
	"speculative-decoding", "sure-and-wrong",
}

// center is the number of lessons in order that are never left out for a less important one.
const center = 4

// short lists, by lesson, the sections that remain if the whole center does not fit.
var short = map[string][]string{"choosing-a-token": {"greedy", "the-choice", "top-k", "top-p"}}

// Within returns a map of the unread lessons that fit into the given number of minutes, in course
// order, and their total time. The lessons of the center may exceed the time by a quarter, since
// reading times are only estimates. If they still do not fit, some of them are shortened. If nothing
// fits, all lessons may exceed the time by a quarter.
func (v *Map) Within(minutes int) (part *Map, took int) {
	chosen, took, whole := v.choose(minutes, center, nil)
	if !whole {
		chosen, took, _ = v.choose(minutes, center, short)
	}
	if len(chosen) == 0 {
		chosen, took, _ = v.choose(minutes, math.MaxInt, nil)
	}
	part = &Map{Minutes: took, Tally: v.Tally, Begun: v.Begun}
	for _, l := range v.Lessons {
		if c, ok := chosen[l.Slug]; ok {
			part.Lessons = append(part.Lessons, c)
		}
	}
	if part.Next = part.goOn(""); len(part.Lessons) == 0 {
		part.Next = v.Next
	}
	return part, took
}

// choose chooses the unread lessons that fit, in order of importance, and returns their total time.
// The first flexible lessons may exceed the time by a quarter. It shortens the lessons in shorter.
// whole reports whether the whole center fits.
func (v *Map) choose(
	minutes, flexible int, shorter map[string][]string,
) (chosen map[string]MapLesson, took int, whole bool) {
	chosen, whole = map[string]MapLesson{}, true
	slugs := slices.Clone(order)
	for i := range v.Lessons {
		if l := &v.Lessons[i]; !slices.Contains(slugs, l.Slug) {
			slugs = append(slugs, l.Slug)
		}
	}
	for n, slug := range slugs {
		i := slices.IndexFunc(v.Lessons, func(l MapLesson) bool { return l.Slug == slug })
		if i < 0 {
			continue
		}
		l, most := v.Lessons[i].only(shorter[slug]), minutes
		if n < flexible {
			most += minutes / 4
		}
		switch {
		case l.State() == "done":
		case took+l.Minutes > most:
			whole = whole && n >= center
		default:
			chosen[slug], took = l, took+l.Minutes
		}
	}
	return chosen, took, whole
}

// only returns the lesson with the given sections, or with all its sections if ids is empty. The
// time is shortened in proportion to the number of sections, rounded up.
func (l MapLesson) only(ids []string) MapLesson {
	if len(ids) == 0 {
		return l
	}
	all, sections := len(l.Sections), []MapSection(nil)
	l.Tally.Seen = 0
	for _, s := range l.Sections {
		if slices.Contains(ids, s.ID) {
			sections = append(sections, s)
			if s.Seen {
				l.Tally.Seen++
			}
		}
	}
	shorter := *l.Lesson
	shorter.Minutes = (l.Minutes*len(sections) + all - 1) / max(all, 1)
	l.Lesson, l.Sections, l.Of = &shorter, sections, all
	return l
}

// Times lists the times, in minutes, that a learner can choose instead of taking the whole course.
var Times = []int{5, 20, 60}

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
