// Package coursework shows one learner's way through the course: the map with their progress, and
// questions with their forms. The lessons (web/learn) and the exercises (web/practice) both show
// these, and both handle requests through a [Base].
package coursework
