package room

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

// Config configures a hub. Logs, Secrets and Course are required. Without a Driver, the hub
// serves no pages and can only list, end and remove rooms.
type Config struct {
	Logs    journal.Journal // nothing else may append to the logs of rooms
	Secrets records.Secrets
	Course  *lessons.Course
	Driver  class.Driver
	Broker  class.Broker     // nil for [class.NewBroker]
	Now     func() time.Time // nil for time.Now
	// Aged returns the time used to decide whether rooms are old enough to be deleted; nil
	// for Now. While the clock might be wrong, Aged returns an earlier time.
	Aged   func() time.Time
	Log    *slog.Logger // nil for no log
	Limits Limits       // zero fields get the defaults
	// Space returns the database's remaining space; nil if there is no limit. The hub refuses new
	// rooms before existing rooms run out of space.
	Space func(context.Context) store.Space
	// WrongCodes and NewRooms limit how many wrong codes a caller can try and how many rooms a
	// caller can create; nil for the limits in [admission.DefaultLimits].
	WrongCodes, NewRooms *admission.Meter
}

// Limits bounds the resources that classes can use.
type Limits struct {
	Rooms   admission.Share // the number of rooms
	Members admission.Share // the number of members of a room
	// TTL is how long a room and all its data are kept after the room's last use. CodeLife is how
	// long its code works after the last use.
	TTL, CodeLife time.Duration
	// Rest is how long a room's run stays in memory when nobody is watching.
	Rest time.Duration
}

// DefaultLimits returns limits for a machine with two cores.
func DefaultLimits() Limits {
	l := admission.DefaultLimits()
	return Limits{
		Rooms: l.Rooms, Members: l.Members, TTL: 30 * 24 * time.Hour, CodeLife: 24 * time.Hour, Rest: 30 * time.Minute,
	}
}

func (c Config) withDefaults() Config {
	if c.Broker == nil {
		c.Broker = class.NewBroker()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	now := c.Now
	c.Now = func() time.Time { return saved.Bounded(now()) } // see records.ValidTime
	if c.Aged == nil {
		c.Aged = c.Now
	}
	if c.Space == nil {
		c.Space = func(context.Context) store.Space { return store.SpaceForAll }
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.WrongCodes == nil {
		c.WrongCodes = admission.NewMeter(admission.DefaultLimits().WrongCodes, c.Now)
	}
	if c.NewRooms == nil {
		c.NewRooms = admission.NewMeter(admission.DefaultLimits().NewRooms, c.Now)
	}
	d := DefaultLimits()
	l := &c.Limits
	l.Rooms, l.Members = cmp.Or(l.Rooms, d.Rooms), cmp.Or(l.Members, d.Members)
	l.TTL, l.CodeLife, l.Rest = cmp.Or(l.TTL, d.TTL), cmp.Or(l.CodeLife, d.CodeLife), cmp.Or(l.Rest, d.Rest)
	return c
}
