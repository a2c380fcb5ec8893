// Package memory keeps the process within a memory limit, before the operating system ends it.
//
// The limit covers resident memory, as the system counts it: weights, caches, the database, the
// program itself. [Limit.Apply] makes the Go runtime collect garbage more often as the limit is
// approached, and returns how much of it runs can use; the rest is for everything else, and for
// garbage that has not been collected yet. Package web/loop/runs, which holds memory that can be
// recomputed, compares [Resident] with the limit and frees what it can.
package memory

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Budget is a limit on the process's memory and the part of it that runs can use. The zero
// Budget is no limit.
type Budget struct {
	Limit int64 // resident memory, in bytes
	Runs  int64 // for the caches and traces of all runs
}

// Runs can use three fifths of what a limit leaves after the program and the weights. The rest
// is for requests, connections and garbage: with less, the collector would have to run all the
// time.
const (
	runsShare = 3
	runsOf    = 5
)

// leastRuns is the minimum that runs must be able to use: a few dozen runs of the bundled model.
const leastRuns = 16 << 20

// Limit is how much memory the process can use, in bytes.
type Limit int64

// Apply sets this limit for the process. Call it when the weights are loaded, since the limit
// must leave room for what is resident by then. The error, for users, states the lowest possible
// limit; nothing is changed then.
func (l Limit) Apply() (Budget, error) {
	return l.over(loaded())
}

// ApplyOrMore is [Limit.Apply] with a larger limit if the process could not work within this
// one. Both decisions use one measurement: while another model is loading, a second measurement
// would be higher.
func (l Limit) ApplyOrMore() (Budget, error) {
	base := loaded()
	return max(l, l.least(base)).over(base)
}

// loaded returns what is resident before the first run.
func loaded() int64 {
	debug.FreeOSMemory() // memory that only loading needed
	return Resident()
}

// over sets this limit for a process that uses base bytes before the first run.
func (l Limit) over(base int64) (Budget, error) {
	if least := l.least(base); l < least {
		return Budget{}, fmt.Errorf(
			"it must be at least %s: the program and its models use %s already",
			terms.BytesShort(int64(least)), terms.BytesShort(base),
		)
	}
	// The runtime counts only memory that it manages itself, and may briefly exceed its limit.
	debug.SetMemoryLimit(max(int64(l)-max(base-managed(), 0)-int64(l)/20, managed()))
	return Budget{Limit: int64(l), Runs: (int64(l) - base) * runsShare / runsOf}, nil
}

// least returns the lowest limit for a process that uses base bytes before the first run, in
// whole MiB.
func (Limit) least(base int64) Limit {
	const mib = 1 << 20
	return Limit((base + leastRuns*runsOf/runsShare + mib) / mib * mib)
}

// Resident returns the resident memory of this process, in bytes. The number comes from Linux;
// on other systems it is what the Go runtime has obtained from the system.
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

// managed returns the memory that the Go runtime has obtained from the system and not returned.
func managed() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// none is the value of [debug.SetMemoryLimit] if no limit is set.
const none = math.MaxInt64
