package coursework

import (
	"context"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/chance"
	"github.com/tokenbytoken/viz/web/progress"
)

// Question is one question on a page. It may be unanswered, in progress, or answered. A choice
// question stays open until the right choice is made. For a recall question, the learner first
// writes an answer, then compares it with a good answer and checks off the points that it contains.
type Question struct {
	Q      *lessons.Question
	Action string // the address for its form
	Key    string // identifies this attempt, so that an answer sent twice counts once

	Tried []int // choices made so far, in order, for a choice question

	Written string // the written answer, for a recall question
	Compare bool   // whether a good answer is shown
	Ticked  []int  // points of the rubric that learners found in their own answer
	Kept    bool   // whether the checked points were saved
	Say     string // the key of a message about missing input, for example if no choice is selected
}

// Done reports whether the right choice has been made or, for a recall question, the checked points
// have been saved.
func (q *Question) Done() bool {
	if q.Q.Kind == "recall" {
		return q.Kept
	}
	return slices.ContainsFunc(q.Tried, func(i int) bool { return q.Q.Choices[i].Right })
}

// Was reports whether the given choice has been made.
func (q *Question) Was(choice int) bool { return slices.Contains(q.Tried, choice) }

// Order returns the indexes of the choices in display order. The order is random, but stays the
// same during an attempt.
func (q *Question) Order() []int {
	h := fnv.New64a()
	h.Write([]byte(q.Key + " " + q.Q.ID))
	return q.Q.Shuffled(h.Sum64())
}

// Verdict returns the note next to the right choice, such as "right" or "right, second try".
func (q *Question) Verdict(w *terms.Language) string { return w.T(q.verdict()) }

// verdict returns the key of the verdict.
func (q *Question) verdict() string {
	if n := len(q.Tried); n >= 2 && n <= 4 {
		return "coursework.right." + strconv.Itoa(n)
	}
	return "coursework.right"
}

// Credit returns the credit, from 0 to 1. For a choice question, each wrong choice before the right
// one costs an equal part of the credit. For a recall question, it is the share of points that were
// checked off.
func (q *Question) Credit() float64 {
	if q.Q.Kind == "recall" {
		return float64(len(q.Ticked)) / float64(max(len(q.Q.Rubric), 1))
	}
	if !q.Done() {
		return 0
	}
	return 1 - float64(len(q.Tried)-1)/float64(max(len(q.Q.Choices)-1, 1))
}

// Points describes the result of a recall question.
func (q *Question) Points(w *terms.Language) string {
	return w.T("coursework.points", "all", len(q.Q.Rubric), "n", len(q.Ticked))
}

// ID returns the id of the question's HTML element.
func (q *Question) ID() string { return "check-" + q.Q.ID }

// Ask returns a new question without any answers.
func Ask(ctx context.Context, q *lessons.Question, action string) *Question {
	return &Question{Q: q, Action: action, Key: chance.Key(ctx)}
}

// read reads a form into the question. It returns false if the form is invalid.
func (q *Question) read(form url.Values) bool {
	if k := form.Get("key"); k != "" {
		q.Key = k
	}
	var ok bool
	if q.Q.Kind == "recall" {
		q.Written = form.Get("written")
		q.Ticked, ok = indexes(form["tick"], len(q.Q.Rubric))
		return ok
	}
	if q.Tried, ok = indexes(form["tried"], len(q.Q.Choices)); !ok {
		return false
	}
	pick, ok := indexes(form["pick"], len(q.Q.Choices))
	if !ok || len(pick) > 1 {
		return false
	}
	switch {
	case q.Done():
	case len(pick) == 0:
		q.Say = "coursework.choose.first"
	case !q.Was(pick[0]):
		q.Tried = append(q.Tried, pick[0])
	}
	return true
}

// indexes parses a list of distinct integers from 0 to n-1.
func indexes(texts []string, n int) ([]int, bool) {
	var list []int
	for _, s := range texts {
		i, err := strconv.Atoi(s)
		if err != nil || i < 0 || i >= n || slices.Contains(list, i) {
			return nil, false
		}
		list = append(list, i)
	}
	return list, true
}

// Answer reads the form of a request into a question and saves the result. kind is
// [progress.Check] or [progress.Quiz]. If it returns false, it has already responded to the
// request.
func (b Base) Answer(w http.ResponseWriter, r *http.Request, q *Question, kind string) bool {
	if !q.read(r.PostForm) {
		l := terms.In(r.Context())
		b.Refuse(w, r, http.StatusBadRequest, l.T("coursework.answer.bad.head"), l.T("coursework.answer.bad"))
		return false
	}
	if q.Say != "" {
		return true
	}
	detail, n := "", len(q.Tried)
	if q.Q.Kind == "recall" {
		switch step := r.PostForm.Get("step"); {
		case step != "keep" && strings.TrimSpace(q.Written) == "":
			q.Say = "coursework.write.first"
			return true
		case step != "keep":
			q.Compare = true
			return true
		}
		q.Compare, q.Kept, n = true, true, 0
		detail = "ticked " + strconv.Itoa(len(q.Ticked)) + " of " + strconv.Itoa(len(q.Q.Rubric))
	} else {
		detail = "choice " + strconv.Itoa(q.Tried[n-1]+1)
	}
	err := b.progress.Answer(r.Context(), b.Who(w, r), progress.Answer{
		ID: q.Key + "." + strconv.Itoa(n), Item: q.Q.ID, Kind: kind, Credit: q.Credit(), Detail: detail,
	})
	if err != nil {
		b.Fail(w, r, err)
		return false
	}
	return true
}
