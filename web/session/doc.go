// Package session implements one learner's run of the loop: typed commands go in, immutable
// states come out.
//
// A [Session] owns an infer.Loop and tracks which stage the learner is looking at. It uses no
// network, lock or clock. Its owner applies one [Command] after another from one goroutine, and
// calls [Session.Tick] when a playing run is due. Every [State] that it returns stays valid
// forever.
package session
