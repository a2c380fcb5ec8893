// Package session is one learner's run of the loop: typed commands go in,
// immutable states come out.
//
// A [Session] owns an infer.Loop and knows where in it the learner is looking.
// It has no network, no lock and no clock: its owner applies one [Command]
// after another from one goroutine, and calls [Session.Tick] when a playing run
// is due. Every [State] it returns stays valid forever.
package session
