// Package moves moves a run to the steps of a walkthrough, and to the positions at which a poll can
// be opened.
//
// Functions get the run as a [class.Do]. So a room can use them for its class, and a page for a
// single learner.
package moves
