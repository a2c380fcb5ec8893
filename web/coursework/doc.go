// Package coursework renders the course for one learner: the map with the learner's progress, and
// the questions with their forms. Both the lessons (web/learn) and the exercises (web/practice)
// show these components and embed a [Base], which handles what their requests have in common.
package coursework
