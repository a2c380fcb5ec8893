package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/class/remote"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/classroom"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/store"
)

// Classes configures the classes on a server.
type Classes struct {
	// Logs and Secrets store the rooms. If they are nil, there are no classes.
	Logs    journal.Journal
	Secrets records.Secrets
	// Space, if not nil, returns how much storage space is left.
	Space func(context.Context) store.Space
	// Cluster, if not nil, shares the rooms with other servers.
	Cluster *remote.Cluster
	// Members is the maximum number of members of a room, even if all of them have the same
	// address; 0 means the admission limits.
	Members int
	// TTL is how long an unused room is kept; 0 means the value in [room.DefaultLimits].
	TTL time.Duration
	// Now returns the time that all servers share; nil means time.Now.
	Now func() time.Time
	// Aged returns the time that is compared with a room's last use to decide whether to delete the
	// room; nil means Now. See [room.Config].
	Aged func() time.Time
	// Access describes how the phones of a class reach this server.
	Access classroom.Access
	// Phones, if not nil, can open the server to phones while it runs.
	Phones *classroom.Phones
}

// members returns the limits on a room's members. An eighth of the places is reserved for learners
// that the server already knows.
func (c Classes) members(limits admission.Share) admission.Share {
	if c.Members == 0 {
		return limits
	}
	newcomers := c.Members - c.Members/8
	return admission.Share{Most: c.Members, Newcomers: newcomers, PerAddress: newcomers}
}

// A driver opens rooms' runs in the registry of all runs.
type driver struct{ runs *runs.Registry }

// Open implements [class.Driver].
func (d driver) Open(ctx context.Context, room, link string) (class.Run, error) {
	r, err := d.runs.OpenRoom(ctx, room, link)
	if err != nil {
		return nil, err // not r, which would be a non-nil Run
	}
	return r, nil
}

// newHub returns the hub of a single server or, if cluster is not nil, of a server in a cluster.
func newHub(ctx context.Context, cfg room.Config, cluster *remote.Cluster) (*room.Hub, error) {
	if cluster != nil {
		return remote.NewHub(cfg, *cluster)
	}
	return room.NewHub(ctx, cfg)
}

// mountClasses restores the saved rooms and adds the class pages. Without a course, it adds no
// pages. Without a place to store rooms, it adds pages that explain that a class needs a server.
func (s *Server) mountClasses(mux *http.ServeMux) error {
	if s.cfg.Course == nil {
		return nil
	}
	deps := classroom.Deps{
		Course: s.cfg.Course, Progress: s.cfg.Progress, Model: s.cfg.Model, Slot: s.targets.Slot,
		Caller: s.learners.Caller, MAC: s.learners.MAC, Access: s.cfg.Classes.Access,
		Phones: s.cfg.Classes.Phones, Log: s.cfg.Logger, Now: s.cfg.Classes.Now,
	}
	if classroom.None || s.cfg.Classes.Logs == nil || s.cfg.Progress == nil {
		classroom.New(deps).Mount(mux)
		return nil
	}
	hub, err := newHub(s.ctx, room.Config{
		Logs: s.cfg.Classes.Logs, Secrets: s.cfg.Classes.Secrets, Course: s.cfg.Course, Driver: driver{s.runs},
		Log: s.cfg.Logger, Space: s.cfg.Classes.Space,
		Now: s.cfg.Classes.Now, Aged: s.cfg.Classes.Aged,
		Limits: room.Limits{
			Rooms: s.limits.Rooms, Members: s.cfg.Classes.members(s.limits.Members), TTL: s.cfg.Classes.TTL,
		},
		WrongCodes: s.limiter.WrongCodes, NewRooms: s.limiter.NewRooms,
	}, s.cfg.Classes.Cluster)
	if err != nil {
		return fmt.Errorf("restoring class rooms: %w", err)
	}
	s.hub, deps.Hub = hub, hub
	room := classroom.New(deps)
	s.add(room.Feeds())
	room.Mount(mux)
	return nil
}

// EndRoom ends a class at the operator's request. See [room.Hub.EndRoom].
func (s *Server) EndRoom(ctx context.Context, code string) error {
	if s.hub == nil {
		return class.ErrNoRoom
	}
	return s.hub.EndRoom(ctx, code)
}

// RemoveRoom deletes a room at the operator's request. See [room.Hub.RemoveRoom].
func (s *Server) RemoveRoom(ctx context.Context, code string) error {
	if s.hub == nil {
		return class.ErrNoRoom
	}
	return s.hub.RemoveRoom(ctx, code)
}
