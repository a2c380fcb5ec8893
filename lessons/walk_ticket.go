package lessons

import (
	"fmt"
	"html"
	"math"
)

// ticketQuestions is the number of questions of an exit ticket.
const ticketQuestions = 3

// TicketMinutes is about how many minutes an exit ticket takes in a class.
const TicketMinutes = 4

// checkMinutes reports a problem if only some steps have minutes, or if they do not add up. It adds
// nothing if a number of minutes is invalid, which has already been reported.
func (l *loader) checkMinutes(d *document, w *Walk) {
	sum, timed := 0, 0
	for i, s := range w.Steps {
		if _, ok := d.sections[i].attrs.keys["minutes"]; !ok {
			continue
		}
		if s.Minutes == 0 {
			return
		}
		sum, timed = sum+s.Minutes, timed+1
	}
	if w.Minutes < 1 || w.Minutes > mostWalkMinutes {
		return
	}
	if timed > 0 && (timed < len(w.Steps) || sum != w.Minutes) {
		l.problems.add(
			d.front["minutes"].at,
			"%d of %d steps have minutes, %d in total; want all steps, and the walkthrough's %d minutes",
			timed, len(w.Steps), sum, w.Minutes,
		)
	}
}

// addTicket appends the steps of the exit ticket: one for each question in the front matter. They do
// not count toward w.Minutes.
func (l *loader) addTicket(d *document, w *Walk) {
	f, ok := d.front["ticket"]
	if !ok {
		return
	}
	steps, ids := w.Steps, f.list()
	if len(ids) != ticketQuestions {
		l.problems.add(f.at, "the ticket has %d questions, want %d", len(ids), ticketQuestions)
	}
	asked := map[string]bool{}
	for i, id := range ids {
		q := l.course.Question(id)
		if q == nil {
			l.problems.add(f.at, "the quiz has no question %q", id)
			continue
		}
		l.checkTicketQuestion(f, q, steps, asked[id])
		asked[id] = true
		s := l.ticketStep(q, i+1, len(ids))
		for _, other := range steps {
			if other.ID == s.ID {
				l.problems.add(position{d.at.file, other.Line}, "the step id %q is reserved for the ticket", s.ID)
			}
		}
		w.Steps, w.Ticket = append(w.Steps, s), w.Ticket+1
	}
}

// checkTicketQuestion reports a problem if q has no choices, if the ticket asks it twice, or if one of
// the script's steps asks it.
func (l *loader) checkTicketQuestion(f field, q *Question, steps []*WalkStep, twice bool) {
	if twice {
		l.problems.add(f.at, "the ticket asks %q twice", q.ID)
		return
	}
	if q.Kind != "choice" {
		l.problems.add(f.at, "the question %q has kind=%s, want kind=choice in a ticket", q.ID, q.Kind)
	}
	for _, s := range steps {
		if s.Ask != nil && s.Ask.Question == q {
			l.problems.add(f.at, "the ticket asks %q, which the step on line %d asks", q.ID, s.Line)
			return
		}
	}
}

// ticketStep returns the step that asks question number n of all questions of the ticket.
func (l *loader) ticketStep(q *Question, n, all int) *WalkStep {
	return &WalkStep{
		ID: fmt.Sprintf("ticket-%d", n), Line: math.MaxInt32, // after the text
		Title: l.words.T("lessons.ticket.title", "n", n, "all", all),
		Say:   "<p>" + html.EscapeString(l.words.T("lessons.ticket.say")) + "</p>\n",
		Note:  "<p>" + html.EscapeString(l.words.T("lessons.ticket.note")) + "</p>\n",
		Ask:   &AskSpec{Kind: AskQuestion, Question: q},
	}
}
