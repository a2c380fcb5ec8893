// Package guess asks learners for a prediction before a result is shown. Learners who commit
// themselves first learn more from a demonstration (Crouch et al. 2004). A guess is one choice of
// a scale, on which the measured value is marked once it is known.
package guess

import (
	"cmp"
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/stage"
)

// A Question is what a learner is asked before a result is shown.
type Question struct {
	Ask     string // the key of the question's text; "" if nothing is asked
	With    []any  // the values that the question's text refers to
	Choices []Choice
	Rings   bool   // the answer is the positions of two rings in a chart instead of a choice
	Field   string // the name of the form's field; "" for guess
	Known   bool   // the answer is a known fact, not a measurement
	// Shown holds the texts of choices that no catalog has, such as words of a learner's text, by key.
	Shown map[string]string
}

// A Choice is one possible answer. Text is the key of its text.
type Choice struct{ Key, Text string }

// field returns the name of the form's field.
func (q Question) field() string { return cmp.Or(q.Field, "guess") }

// mark returns the key of the text that marks the confirmed choice.
func (q Question) mark() string {
	if q.Known {
		return "guess.mark.known"
	}
	return "guess.mark"
}

// None is the key of the choice for learners who do not want to guess.
const None = lessons.NoGuess

// noGuess is offered next to every question.
var noGuess = Choice{None, "guess.none"}

// QuestionOf returns the question that an experiment in a lesson asks. Its text can refer to the
// experiment's inputs, whose values are the lesson's.
func QuestionOf(w lessons.Widget) Question {
	key := "learn.ask." + w.Ask
	q := Question{Ask: key}
	for _, in := range w.Inputs(terms.English) { // the values are the same in all languages
		q.With = append(q.With, in.Key, terms.Isolated(in.Default))
	}
	for _, c := range w.Choices() {
		q.Choices = append(q.Choices, Choice{Key: c, Text: key + "." + c})
	}
	for i, word := range w.Words() {
		if q.Shown == nil {
			q.Shown = map[string]string{}
		}
		q.Shown[q.Choices[i].Key] = word
	}
	return q
}

// Has reports whether a key is one of the choices or [None]. If nothing is asked, every key is
// valid.
func (q Question) Has(key string) bool {
	return q.Ask == "" || key == None || slices.ContainsFunc(q.Choices, func(c Choice) bool { return c.Key == key })
}

// Words returns the text of a choice.
func (q Question) Words(w stage.Words, key string) string {
	for _, c := range q.Choices {
		if c.Key == key {
			return q.label(w, c)
		}
	}
	return w.T("guess.no")
}

// label returns the text of a choice's button.
func (q Question) label(w stage.Words, c Choice) string {
	if shown, ok := q.Shown[c.Key]; ok {
		return terms.Isolated(shown)
	}
	return w.T(c.Text)
}

// A Verdict compares a guess with the result.
type Verdict struct {
	Guessed string // the guess in words; empty if there was none
	Found   string
	Right   bool
	At      int  // the position of the confirmed choice among all choices, from 1
	Known   bool // Found is a known fact, not a measurement
}

// found returns the key of the text before the result.
func (v *Verdict) found() string {
	if v.Known {
		return "guess.found.known"
	}
	return "guess.found"
}

// Judge compares a guess with the key of the choice that a result confirms. say describes the
// result.
func (q Question) Judge(w stage.Words, guessed, key, say string) *Verdict {
	at := slices.IndexFunc(q.Choices, func(c Choice) bool { return c.Key == key })
	v := &Verdict{Found: say, Right: key == guessed, At: at + 1, Known: q.Known}
	if guessed != None {
		v.Guessed = q.Words(w, guessed)
	}
	return v
}

// Among returns the first key whose upper bound is at least x. The bounds are in ascending order,
// and the last key has no bound.
func Among(x float64, bounds []float64, keys ...string) string {
	for i, b := range bounds {
		if x <= b {
			return keys[i]
		}
	}
	return keys[len(bounds)]
}
