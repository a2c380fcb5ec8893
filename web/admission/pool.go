package admission

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// Share limits how many places in a pool can be held at the same time. A zero field means no limit.
type Share struct {
	Most       int // by all callers
	Newcomers  int // by newcomers together; the rest of Most is reserved for known callers
	PerAddress int // by the newcomers from one address
	PerLearner int
}

// Refused is the reason why a [Pool] refuses a caller.
type Refused int

// The reasons for a refusal.
const (
	Admitted Refused = iota
	Full             // all places are held, and nobody holds more than a fair share
	OwnFull          // the learner has reached the limit for one learner
)

// A Pool limits how many places callers hold at the same time. Its methods can be called from any
// goroutine.
type Pool struct {
	share Share
	now   func() time.Time

	mu        sync.Mutex
	freed     chan struct{} // closed when a place is freed; nil while nobody waits
	places    map[*Permit]struct{}
	learners  map[string]int
	addresses map[netip.Prefix]int
	stats     PoolStats // all fields except Held
}

// NewPool returns a pool without any holders. If now is nil, it uses time.Now.
func NewPool(s Share, now func() time.Time) *Pool {
	if now == nil {
		now = time.Now
	}
	return &Pool{
		share: s, now: now,
		places: map[*Permit]struct{}{}, learners: map[string]int{}, addresses: map[netip.Prefix]int{},
	}
}

// Permit is one place in a pool that a caller holds. Its methods can be called from any goroutine.
type Permit struct {
	pool   *Pool
	caller Caller
	used   time.Time // guarded by the pool
	evict  func()    // nil if the place cannot be taken away
}

// Hold gives the caller a place, evicting another holder if necessary. If this place is later given
// to another caller, evict is called in its own goroutine. If evict is nil, the place cannot be
// taken away.
func (p *Pool) Hold(c Caller, evict func()) (*Permit, Refused) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.share.PerLearner > 0 && p.learners[c.Learner] >= p.share.PerLearner {
		p.stats.OwnFull++
		return nil, OwnFull
	}
	if !p.makeRoom(c, now) {
		p.stats.Full++
		return nil, Full
	}
	place := &Permit{pool: p, caller: c, used: now, evict: evict}
	p.places[place] = struct{}{}
	p.learners[c.Learner]++
	p.addresses[c.Address]++
	return place, Admitted
}

