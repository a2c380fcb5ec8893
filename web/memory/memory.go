// Package memory keeps the process within a limit on its memory, before the
// operating system ends it.
//
// The limit covers what is resident, as the system counts it: weights, caches, the
// database, the program itself. [Limit.Apply] makes the Go runtime collect garbage
// more often as the limit is approached, and returns how much of it runs may use;
// the rest is for everything else, and for garbage that has not been collected yet.
// The holder of memory that can be computed again (package web/loop/runs) compares
// [Resident] with the limit and gives up what it can.
package memory

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Budget is a limit on the process's memory and the part of it that runs may use. The
// zero Budget is no limit.
type Budget struct {
	Limit int64 // of what is resident, in bytes
	Runs  int64 // for the caches and traces of all runs
}

// Of what a limit leaves after the program and the weights, runs may use three
// fifths. The rest is for requests, connections and garbage: with less, the
// collector would have to run all the time.
const (
	runsShare = 3
	runsOf    = 5
)

// leastRuns is how much runs must at least be able to use: a few dozen runs of the
// bundled model.
const leastRuns = 16 << 20

// Limit is how much memory the process may use, in bytes.
type Limit int64

// Apply makes this the limit of the process. It is called when the weights are
// loaded, since what is resident by then is what the limit must leave room for. The
// error, for people, says which limit would do; nothing is changed then.
func (l Limit) Apply() (Budget, error) {
	return l.over(loaded())
}

// ApplyOrMore is [Limit.Apply] with a larger limit if the process could not work within
// this one. Both are decided from one measurement: while others load something, the next
// one would be higher.
func (l Limit) ApplyOrMore() (Budget, error) {
	base := loaded()
	return max(l, l.least(base)).over(base)
}

// loaded is what is resident before the first run.
func loaded() int64 {
	debug.FreeOSMemory() // what loading needed
	return Resident()
}

// over makes this the limit of a process that uses base bytes before the first run.
func (l Limit) over(base int64) (Budget, error) {
	if least := l.least(base); l < least {
		return Budget{}, fmt.Errorf(
			"it must be at least %s: the program and its models use %s already",
			terms.BytesShort(int64(least)), terms.BytesShort(base),
		)
	}
	// The runtime counts only what it manages itself, and may exceed its limit
	// for a moment.
	debug.SetMemoryLimit(max(int64(l)-max(base-managed(), 0)-int64(l)/20, managed()))
	return Budget{Limit: int64(l), Runs: (int64(l) - base) * runsShare / runsOf}, nil
}

// least is the lowest limit for a process that uses base bytes before the first run,
// in whole MiB.
func (Limit) least(base int64) Limit {
	const mib = 1 << 20
	return Limit((base + leastRuns*runsOf/runsShare + mib) / mib * mib)
}

// Resident is the memory of this process that is in the machine's memory, in bytes.
// Linux says; on other systems it is what the Go runtime has from the system.
func Resident() int64 {
	if n, ok := statm("/proc/self/statm"); ok {
		return n
	}
	return managed()
}

// ResidentOf is [Resident] of another process, on Linux.
func ResidentOf(pid int) (bytes int64, ok bool) { return statm(fmt.Sprintf("/proc/%d/statm", pid)) }

func statm(path string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	var size, resident int64
	if n, _ := fmt.Sscan(string(b), &size, &resident); n != 2 {
		return 0, false
	}
	return resident * int64(os.Getpagesize()), true
}

// managed is the memory that the Go runtime has from the system and has not returned.
func managed() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// none is what [debug.SetMemoryLimit] has if nobody has set one.
const none = math.MaxInt64
