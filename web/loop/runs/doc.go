// Package runs keeps the runs of learners and of classes.
//
// A run belongs to the learner whose signed cookie made it, or to a class's room.
// One goroutine owns the run's session: commands go in through a channel and are
// carried out in order, the newest immutable state goes out through an atomic
// pointer, and the run's viewers are woken through channels of capacity one. A
// slow viewer therefore misses states in between, never delays another, and
// needs no queue.
//
// The [Registry] keeps the number of runs and their memory within [Limits]: the
// caches and traces of idle runs are evicted, and rebuilt bit for bit when they
// are next needed.
package runs