// Await is like [Pool.Hold], but waits for a place until ctx ends.
func (p *Pool) Await(ctx context.Context, c Caller, evict func()) (*Permit, error) {
	for {
		p.mu.Lock()
		if p.freed == nil {
			p.freed = make(chan struct{})
		}
		freed := p.freed
		p.mu.Unlock()
		if place, refused := p.Hold(c, evict); refused == Admitted {
			return place, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Use marks the place as used now. The least recently used places are evicted first.
func (x *Permit) Use() {
	x.pool.mu.Lock()
	defer x.pool.mu.Unlock()
	x.used = x.pool.now()
}

// Settle moves the place to a newly allocated value, with a different evict function and a new copy
// of the caller's id. The old value must not be used afterward. Settle is for places that idle
// callers will hold for hours: after a rush, the remaining values are scattered in memory, and each
// of them keeps a whole page from being returned to the system; values that are allocated one after
// another are adjacent. Settle returns nil if the place has been given to another caller.
func (x *Permit) Settle(evict func()) *Permit {
	p := x.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, held := p.places[x]; !held {
		return nil
	}
	settled := *x
	settled.evict = evict
	settled.caller.Learner = strings.Clone(x.caller.Learner)
	delete(p.places, x)
	p.places[&settled] = struct{}{}
	n := p.learners[x.caller.Learner]
	delete(p.learners, x.caller.Learner) // without this, the map would keep the old copy
	p.learners[settled.caller.Learner] = n
	return &settled
}

// Caller returns the caller that holds the place.
func (x *Permit) Caller() Caller { return x.caller }

// Release frees the place. A second call has no effect.
func (x *Permit) Release() {
	x.pool.mu.Lock()
	defer x.pool.mu.Unlock()
	x.pool.drop(x)
}

// drop removes a place. The caller holds mu.
func (p *Pool) drop(x *Permit) {
	if _, held := p.places[x]; !held {
		return
	}
	delete(p.places, x)
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
	if p.learners[x.caller.Learner]--; p.learners[x.caller.Learner] == 0 {
		delete(p.learners, x.caller.Learner)
	}
	if p.addresses[x.caller.Address]--; p.addresses[x.caller.Address] == 0 {
		delete(p.addresses, x.caller.Address)
	}
}

// makeRoom reports whether there is a place for c, evicting another holder if that is fair. The
// caller holds mu.
func (p *Pool) makeRoom(c Caller, now time.Time) bool {
	full := p.share.Most > 0 && len(p.places) >= p.share.Most
	if c.Known(now) {
		if !full || p.take(p.greedier(c)) {
			return true
		}
		if p.learners[c.Learner] > 0 {
			return false
		}
		new := p.newcomers(now) // a known learner's first place takes precedence over any of these
		return p.take(new.fairFor(netip.Prefix{})) || p.take(new)
	}
	new := p.newcomers(now)
	own := new.of(c.Address)
	switch {
	case p.share.PerAddress > 0 && len(own) >= p.share.PerAddress:
		return p.take(own.yieldingTo(c))
	case p.share.Newcomers > 0 && len(new) >= p.share.Newcomers:
		return p.take(new.fairFor(c.Address).yieldingTo(c))
	}
	return !full || p.take(p.greedier(c)) || p.take(new.fairFor(c.Address).yieldingTo(c))
}

// take evicts the holder of one place in a list. It prefers the places of callers without a cookie,
// then the places of the learner with the most places, and then the least recently used place. It
// returns false if no place can be taken away. The caller holds mu.
func (p *Pool) take(list places) bool {
	counts := map[string]int{}
	for _, x := range list {
		counts[x.caller.Learner]++
	}
	var worst *Permit
	for _, x := range list {
		if x.evict == nil {
			continue
		}
		if worst == nil || cmp.Or(
			fresh(worst)-fresh(x), counts[worst.caller.Learner]-counts[x.caller.Learner], x.used.Compare(worst.used),
		) < 0 {
			worst = x
		}
	}
	if worst == nil {
		return false
	}
	p.drop(worst)
	p.stats.Evicted++
	go worst.evict()
	return true
}

func fresh(x *Permit) int {
	if x.caller.Fresh {
		return 1
	}
	return 0
}

type places []*Permit

// yieldingTo returns the places that can be given to a newcomer. A newcomer without a cookie
// displaces only callers without a cookie, so that a flood of first visits displaces only itself.
func (list places) yieldingTo(c Caller) places {
	if !c.Fresh {
		return list
	}
	return slices.DeleteFunc(list, func(x *Permit) bool { return !x.caller.Fresh })
}

// newcomers returns the places of callers who are not known. The caller holds mu.
func (p *Pool) newcomers(now time.Time) (list places) {
	for x := range p.places {
		if !x.caller.Known(now) {
			list = append(list, x)
		}
	}
	return list
}

// greedier returns the places of the learners who would still hold at least as many places as c
// after giving one of theirs to c. The caller holds mu.
func (p *Pool) greedier(c Caller) (list places) {
	for x := range p.places {
		if p.learners[x.caller.Learner] > p.learners[c.Learner]+1 {
			list = append(list, x)
		}
	}
	return list
}

func (list places) of(a netip.Prefix) (own places) {
	for _, x := range list {
		if x.caller.Address == a {
			own = append(own, x)
		}
	}
	return own
}

// fairFor returns the places that can be taken away for a caller at address a. They are the places
// of the address with the most places, if that address would still have at least as many as address
// a afterward, and otherwise the places of address a itself.
func (list places) fairFor(a netip.Prefix) places {
	counts := map[netip.Prefix]int{}
	for _, x := range list {
		counts[x.caller.Address]++
	}
	from, most := a, counts[a]+1
	for other, n := range counts {
		if n > most {
			from, most = other, n
		}
	}
	return list.of(from)
}
