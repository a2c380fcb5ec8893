// Package coursework shows the course as one learner works through it: the map of what they
// have read and answered, and questions with their forms. The lessons (web/learn) and the
// exercises (web/practice) both show these, and both handle requests through a [Base].
package coursework
