package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/classroom"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/store"
)

// Classes is what a server needs to know to hold classes.
type Classes struct {
	// Logs and Secrets keep the rooms. Without them there are no classes.
	Logs    journal.Journal
	Secrets class.Secrets
	// Space, where not nil, says what there is still space for.
	Space func(context.Context) store.Space
	// Cluster, where not nil, shares the rooms with other servers.
	Cluster *class.Cluster
	// Members is how many members a room may have, also if all have one address; 0 is as
	// many as the limits of admission say.
	Members int
	// TTL is how long a room that nobody uses is kept; 0 is as long as
	// [class.DefaultLimits] says.
	TTL time.Duration
	// Now is the time that all servers share, nil for time.Now.
	Now func() time.Time
	// Aged is the time at which rooms are old enough to be deleted, nil for Now; see
	// [class.Config].
	Aged func() time.Time
	// Access is how the phones of a class get to this server.
	Access classroom.Access
	// Phones, where not nil, lets them in while the server runs.
	Phones *classroom.Phones
}

// members is how many members a room may have. An eighth is reserved for those whom the
// server knew before.
func (c Classes) members(limits admission.Share) admission.Share {
	if c.Members == 0 {
		return limits
	}
	newcomers := c.Members - c.Members/8
	return admission.Share{Most: c.Members, Newcomers: newcomers, PerAddress: newcomers}
}

// driver opens the runs of rooms in the registry of all runs.
type driver struct{ runs *runs.Registry }

// Open implements [class.Driver].
func (d driver) Open(ctx context.Context, room, link string) (class.Run, error) {
	r, err := d.runs.OpenRoom(ctx, room, link)
	if err != nil {
		return nil, err // not r, which would be a Run that is not nil
	}
	return r, nil
}

// mountClasses restores the rooms that are kept and adds their pages. There are
// none where the server was given no course. Where it was given nowhere to keep them the
// pages say that a class needs a server.
func (s *Server) mountClasses(mux *http.ServeMux) error {
	if s.cfg.Course == nil {
		return nil
	}
	deps := classroom.Deps{
		Course: s.cfg.Course, Progress: s.cfg.Progress, Model: s.cfg.Model, Seat: s.targets.Seat,
		Caller: s.learners.Caller, MAC: s.learners.MAC, Access: s.cfg.Classes.Access,
		Phones: s.cfg.Classes.Phones, Log: s.cfg.Logger, Now: s.cfg.Classes.Now,
	}
	if s.cfg.Classes.Logs == nil || s.cfg.Progress == nil {
		classroom.New(deps).Mount(mux)
		return nil
	}
	hub, err := class.NewHub(s.ctx, class.Config{
		Logs: s.cfg.Classes.Logs, Secrets: s.cfg.Classes.Secrets, Course: s.cfg.Course, Driver: driver{s.runs},
		Log: s.cfg.Logger, Space: s.cfg.Classes.Space, Cluster: s.cfg.Classes.Cluster,
		Now: s.cfg.Classes.Now, Aged: s.cfg.Classes.Aged,
		Limits: class.Limits{
			Rooms: s.limits.Rooms, Members: s.cfg.Classes.members(s.limits.Members), TTL: s.cfg.Classes.TTL,
		},
		WrongCodes: s.desk.WrongCodes, NewRooms: s.desk.NewRooms,
	})
	if err != nil {
		return fmt.Errorf("the rooms of classes: %w", err)
	}
	s.hub, deps.Hub = hub, hub
	room := classroom.New(deps)
	s.add(room.Feeds())
	room.Mount(mux)
	return nil
}

// EndRoom ends a class, and RemoveRoom deletes a room, for those who run the server; see
// [class.Hub.EndRoom] and [class.Hub.RemoveRoom].
func (s *Server) EndRoom(ctx context.Context, code string) error {
	if s.hub == nil {
		return class.ErrNoRoom
	}
	return s.hub.EndRoom(ctx, code)
}

// RemoveRoom is described with [Server.EndRoom].
func (s *Server) RemoveRoom(ctx context.Context, code string) error {
	if s.hub == nil {
		return class.ErrNoRoom
	}
	return s.hub.RemoveRoom(ctx, code)
}
