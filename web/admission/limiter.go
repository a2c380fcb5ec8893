package admission

import "time"

// A Limiter holds the pools and meters of one server.
type Limiter struct {
	Sockets, Runs, Imports, API *Pool

	Requests, NewLearners, Openings, Messages, WrongCodes, NewRooms, Imported, BadGrammars *Meter

	refusals *Meter
}

// New returns a limiter with the given limits. If now is nil, it uses time.Now.
func New(l Limits, now func() time.Time) *Limiter {
	return &Limiter{
		Sockets: NewPool(l.Sockets, now), Runs: NewPool(l.Runs, now), Imports: NewPool(l.Imports, now),
		API:      NewPool(l.API, now),
		Requests: NewMeter(l.Requests, now), NewLearners: NewMeter(l.NewLearners, now),
		Openings: NewMeter(l.Openings, now), Messages: NewMeter(l.Messages, now),
		WrongCodes: NewMeter(l.WrongCodes, now), NewRooms: NewMeter(l.NewRooms, now),
		Imported: NewMeter(l.Imported, now), refusals: NewMeter(l.Refusals, now),
		BadGrammars: NewMeter(l.BadGrammars, now),
	}
}

// Persists counts a refused HTTP request and reports whether the caller has been refused so often
// that the connection should be closed.
func (d *Limiter) Persists(c Caller) bool {
	if c.Fresh { // gets a new learner id with every request
		c.Learner = c.Address.String()
	}
	return d.refusals.Allow(c) > 0
}
