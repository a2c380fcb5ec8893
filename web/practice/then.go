package practice

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/stage"
)

// A thenPage compares a learner's first answers with their newest ones.
type thenPage struct {
	Changed []thenItem // wrong at first, now right
	Open    []thenItem // not right yet
	Knew    []thenItem // right at first
	Guesses []thenGuess
	Chart   calibrationChart
}

// A thenItem is one question with its first answer.
type thenItem struct {
	Q        *lessons.Question
	Believed string        // plain text of the first choice, "" if it was not a choice
	Now      string        // plain text of the right choice, or "" for a written answer
	Section  string        // the title of the section that teaches it
	Card     *lessons.Card // a card of the same section or, failing that, of the same lesson; may be nil
}

// thenAndNow handles GET /then-and-now.
func (p *Pages) thenAndNow(w http.ResponseWriter, r *http.Request) {
	learner := p.Who(w, r)
	list, err := p.Progress.Beliefs(r.Context(), learner)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	guesses, err := p.Progress.Guesses(r.Context(), learner)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	cal, err := p.Progress.Calibration(r.Context(), learner)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	v := newThen(p.Course.In(r.Context()), list)
	v.Guesses = newThenGuesses(stage.In(r.Context()), p.Course.In(r.Context()), guesses)
	v.Chart = newCalibrationChart(stage.In(r.Context()), cal)
	p.HTML(w, r, http.StatusOK, thenHTML(v))
}

// thenCSV handles GET /then-and-now/answers.csv. It sends the first and the newest choice for each
// question, under a random code that is new each time.
func (p *Pages) thenCSV(w http.ResponseWriter, r *http.Request) {
	picks, err := p.Progress.Picks(r.Context(), p.Who(w, r))
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	course, me := p.Course.In(r.Context()), coursework.Participants(r.Context(), 1)[0]
	var answers []coursework.StudyAnswer
	for _, k := range picks {
		answers = append(answers, coursework.StudyAnswer{
			Participant: me, Day: k.At, Closing: k.Newest, Q: course.Question(k.Question), Choice: k.Choice,
		})
	}
	var b bytes.Buffer
	form := terms.SheetFormOf(r.URL.Query().Get("decimal"))
	if err := coursework.WriteStudy(&b, form, answers); err != nil { // writing to a buffer cannot fail
		p.Fail(w, r, err)
		return
	}
	attach(w, terms.SheetType, "answers.csv", b.Bytes())
}

// enough is the minimum credit for an answer to count as known: half of the points of a written
// answer, for example. A choice also counts as known if the learner found the right one in the end.
const enough = 0.5

func newThen(c *lessons.Course, list []progress.Belief) *thenPage {
	v := &thenPage{}
	by := map[string]progress.Belief{}
	for _, b := range list {
		by[b.Question] = b
	}
	cards := map[string]*lessons.Card{}
	for _, card := range c.Cards {
		lesson, _, _ := strings.Cut(card.Section, "#")
		for _, place := range []string{card.Section, lesson} {
			if cards[place] == nil {
				cards[place] = card
			}
		}
	}
	for _, q := range byLesson(c) {
		b, ok := by[q.ID]
		if !ok {
			continue
		}
		item := thenItem{Q: q, Section: c.Section(q.Section).Title, Card: cards[q.Section]}
		if lesson, _, _ := strings.Cut(q.Section, "#"); item.Card == nil {
			item.Card = cards[lesson]
		}
		if b.Chose >= 0 {
			item.Believed = q.Choices[b.Chose].Text
		}
		for _, choice := range q.Choices {
			if choice.Right {
				item.Now = choice.Text
			}
		}
		known := b.Now >= enough || q.Kind == "choice" && b.Now > 0
		switch {
		case !known:
			v.Open = append(v.Open, item)
		case b.First < enough:
			v.Changed = append(v.Changed, item)
		default:
			v.Knew = append(v.Knew, item)
		}
	}
	return v
}

// A thenGuess is a guess before an experiment in a lesson.
type thenGuess struct {
	Ask, Chose, Found string
	Right             bool
	Href, Lesson      string
}

func newThenGuesses(w stage.Words, c *lessons.Course, list []progress.Guess) (guesses []thenGuess) {
	by := map[string]progress.Guess{}
	for _, g := range list {
		by[g.Experiment] = g
	}
	for l, x := range c.Experiments() {
		g, ok := by[x.ID]
		if !ok {
			continue
		}
		q := guess.QuestionOf(x)
		guesses = append(guesses, thenGuess{
			Ask: w.T(q.Ask, q.With...), Chose: q.Words(w, g.Chose), Found: q.Words(w, g.Found),
			Right: g.Chose == g.Found, Href: l.Href() + "#" + x.ID, Lesson: l.Title,
		})
	}
	return guesses
}
