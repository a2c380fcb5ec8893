// Package runs manages the runs of learners and classes.
//
// A run belongs to the learner whose signed cookie created it, or to a class's room. One
// goroutine owns the run's session. It receives commands through a channel and carries them
// out in order, publishes the newest immutable state through an atomic pointer, and wakes
// the run's viewers through channels of capacity one. A slow viewer therefore misses
// intermediate states, never delays another, and needs no queue.
//
// The [Registry] keeps the number of runs and their memory within [Limits]: the
// caches and traces of idle runs are evicted, and rebuilt bit for bit when they
// are next needed.
package runs
