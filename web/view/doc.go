// Package view turns the state of a run into what a screen shows of it.
//
// Everything here is a pure function of a *session.State: rounding,
// shortening, the marks for white space, the colour class of a probability,
// which control is idle, the sentence each stage says, and the words that
// stand for a picture. Every number comes from the engine's stages; nothing is
// computed here but sums, shares and positions of what they carry.
//
// [NewLoop] makes the whole page's model. The components of package ui only
// lay it out: they hold no numbers and no thresholds of their own.
package view
