package runs

// Stats are the statistics of a registry at one moment.
type Stats struct {
	Playing int   // runs that are playing
	Waiting int   // runs with viewers that are waiting for a command
	Unseen  int   // runs without viewers
	Bytes   int64 // memory of all caches and traces

	// Totals since the registry was created.
	Full    int64 // runs refused because there were too many
	OwnFull int64 // runs refused because the learner had too many
}

// Stats returns the registry's statistics.
func (rs *Registry) Stats() Stats {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	s := rs.refused
	s.Bytes, s.Unseen = rs.memory.total.Load(), len(rs.resting)
	for _, r := range rs.byID {
		switch {
		case r.playing.Load():
			s.Playing++
		case r.watched():
			s.Waiting++
		default:
			s.Unseen++
		}
	}
	return s
}
