package admission

// PoolStats contains the number of places currently held, and totals since the pool was created.
type PoolStats struct {
	Held    int
	Full    int64 // callers refused because all places were held
	OwnFull int64 // callers refused because they hold as many places as one learner may
	Evicted int64 // holders who lost a place to another caller
}

// Stats returns the statistics of the pool.
func (p *Pool) Stats() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Held = len(p.places)
	return s
}

// MeterStats contains totals since the meter was created.
type MeterStats struct {
	Spent   int64 // tokens taken by [Meter.Allow], [Meter.AllowSize] and [Meter.Spend]
	Refused int64 // calls to [Meter.Allow] and [Meter.AllowSize] that found no token
}

// Stats returns the statistics of the meter.
func (m *Meter) Stats() MeterStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stats
}
