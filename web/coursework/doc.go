// Package coursework renders the course for one learner: the map with the learner's progress, and
// the questions with their forms. Both the lessons (web/learn) and the exercises (web/practice)
// show these, and both packages handle requests through a [Base].
package coursework
