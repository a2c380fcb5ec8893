package class

import (
	"sync"
	"time"
)

// bucket is a token bucket: so many at once, and so many a second.
type bucket struct {
	left float64
	at   time.Time
}

// rate is how a bucket is filled.
type rate struct{ most, perSecond float64 }

// fill brings a bucket up to now. A clock set back adds nothing.
func (b *bucket) fill(r rate, now time.Time) {
	if b.at.IsZero() {
		b.left = r.most
	} else if passed := now.Sub(b.at).Seconds(); passed > 0 {
		b.left = min(r.most, b.left+passed*r.perSecond)
	}
	b.at = now
}

// How many wrong codes are let pass. At one a second, someone who tries codes
// on a server with ten rooms needs three months for an even chance to meet one:
// 22⁶/10 codes, ln 2 of them. A class behind one address that mistypes is let be.
var (
	allTries    = rate{most: 120, perSecond: 1}
	callerTries = rate{most: 30, perSecond: 0.5}
)

// maxCallers bounds what is remembered of callers.
const maxCallers = 4096

// budget counts wrong codes, over all callers and for each. Right ones cost
// nothing, but while a budget is used up nobody can try any: so the members of
// a room come back without a code.
type budget struct {
	mu      sync.Mutex
	all     bucket
	callers map[string]*bucket
}

// open reports whether a caller may try a code.
func (b *budget) open(from string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all.fill(allTries, now)
	c := b.callers[from]
	if c != nil {
		c.fill(callerTries, now)
	}
	return b.all.left >= 1 && (c == nil || c.left >= 1)
}

// spend counts a wrong code.
func (b *budget) spend(from string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all.fill(allTries, now)
	b.all.left = max(0, b.all.left-1)
	c := b.callers[from]
	if c == nil {
		b.makeRoom(now)
		c = &bucket{}
		b.callers[from] = c
	}
	c.fill(callerTries, now)
	c.left = max(0, c.left-1)
}

// makeRoom forgets callers whose buckets are full again, and all where that is
// not enough: the budget over all still holds.
func (b *budget) makeRoom(now time.Time) {
	if len(b.callers) < maxCallers && b.callers != nil {
		return
	}
	for from, c := range b.callers {
		if c.fill(callerTries, now); c.left >= callerTries.most {
			delete(b.callers, from)
		}
	}
	if b.callers == nil || len(b.callers) >= maxCallers {
		b.callers = map[string]*bucket{}
	}
}
