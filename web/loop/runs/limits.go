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
	// MemoryBytes is the maximum memory of the caches and traces of all runs together. Above
	// it, idle runs are evicted, and rebuilt when next used.
	MemoryBytes int64
	// ResidentBytes is how much memory the whole process may use; 0 means no limit. Above it,
	// idle runs are evicted, and no run grows or begins.
	ResidentBytes int64
	// MemoryWait is how long a run that is about to begin waits for free memory. It takes a few
	// seconds to collect the memory that idle runs release.
	MemoryWait time.Duration
	// IdleExpiry is how long a run without viewers is kept: long enough for a class and the
	// following break.
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

// abandonedAfter is how long a run continues to play without viewers: longer than a page takes to
// reload, or a phone takes to find its network.
const abandonedAfter = 30 * time.Second
