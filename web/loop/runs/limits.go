package runs

import (
	"cmp"
	"time"

	"github.com/tokenbytoken/viz/infer"
)

// Limits bound what clients can make the server do. A zero field means its
// default.
type Limits struct {
	// PromptBytes is the length limit of a prompt. The model's context is usually the
	// stricter limit.
	PromptBytes int
	// MemoryBytes is the maximum memory of the caches and traces of all runs together. Above it,
	// idle runs are evicted; they are rebuilt when they are next used.
	MemoryBytes int64
	// ResidentBytes is how much memory the whole process may use; 0 means no limit. Above it,
	// idle runs are evicted, and no run grows or begins.
	ResidentBytes int64
	// MemoryWait is how long a run that is about to begin waits for free memory. Collecting the
	// memory that idle runs release takes a few seconds.
	MemoryWait time.Duration
	// IdleExpiry is how long a run without viewers is kept. It is long enough for a class and the
	// break after it.
	IdleExpiry time.Duration
}

// DefaultLimits apply if a registry's configuration sets none.
var DefaultLimits = Limits{
	PromptBytes: infer.MaxPromptBytes,
	MemoryBytes: 2 << 30,
	MemoryWait:  10 * time.Second,
	IdleExpiry:  6 * time.Hour,
}

// orDefaults replaces every zero field with its default.
func (l Limits) orDefaults() Limits {
	d := DefaultLimits
	return Limits{
		PromptBytes: cmp.Or(l.PromptBytes, d.PromptBytes),
		MemoryBytes: cmp.Or(l.MemoryBytes, d.MemoryBytes),
		MemoryWait:  cmp.Or(l.MemoryWait, d.MemoryWait),
		IdleExpiry:  cmp.Or(l.IdleExpiry, d.IdleExpiry),

		ResidentBytes: l.ResidentBytes,
	}
}

// abandonedAfter is how long a run continues to play without viewers. It is longer than it takes a
// page to reload, or a phone to find its network.
const abandonedAfter = 30 * time.Second
