// Package practice is Practice: drills, the quiz, flashcards, guesses of the next
// token, and what is kept of a learner's progress.
//
// Like web/learn it holds a whole feature in one folder: a handler reads the
// request, asks the course (package lessons), an exercise (lessons/drill,
// lessons/predict) and the learner's record (web/progress), and gives what it
// finds to a templ component. Every page works without a script: each step is a
// form whose answer is a page. With a script the same form asks for only the part
// of the page that changes. What is right is decided on the server either way.
package practice
