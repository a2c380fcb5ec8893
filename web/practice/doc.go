// Package practice implements Practice: drills, the quiz, flashcards, guessing the next token,
// and the page with a learner's saved progress.
//
// As in web/learn, each feature works as follows: a handler reads the request, queries the course
// (package lessons), an exercise (lessons/drill, lessons/predict) and the learner's record
// (web/progress), and passes the result to a templ component. Every page works without scripts:
// each step is a form, and the response is a page. With scripts, the same form requests only the
// part of the page that changes. Answers are always graded on the server.
package practice
