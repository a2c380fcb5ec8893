package class

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// How many wrong codes are allowed. At one a second, someone who tries codes on a
// server with ten rooms needs three months for an even chance to find one: 22⁶/10
// codes, times ln 2. A class that mistypes behind one address stays within it.
const (
	allTries    = 120
	allRate     = rate.Limit(1) // a second
	callerTries = 30
	callerRate  = rate.Limit(0.5)
)

// maxCallers is how many callers are remembered.
const maxCallers = 4096

// budget counts wrong codes, for all callers and for each. Right ones cost nothing,
// but while a budget is used up nobody can try any, which is why members of a room
// return without a code.
type budget struct {
	mu      sync.Mutex
	all     *rate.Limiter
	callers map[string]*rate.Limiter
}

func newBudget() *budget {
	return &budget{all: rate.NewLimiter(allRate, allTries), callers: map[string]*rate.Limiter{}}
}

// open reports whether a caller may try a code.
func (b *budget) open(from string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.callers[from]
	return b.all.TokensAt(now) >= 1 && (c == nil || c.TokensAt(now) >= 1)
}

// spend counts a wrong code.
func (b *budget) spend(from string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all.AllowN(now, 1)
	c := b.callers[from]
	if c == nil {
		b.evict(now)
		c = rate.NewLimiter(callerRate, callerTries)
		b.callers[from] = c
	}
	c.AllowN(now, 1)
}

// evict forgets callers whose budgets are full again, and everybody if that is not
// enough: the budget for all callers still applies.
func (b *budget) evict(now time.Time) {
	if len(b.callers) < maxCallers {
		return
	}
	for from, c := range b.callers {
		if c.TokensAt(now) >= callerTries {
			delete(b.callers, from)
		}
	}
	if len(b.callers) >= maxCallers {
		clear(b.callers)
	}
}
