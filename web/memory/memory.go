// Package memory keeps the process within a memory limit, so that the operating system does not
// kill it.
//
// The limit applies to resident memory, as counted by the system: weights, caches, the
// database and the program itself. [Limit.Apply] makes the Go runtime collect garbage more
// often as memory approaches the limit, and returns how much of the limit runs can use. The
// rest is for everything else, including garbage that has not been collected yet. Package
// web/loop/runs, which holds data that can be recomputed, compares [Resident] with the limit
// and frees memory if necessary.
package memory

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Budget contains a limit on the process's memory, and how much of that memory runs can use. The
// zero Budget means no limit.
type Budget struct {
	Limit int64 // resident memory, in bytes
	Runs  int64 // for the caches and traces of all runs
}

// Runs can use three fifths of the memory that remains within the limit after the program
// and the weights. The rest is for requests, connections and garbage; with less, the garbage
// collector would have to run all the time.
const (
	runsShare = 3
	runsOf    = 5
)

// leastRuns is the minimum memory that runs must be able to use. It is enough for a few
// dozen runs of the bundled model.
const leastRuns = 16 << 20

// Limit is the maximum memory that the process can use, in bytes.
type Limit int64

// Apply sets this limit for the process. Call Apply after the weights have been loaded, since the
// limit must leave room for the memory that is resident by then. If the limit is too low, Apply
// changes nothing and returns an error that states the lowest possible limit.
func (l Limit) Apply() (Budget, error) {
	return l.over(loaded())
}

// ApplyOrMore is like [Limit.Apply], but sets a larger limit if the process could not work within
// this one. Both decisions use the same measurement, since a second measurement would be higher
// while another model is loading.
func (l Limit) ApplyOrMore() (Budget, error) {
	base := loaded()
	return max(l, l.least(base)).over(base)
}

// loaded returns the memory that is resident before the first run.
func loaded() int64 {
	debug.FreeOSMemory() // frees memory that only loading needed
	return Resident()
}

// over applies the limit to a process that uses base bytes before the first run.
func (l Limit) over(base int64) (Budget, error) {
	if least := l.least(base); l < least {
		return Budget{}, fmt.Errorf(
			"must be at least %s, since the program and its models already use %s",
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

// Resident returns the resident memory of this process, in bytes. On Linux, the system reports it.
// On other systems, it is the memory that the Go runtime has obtained from the system.
func Resident() int64 {
	if n, ok := statm("/proc/self/statm"); ok {
		return n
	}
	return managed()
}

// ResidentOf returns the resident memory of another process. It works only on Linux.
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

// none is the value that [debug.SetMemoryLimit] uses for no limit.
const none = math.MaxInt64
