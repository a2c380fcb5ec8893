package lessons

import (
	"slices"
	"strings"
)

// PlanSteps is the largest number of steps in a [Plan], which must fit on one A4 page.
const PlanSteps = 6

// A Plan is the plan of a class for one lesson. It is derived from the lesson and its questions.
type Plan struct {
	Lesson *Lesson
	Goals  []string // HTML: the lesson's goal or, if it has none, its outcomes; may be empty
	Steps  []PlanStep
	Left   []*Section // the sections that the plan leaves out
}

// A PlanStep is one section of the lesson. The minutes of all steps add up to the lesson's minutes.
type PlanStep struct {
	*Section
	Minutes int
	Ask     *Question // the section's question about itself, nil if there is none
	Slip    string    // the mistake that the section warns of, as plain text; "" if there is none
}

// Plan returns the plan for a lesson. If the lesson has more than [PlanSteps] sections, or more
// sections than minutes, the plan leaves out sections: first those without a question, then those
// with the least text. The minutes are divided in proportion to the sections' text, and every step
// has at least one.
func (c *Course) Plan(l *Lesson) *Plan {
	p := &Plan{Lesson: l, Goals: c.goals(l)}
	kept := planned(l)
	words := make([]int, 0, len(kept))
	for _, s := range l.Sections {
		if !slices.Contains(kept, s) {
			p.Left = append(p.Left, s)
			continue
		}
		p.Steps = append(p.Steps, PlanStep{Section: s, Ask: s.asks(), Slip: s.slip()})
		words = append(words, s.length())
	}
	for i, n := range apportion(l.Minutes, words) {
		p.Steps[i].Minutes = n
	}
	return p
}

// goals returns the lesson's goal or, if it has none, what its outcomes say.
func (c *Course) goals(l *Lesson) (list []string) {
	if l.Goal != "" {
		return []string{l.Goal}
	}
	for _, o := range c.Outcomes {
		if slices.Contains(l.Outcomes, o.ID) {
			list = append(list, o.HTML)
		}
	}
	return list
}

// planned returns the sections that a plan keeps, in any order.
func planned(l *Lesson) []*Section {
	list := slices.Clone(l.Sections)
	slices.SortStableFunc(list, func(a, b *Section) int {
		if asks := a.asks() != nil; asks != (b.asks() != nil) {
			if asks {
				return -1
			}
			return 1
		}
		return b.length() - a.length()
	})
	return list[:min(len(list), PlanSteps, l.Minutes)]
}

// length returns the number of words in the section.
func (s *Section) length() int { return len(strings.Fields(s.text)) }

// asks returns the question to ask a class about the section: the first choice question about it or,
// if there is none, the first question about it. Questions about earlier lessons do not count.
func (s *Section) asks() (ask *Question) {
	for _, b := range s.Blocks {
		c, ok := b.(Check)
		if !ok || !strings.HasPrefix(c.Question.Section, s.Lesson+"#") {
			continue
		}
		if ask == nil || ask.Kind != "choice" && c.Question.Kind == "choice" {
			ask = c.Question
		}
	}
	return ask
}

// slip returns the title of the section's first remark about a common mistake.
func (s *Section) slip() string {
	for _, b := range s.Blocks {
		if a, ok := b.(Aside); ok && a.Kind == "slip" && a.Title != "" {
			return a.Title
		}
	}
	return ""
}

// apportion divides a total in proportion to sizes, into whole numbers of at least 1 whose sum is
// the total. The total must be at least the number of sizes. Each unit beyond the first ones goes to
// the size that has the least for its size so far (D'Hondt's method).
func apportion(total int, sizes []int) []int {
	parts := make([]int, len(sizes))
	for i := range parts {
		parts[i] = 1
	}
	for n := len(sizes); n < total && len(sizes) > 0; n++ {
		best := 0
		for i := range sizes {
			// sizes[i] / (parts[i]+1) is larger than that of best
			if sizes[i]*(parts[best]+1) > sizes[best]*(parts[i]+1) {
				best = i
			}
		}
		parts[best]++
	}
	return parts
}

// usesDrill records that the lesson being read links to an address, if it is a drill's.
func (l *loader) usesDrill(href string) {
	name, ok := strings.CutPrefix(href, "/practice/")
	if l.lesson != nil && ok && l.targets["practice:"+name] && !slices.Contains(l.lesson.Drills, name) {
		l.lesson.Drills = append(l.lesson.Drills, name)
	}
}
