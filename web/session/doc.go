// Package session implements one learner's run of the loop. It takes typed commands and returns
// immutable states.
//
// A [Session] owns an infer.Loop and tracks which stage the learner is looking at. It uses no
// network, lock or clock. Its owner applies one [Command] after another from one goroutine, and
// calls [Session.Tick] when the next step of a playing run is due. Every [State] that it returns
// stays valid forever.
package session
