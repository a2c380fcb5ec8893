package class

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

// Config configures a hub. Logs, Secrets and Course must be set. Without a Driver it serves
// nobody, and only lists, ends and removes rooms.
type Config struct {
	Logs    journal.Journal // nothing else may append to the logs of rooms
	Secrets Secrets
	Course  *lessons.Course
	Driver  Driver
	Broker  Broker           // nil for one of its own
	Now     func() time.Time // nil for time.Now
	// Aged is the time at which rooms are old enough to be deleted, nil for Now. It is an
	// earlier one while the clock may be wrong.
	Aged   func() time.Time
	Log    *slog.Logger // nil for none
	Limits Limits       // zero fields have the defaults
	// Space returns what the database has space for; nil if there is no limit. New
	// rooms are refused before those that exist run out of it.
	Space func(context.Context) store.Space
	// Cluster connects the hub to those of other servers; nil for none. Logs, Secrets and
	// the model must be the same for all of them.
	Cluster *Cluster
	// WrongCodes and NewRooms say how many wrong codes a caller may try and how many
	// rooms they may make; nil for as many as [admission.DefaultLimits] has.
	WrongCodes, NewRooms *admission.Meter
}

// Limits limit what classes may use.
type Limits struct {
	Rooms   admission.Share // rooms at the same time; of the newcomers together
	Members admission.Share // members of a room
	// TTL is how long an unused room is kept, with everything in it. Its code works
	// for CodeLife after its last use.
	TTL, CodeLife time.Duration
	// Rest is how long the run of a room that nobody is watching stays in memory.
	Rest time.Duration
}

// DefaultLimits are for a machine with two cores.
func DefaultLimits() Limits {
	l := admission.DefaultLimits()
	return Limits{
		Rooms: l.Rooms, Members: l.Members, TTL: 30 * 24 * time.Hour, CodeLife: 24 * time.Hour, Rest: 30 * time.Minute,
	}
}

func (c Config) withDefaults() Config {
	if c.Broker == nil {
		c.Broker = NewBroker()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	now := c.Now
	c.Now = func() time.Time { return saved.Bounded(now()) } // see someTime
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
	if c.Cluster != nil {
		own := *c.Cluster
		own.Paces = own.Paces.withDefaults()
		c.Cluster = &own
	}
	d := DefaultLimits()
	l := &c.Limits
	l.Rooms, l.Members = cmp.Or(l.Rooms, d.Rooms), cmp.Or(l.Members, d.Members)
	l.TTL, l.CodeLife, l.Rest = cmp.Or(l.TTL, d.TTL), cmp.Or(l.CodeLife, d.CodeLife), cmp.Or(l.Rest, d.Rest)
	return c
}

// Options are what an instructor chooses when making a room.
type Options struct {
	Title     string // at most 80 characters; "" is "Class"
	Walk      string // slug of a walkthrough, "" for none
	Nicknames bool   // members may give themselves names
	NamesFall bool   // everybody sees where the number of a named member fell in a draw
	Alone     bool   // members may go on alone with a run of their own
}
