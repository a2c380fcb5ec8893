package admission

// PoolStats are the number of places held now, and sums since the pool was made.
type PoolStats struct {
	Held    int
	Full    int64 // callers refused because all places were held
	OwnFull int64 // callers refused because they hold as many as one learner may
	Evicted int64 // holders who lost their place to another
}

// Stats returns the figures of the pool.
func (p *Pool) Stats() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Held = len(p.places)
	return s
}

// MeterStats are sums since the meter was made.
type MeterStats struct {
	Spent   int64 // tokens, by [Meter.Allow] and [Meter.Spend]
	Refused int64 // calls of [Meter.Allow] and [Meter.AllowSize] that found none
}

// Stats returns the figures of the meter.
func (m *Meter) Stats() MeterStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stats
}
