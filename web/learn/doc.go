// Package learn implements Learn: the home page, the lessons with their experiments, the
// glossary, the reference and the search.
//
// A handler reads the request, queries the course (package lessons) and the learner's record
// (package progress), builds a view model, and passes it to a templ component, which lays it out
// and makes no decisions. [shell.Page] is the frame of every page. The code for the course map
// and the questions, which Learn shares with Practice (web/practice), is in web/coursework.
//
// The pages work without scripts: questions and marks are forms, and the response to a form is a
// redirect or a whole page. With scripts, the page sends the same form with the header
// "Viz-Fragment: 1" and replaces the part that is returned. The server alone decides what is
// right and what is shown.
//
// The home page runs the loop on the real model (see [turns]), and so do the experiments in the
// lessons (widget*.go). An [experiment] computes a result from its inputs and returns a component.
// The same component is sent in response to a form's GET request and over a socket, so a page is
// complete before it connects.
package learn
