package lessons

import (
	"slices"
	"strings"
)

// PlanSteps is the largest number of steps in a [Plan], which must fit on one A4 page.
const PlanSteps = 6

// Class minutes that a plan adds to the reading time, for the guess, the run and the talk about an
// experiment, and for the vote or the writing and the talk about a question.
const (
	ExperimentMinutes = 5
	QuestionMinutes   = 3
)

// A Plan is the plan of a class for one lesson. It is derived from the lesson and its questions.
type Plan struct {
	Lesson *Lesson
	Goals  []string // HTML: the lesson's goal or, if it has none, its outcomes; may be empty
	Steps  []PlanStep
	Left   []*Section // the sections that the plan leaves out
}

// A PlanStep is one section of the lesson.
type PlanStep struct {
	*Section
	Minutes     int // in class: see [Course.Plan]
	Experiments []Widget
	Ask         *Question // the section's question about itself, nil if there is none
	Opening     string    // the section's first paragraph as plain text, if there is no question; may be empty
	Slip        string    // the mistake that the section warns of, as plain text; "" if there is none
}

// Minutes returns the duration of the class.
func (p *Plan) Minutes() (sum int) {
	for _, s := range p.Steps {
		sum += s.Minutes
	}
	return sum
}

// Questions returns the questions that the steps ask, in order.
func (p *Plan) Questions() (list []*Question) {
	for _, s := range p.Steps {
		if s.Ask != nil {
			list = append(list, s.Ask)
		}
	}
	return list
}

// Plan returns the plan for a lesson. If the lesson has more than [PlanSteps] sections, the plan leaves
// out sections: first those without a question, then those with the least text.
//
// The minutes of a step are its reading time, [ExperimentMinutes] for each of its experiments, and
// [QuestionMinutes] if it asks a question. The reading time of the lesson is divided in proportion to the
// sections' text, and every step has at least one minute of it.
func (c *Course) Plan(l *Lesson) *Plan {
	p := &Plan{Lesson: l, Goals: c.goals(l)}
	kept := planned(l)
	words, all := make([]int, 0, len(kept)), 0
	for _, s := range l.Sections {
		all += s.length()
		if !slices.Contains(kept, s) {
			p.Left = append(p.Left, s)
			continue
		}
		step := PlanStep{Section: s, Experiments: s.experiments(), Ask: s.asks(), Slip: s.slip()}
		if step.Ask == nil {
			step.Opening = s.opening
		}
		p.Steps = append(p.Steps, step)
		words = append(words, s.length())
	}
	for i, n := range apportion(readingMinutes(l.Minutes, words, all), words) {
		s := &p.Steps[i]
		if s.Minutes = n + len(s.Experiments)*ExperimentMinutes; s.Ask != nil {
			s.Minutes += QuestionMinutes
		}
	}
	return p
}

// readingMinutes returns the minutes to read sections with the given numbers of words, of a lesson with all
// words: their part of the lesson's minutes, rounded up, and at least one minute for each section.
func readingMinutes(minutes int, words []int, all int) int {
	sum := 0
	for _, n := range words {
		sum += n
	}
	return max(len(words), (minutes*sum+all-1)/max(all, 1))
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
	return list[:min(len(list), PlanSteps)]
}

// experiments returns the experiments in the section.
func (s *Section) experiments() (list []Widget) {
	for _, b := range s.Blocks {
		if w, ok := b.(Widget); ok {
			list = append(list, w)
		}
	}
	return list
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
