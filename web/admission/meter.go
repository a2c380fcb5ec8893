package admission

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rate is the rate and the burst of a token bucket. The zero Rate means no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Pace limits how often one caller can do something.
type Pace struct {
	PerLearner Rate
	PerAddress Rate // for the newcomers from one address together
}

// sweepAfter is how long a [Meter] waits before it discards full buckets, which belong to callers
// who have left.
const sweepAfter = 10 * time.Second

// maxKept is the maximum number of callers that a [Meter] remembers. If there are more, it
// discards the oldest entry, whose bucket has had the most time to refill.
const maxKept = 1 << 16

// A Meter limits how often callers do something. Its methods may be called from any goroutine.
type Meter struct {
	now func() time.Time

	mu        sync.Mutex
	learners  budgets[string]
	addresses budgets[netip.Prefix]
	stats     MeterStats
	sweeps    bool // sweeps automatically; set if the clock is the real one
	sweeping  bool // a sweep is scheduled
}

// NewMeter returns a meter whose buckets are full. If now is nil, it uses time.Now.
func NewMeter(p Pace, now func() time.Time) *Meter {
	sweeps := now == nil
	if sweeps {
		now = time.Now
	}
	return &Meter{
		now: now, sweeps: sweeps,
		learners:  budgets[string]{rate: p.PerLearner, kept: map[string]*rate.Limiter{}},
		addresses: budgets[netip.Prefix]{rate: p.PerAddress, kept: map[netip.Prefix]*rate.Limiter{}},
	}
}

// Allow takes a token from each of the caller's buckets and returns 0. If a bucket has no token,
// Allow takes none and returns the time until a token is available.
func (m *Meter) Allow(c Caller) (wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if wait := m.wait(c, now); wait > 0 {
		m.stats.Refused++
		return wait
	}
	m.spend(c, now)
	return 0
}

// AllowSize is like [Meter.Allow], but for an operation that costs size tokens. It succeeds if at
// least one token is available, and then takes up to size tokens.
func (m *Meter) AllowSize(c Caller, size int) (wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if wait := m.wait(c, now); wait > 0 {
		m.stats.Refused++
		return wait
	}
	for range size {
		m.spend(c, now)
	}
	return 0
}

// Spend takes a token from each of the caller's buckets that has one. It never refuses.
func (m *Meter) Spend(c Caller) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spend(c, m.now())
}

// spend implements [Meter.Spend]. The caller holds mu.
func (m *Meter) spend(c Caller, now time.Time) {
	m.stats.Spent++
	m.learners.spend(c.Learner, now)
	if !c.Known(now) {
		m.addresses.spend(c.Address, now)
	}
	m.sweepLater()
}

// sweepLater schedules a sweep. The caller holds mu.
func (m *Meter) sweepLater() {
	if m.sweeps && !m.sweeping && len(m.learners.kept)+len(m.addresses.kept) > 0 {
		m.sweeping = true
		time.AfterFunc(sweepAfter, m.sweep)
	}
}

// sweep discards full buckets, since they are equivalent to new ones.
func (m *Meter) sweep() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.learners.forgetFull(now)
	m.addresses.forgetFull(now)
	m.sweeping = false
	m.sweepLater()
}

// Spent reports whether the learner's own bucket is less than full.
func (m *Meter) Spent(c Caller) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.learners.kept[c.Learner]
	return l != nil && l.TokensAt(m.now()) < float64(l.Burst())
}

// Wait returns what [Meter.Allow] would return, but does not take a token.
func (m *Meter) Wait(c Caller) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wait(c, m.now())
}

// wait implements [Meter.Wait]. The caller holds mu.
func (m *Meter) wait(c Caller, now time.Time) time.Duration {
	wait := m.learners.wait(c.Learner, now)
	if !c.Known(now) {
		wait = max(wait, m.addresses.wait(c.Address, now))
	}
	return wait
}

// budgets holds the buckets of the callers who have used some tokens.
type budgets[K comparable] struct {
	rate  Rate
	kept  map[K]*rate.Limiter
	order []K // in the order in which they were added
}

// wait returns the time until a bucket has a token.
func (b *budgets[K]) wait(k K, now time.Time) time.Duration {
	l := b.kept[k]
	if l == nil {
		return 0
	}
	missing := 1 - l.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing/b.rate.PerSecond*float64(time.Second)) + 1
}

func (b *budgets[K]) spend(k K, now time.Time) {
	if b.rate == (Rate{}) {
		return
	}
	l := b.kept[k]
	if l == nil {
		if len(b.kept) >= maxKept {
			delete(b.kept, b.order[0])
			b.order = b.order[1:]
		}
		l = rate.NewLimiter(rate.Limit(b.rate.PerSecond), b.rate.Burst)
		b.kept[k] = l
		b.order = append(b.order, k)
	}
	l.AllowN(now, 1)
}

// forgetFull discards the full buckets. It rebuilds the map and the list, since neither shrinks
// on its own.
func (b *budgets[K]) forgetFull(now time.Time) {
	kept, order := map[K]*rate.Limiter{}, []K(nil)
	for _, k := range b.order {
		if l := b.kept[k]; l.TokensAt(now) < float64(l.Burst()) {
			kept[k] = l
			order = append(order, k)
		}
	}
	b.kept, b.order = kept, order
}
