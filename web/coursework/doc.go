// Package coursework is the course as one learner works through it: the map of
// what was read and answered, and a question with its form. The lessons
// (web/learn) and the exercises (web/practice) both show these, and both answer
// requests through a [Base].
package coursework
