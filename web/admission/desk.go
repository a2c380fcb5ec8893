package admission

import "time"

// Desk has the pools and meters of one server.
type Desk struct {
	Sockets, Runs *Pool

	Requests, NewLearners, Openings, Messages, WrongCodes, NewRooms *Meter
}

// New returns a desk with limits. now is time.Now if nil.
func New(l Limits, now func() time.Time) *Desk {
	return &Desk{
		Sockets: NewPool(l.Sockets, now), Runs: NewPool(l.Runs, now),
		Requests: NewMeter(l.Requests, now), NewLearners: NewMeter(l.NewLearners, now),
		Openings: NewMeter(l.Openings, now), Messages: NewMeter(l.Messages, now),
		WrongCodes: NewMeter(l.WrongCodes, now), NewRooms: NewMeter(l.NewRooms, now),
	}
}
