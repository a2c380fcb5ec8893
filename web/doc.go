// Package web serves the program to browsers and other clients.
//
// A request first passes the gate of package shell. Pages are sent whole over
// plain HTTP, so a shared link and a reload work without a socket; what changes
// afterwards is sent over one WebSocket per page.
//
// A run belongs to the learner whose signed cookie made it. One goroutine
// owns the run's session: commands go in through a channel and are applied in
// order, the newest immutable state comes out through an atomic pointer, and
// the run's viewers are woken through channels of capacity one. A viewer that
// is slow therefore misses states in between, never holds up another, and
// needs no queue. The registry of runs keeps their number and their memory
// within [Limits]: caches of idle runs are evicted and rebuilt when next
// needed.
//
// The connections themselves are package wire's. What this package adds is the
// Loop's live part, which a page opens as viz.html.v1 and a program as
// viz.json.v1: an encoder turns a state into what has changed since the last
// message of that connection, panels of HTML for the one, typed stages for the
// other.
package web
