// Package learn is Learn: the home page, the lessons with their experiments, the
// glossary, the reference and the search.
//
// A handler reads the request, asks the course (package lessons) and the
// learner's record (package progress), makes a view model, and gives it to a
// templ component, which lays it out and decides nothing. [shell.Page] is the
// frame of every page. What Learn shares with Practice (web/practice), the map of
// the course and its questions, is in web/coursework.
//
// The pages work without a script: questions and marks are forms, and the answer
// to a form is a redirect or a whole page. With a script, the page sends the same
// form with the header "Viz-Fragment: 1" and replaces the part that comes back.
// What is right and what is shown is decided once, on the server.
//
// The home page runs the loop on the real model: see [turns]. So do the
// experiments in the lessons (widget*.go): an [experiment] computes what its
// inputs lead to and returns a component, for a form's GET and for a socket
// alike, so that a page is whole before anybody has connected.
package learn
