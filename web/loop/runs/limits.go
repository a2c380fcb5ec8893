package runs

import (
	"cmp"
	"time"

	"github.com/tokenbytoken/viz/infer"
)

// Limits bound what clients can make the server do. A zero field means its
// default.
type Limits struct {
	// PromptBytes is the longest prompt. The model's context is the limit before that.
	PromptBytes int
	// MemoryBytes is shared by the caches and traces of all runs. Beyond it idle
	// runs are evicted, and rebuilt when next used.
	MemoryBytes int64
	// ResidentBytes is how much memory the whole process may use; 0 is no limit.
	// Beyond it idle runs are evicted, and no run grows or begins.
	ResidentBytes int64
	// MemoryWait is how long a run that is about to begin waits for that memory. It
	// takes a few seconds to collect what idle runs give up.
	MemoryWait time.Duration
	// IdleExpiry is how long a run without viewers is kept: a class and the
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

// orDefaults replaces every zero field by its default.
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

// abandonedAfter is for how long a run plays on when nobody watches: longer than a
// page needs to load again, or a phone to find its network.
const abandonedAfter = 30 * time.Second
