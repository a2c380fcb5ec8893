package progress

import (
	"context"
	"strings"

	"github.com/tokenbytoken/viz/lessons"
)

// A counted contains the numbers of the course's questions and cards, by section and by outcome,
// together with a learner's results.
type counted struct {
	section map[string]Tally
	outcome map[string]Tally
}

// Map returns a learner's progress.
func (s *Store) Map(ctx context.Context, learnerID string) (m Map, err error) {
	err = s.glance(ctx, learnerID, func(st *state) {
		m = s.mapOf(st)
	})
	return m, err
}

func (s *Store) mapOf(st *state) Map {
	k := s.count(st)
	m := Map{LastSection: st.last(), Drills: st.drills()}
	for _, l := range s.course.Lessons {
		lesson := LessonMap{Slug: l.Slug, Title: l.Title}
		for _, x := range l.Sections {
			section := SectionMap{ID: x.ID, Where: l.Slug + "#" + x.ID, Title: x.Title}
			if v := st.Visits[section.Where]; v != nil {
				section.FirstSeen, section.Seen = moment(v.First), true
			}
			section.Tally = k.section[section.Where].add(visited(section.Seen))
			lesson.Sections = append(lesson.Sections, section)
			lesson.Tally = lesson.Tally.add(section.Tally)
			for _, b := range x.Blocks {
				if c, ok := b.(lessons.Check); ok {
					if lesson.Asked++; st.Credit[c.Question.ID] != nil {
						lesson.Answered++
					}
				}
			}
		}
		m.Lessons = append(m.Lessons, lesson)
		m.All = m.All.add(lesson.Tally)
	}
	for _, o := range s.course.Outcomes {
		outcome := OutcomeMap{ID: o.ID, Text: o.Text, Tally: k.outcome[o.ID]}
		for _, href := range o.Explanation {
			section := strings.TrimPrefix(href, "/learn/")
			_, seen := st.Visits[section]
			outcome.Tally = outcome.Tally.add(visited(seen))
		}
		m.Outcomes = append(m.Outcomes, outcome)
	}
	return m
}

// count totals the course's questions and cards by section and outcome.
func (s *Store) count(st *state) counted {
	k := counted{map[string]Tally{}, map[string]Tally{}}
	note := func(section, outcome string, t Tally) {
		k.section[section] = k.section[section].add(t)
		k.outcome[outcome] = k.outcome[outcome].add(t)
	}
	for _, q := range s.course.Questions {
		t := Tally{Questions: 1}
		if newest := st.Credit[q.ID]; newest != nil {
			t.Answered, t.Credit = 1, newest.Credit
		}
		note(q.Section, q.Outcome, t)
	}
	for _, c := range s.course.Cards {
		t := Tally{Cards: 1}
		if reviewed := st.Cards[c.ID]; reviewed != nil {
			t.Reviewed = 1
			if strong(reviewed.Card) {
				t.Strong = 1
			}
		}
		note(c.Section, c.Outcome, t)
	}
	return k
}

func visited(seen bool) Tally {
	if seen {
		return Tally{Sections: 1, Seen: 1}
	}
	return Tally{Sections: 1}
}

func (t Tally) add(u Tally) Tally {
	return Tally{
		Sections: t.Sections + u.Sections, Seen: t.Seen + u.Seen,
		Questions: t.Questions + u.Questions, Answered: t.Answered + u.Answered, Credit: t.Credit + u.Credit,
		Cards: t.Cards + u.Cards, Reviewed: t.Reviewed + u.Reviewed, Strong: t.Strong + u.Strong,
	}
}
