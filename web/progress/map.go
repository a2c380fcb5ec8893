package progress

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/lessons/fsrs"
)

// kept is what a learner has done, by the names of the parts.
type kept struct {
	seen    map[string]time.Time // sections, with the first visit
	last    string               // the section visited last
	credit  map[string]float64   // questions, with the newest answer's credit
	drills  []DrillMap
	cards   map[string]fsrs.Card
	section map[string]Tally // questions and cards by section
	outcome map[string]Tally // the same by outcome
}

// Map tells how far a learner has come.
func (s *Store) Map(ctx context.Context, learner string) (Map, error) {
	k := kept{section: map[string]Tally{}, outcome: map[string]Tally{}}
	err := s.look(ctx, learner, func(tx *sql.Tx) error { return k.read(ctx, tx, learner) })
	if err != nil {
		return Map{}, err
	}
	s.count(&k)
	m := Map{LastSection: k.last, Drills: k.drills}
	for _, l := range s.course.Lessons {
		lesson := LessonMap{Slug: l.Slug, Title: l.Title}
		for _, x := range l.Sections {
			section := SectionMap{ID: x.ID, Where: l.Slug + "#" + x.ID, Title: x.Title}
			section.FirstSeen, section.Seen = k.seen[section.Where]
			section.Tally = k.section[section.Where].add(visited(section.Seen))
			lesson.Sections = append(lesson.Sections, section)
			lesson.Tally = lesson.Tally.add(section.Tally)
		}
		m.Lessons = append(m.Lessons, lesson)
		m.All = m.All.add(lesson.Tally)
	}
	for _, o := range s.course.Outcomes {
		outcome := OutcomeMap{ID: o.ID, Text: o.Text, Tally: k.outcome[o.ID]}
		for _, href := range o.Explanation {
			section := strings.TrimPrefix(href, "/learn/")
			_, seen := k.seen[section]
			outcome.Tally = outcome.Tally.add(visited(seen))
		}
		m.Outcomes = append(m.Outcomes, outcome)
	}
	return m, nil
}

// read reads what a learner has done.
func (k *kept) read(ctx context.Context, tx *sql.Tx, learner string) (err error) {
	k.seen, k.credit = map[string]time.Time{}, map[string]float64{}
	err = each(ctx, tx, "SELECT section, first_at FROM visits WHERE learner = ? ORDER BY last_at, section", func(scan func(...any) error) error {
		var at int64
		err := scan(&k.last, &at)
		k.seen[k.last] = moment(at)
		return err
	}, learner)
	if err != nil {
		return err
	}
	// The part of an exercise behind the slash is left to whoever named it.
	err = each(ctx, tx, `SELECT kind = 'drill', item, credit FROM answers WHERE learner = ? ORDER BY at, id`, func(scan func(...any) error) error {
		var drill bool
		var item string
		var credit float64
		if err := scan(&drill, &item, &credit); err != nil {
			return err
		}
		if drill {
			name, _, _ := strings.Cut(item, "/")
			k.drill(name, credit)
		} else {
			k.credit[item] = credit
		}
		return nil
	}, learner)
	if err != nil {
		return err
	}
	k.cards, err = cardsOf(ctx, tx, learner)
	return err
}

func (k *kept) drill(name string, credit float64) {
	for i := range k.drills {
		if d := &k.drills[i]; d.Drill == name {
			d.Times, d.Best, d.Last = d.Times+1, max(d.Best, credit), credit
			return
		}
	}
	k.drills = append(k.drills, DrillMap{name, 1, credit, credit})
}

// count sums the questions and cards of the course up by section and outcome.
func (s *Store) count(k *kept) {
	note := func(section, outcome string, t Tally) {
		k.section[section] = k.section[section].add(t)
		k.outcome[outcome] = k.outcome[outcome].add(t)
	}
	for _, q := range s.course.Questions {
		t := Tally{Questions: 1}
		if credit, answered := k.credit[q.ID]; answered {
			t.Answered, t.Credit = 1, credit
		}
		note(q.Section, q.Outcome, t)
	}
	for _, c := range s.course.Cards {
		t := Tally{Cards: 1}
		if state, reviewed := k.cards[c.ID]; reviewed {
			t.Reviewed = 1
			if strong(state) {
				t.Strong = 1
			}
		}
		note(c.Section, c.Outcome, t)
	}
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
