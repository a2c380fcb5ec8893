package runs

import (
	"cmp"
	"time"

	"github.com/tokenbytoken/viz/infer"
)

// Limits bound what clients can make the server do. A zero field means its
// default.
type Limits struct {
	// PromptBytes is the longest prompt. 4 KiB is some 1,000 tokens, more than
	// the bundled model's window.
	PromptBytes int
	// MemoryBytes is shared by the caches and traces of all runs. Beyond it idle
	// runs are evicted, and rebuilt when next used.
	MemoryBytes int64
	// IdleExpiry is how long a run without viewers is kept: a class and the
	// break after it.
	IdleExpiry time.Duration
	// Runs is how many runs are kept in all, RunsPerLearner how many of one
	// learner: one run a tab, and few people keep more than 20 tabs of a page.
	Runs, RunsPerLearner int
}

// DefaultLimits apply if a registry's configuration sets none.
var DefaultLimits = Limits{
	PromptBytes:    infer.MaxPromptBytes,
	MemoryBytes:    2 << 30,
	IdleExpiry:     6 * time.Hour,
	Runs:           2000,
	RunsPerLearner: 20,
}

// orDefaults replaces every zero field by its default.
func (l Limits) orDefaults() Limits {
	d := DefaultLimits
	return Limits{
		PromptBytes:    cmp.Or(l.PromptBytes, d.PromptBytes),
		MemoryBytes:    cmp.Or(l.MemoryBytes, d.MemoryBytes),
		IdleExpiry:     cmp.Or(l.IdleExpiry, d.IdleExpiry),
		Runs:           cmp.Or(l.Runs, d.Runs),
		RunsPerLearner: cmp.Or(l.RunsPerLearner, d.RunsPerLearner),
	}
}

// abandonedAfter is for how long a run plays on when nobody watches: longer than a
// page needs to load again, or a phone to find its network.
const abandonedAfter = 30 * time.Second
