// Package learn is Learn and Practise: the pages that teach.
//
// One folder is one feature here, so the room has floors of its own. A handler
// reads the request, asks the course (package lessons) and the learner's record
// (package progress), makes a view model, and gives it to a templ component,
// which lays it out and decides nothing. Every page stands in [shell.Page].
//
// The pages work without a script: questions, marks and imports are forms, and
// a form's answer is a redirect or a whole page. Where there is a script, it
// sends the same form with the header "Viz-Fragment: 1" and puts the part of the
// page that comes back in place; what is right and what is shown is decided
// once, on the server.
//
// The home page runs the loop on the real model: see [turns]. The experiments in
// the lessons do as well (widget*.go): an [experiment] is asked for what its
// inputs come to and answers with a component, over a form's GET as over a
// socket, so that a page is whole before anybody has connected.
package learn
