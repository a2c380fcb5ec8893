// Package first implements the first run, which takes a newcomer's sentence through the loop once,
// in about ninety seconds, with one control at a time and a guess before each reveal. Its last page
// is a card to save and share.
//
// The address of each page contains the scene, a link to the run ([session.Link]) and the learner's
// guess. The first run therefore needs no script, and can be left and resumed. The server stores only
// the sentence, with the learner's progress, for the pictures of the course.
package first
