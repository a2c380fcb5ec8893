package classroom

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/stage"
)

// studyCSV serves the choices of a class's members as a table, with a random code for each member.
func (p *Pages) studyCSV(w http.ResponseWriter, r *http.Request) {
	room, secret, _, ok := p.taught(w, r)
	if !ok {
		return
	}
	s, err := room.Summary(r.Context(), secret)
	var b bytes.Buffer
	if err == nil {
		answers := studyAnswers(r.Context(), p.Course.Translated(room.View().Language), s)
		err = coursework.WriteStudy(&b, terms.SheetFormOf(r.URL.Query().Get("decimal")), answers)
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	sendCSV(w, "study-"+room.Code()+".csv", &b)
}

// studyAnswers returns the members' choices the first time and, if it was asked more than once, the last
// time that a question was asked. They are sorted by the members' codes, which hides the order in which
// the members joined.
func studyAnswers(ctx context.Context, course *lessons.Course, s *class.Summary) (list []coursework.StudyAnswer) {
	choices := s.Choices()
	first, last := map[string]int{}, map[string]int{} // polls without votes do not count
	for _, c := range choices {
		text := s.Polls[c.Poll].Text
		if _, again := first[text]; !again {
			first[text] = c.Poll
		}
		last[text] = c.Poll
	}
	questions := map[string]*lessons.Question{}
	for _, q := range course.Questions {
		questions[q.PromptText] = q
	}
	most := 0
	for _, c := range choices {
		most = max(most, c.Member)
	}
	codes := coursework.Participants(ctx, most)
	for _, c := range choices {
		p := s.Polls[c.Poll]
		q := questions[p.Text]
		if q == nil || c.Choice < 0 || c.Choice >= len(q.Choices) ||
			c.Poll != first[p.Text] && c.Poll != last[p.Text] {
			continue // the question has been changed, or was asked in between
		}
		list = append(list, coursework.StudyAnswer{
			Participant: codes[c.Member-1], Day: p.Asked, Closing: c.Poll != first[p.Text], Q: q, Choice: c.Choice,
		})
	}
	slices.SortStableFunc(list, func(a, b coursework.StudyAnswer) int {
		return cmp.Compare(a.Participant, b.Participant)
	})
	return list
}

// studyPage is the study kit, or the answer sheets for a number of participants.
type studyPage struct {
	Question *lessons.Question
	Kept     string   // how long an unused room is kept: "30 days"; "" on a server without classes
	Codes    []string // the codes of the participants, on the answer sheets
}

func (p *Pages) studyPage(r *http.Request) studyPage {
	v := studyPage{Question: p.Course.In(r.Context()).Question(coursework.StudyQuestion)}
	if !None && p.Hub != nil {
		v.Kept = lasting(stage.In(r.Context()), p.Hub.TTL())
	}
	return v
}

// study handles GET /teach/study.
func (p *Pages) study(w http.ResponseWriter, r *http.Request) {
	p.Who(w, r)
	p.HTML(w, r, http.StatusOK, studyHTML(p.studyPage(r)))
}

// The number of answer sheets, by default and at most, and of the lines on each half.
const (
	someSheets, mostSheets = 30, 200
	answerLines            = 7
)

// studySheet handles GET /teach/study/sheet?n=, for n participants.
func (p *Pages) studySheet(w http.ResponseWriter, r *http.Request) {
	p.Who(w, r)
	v, n := p.studyPage(r), someSheets
	if typed, err := strconv.Atoi(r.URL.Query().Get("n")); err == nil {
		n = min(max(typed, 1), mostSheets)
	}
	v.Codes = coursework.Participants(r.Context(), n)
	p.HTML(w, r, http.StatusOK, studySheetHTML(v))
}

// The example of Cohen's kappa: the observed agreement and the agreement by chance.
const exampleAgreed, exampleChance = 0.85, 0.3

// kappa returns Cohen's kappa, the agreement of two raters beyond chance, from the share of answers to
// which both gave the same code, and the share that is expected by chance (Cohen 1960).
func kappa(agreed, chance float64) float64 { return (agreed - chance) / (1 - chance) }
