package web

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ShutdownTime is the maximum duration of [Server.Shutdown]: the time limits of all phases, plus
// one second for connections to end after they have been cut.
const ShutdownTime = 9 * time.Second

// A phase is one part of a shutdown. Each has its own time limit, so a phase that hangs does not
// use up the time of later phases.
type phase struct {
	name string
	most time.Duration
	do   func(context.Context) error
}

// phases returns the phases of a shutdown, in order. Rooms are saved twice: first of all, so that
// no follower can prevent it, and again when nobody can change them any longer.
func (s *Server) phases() []phase {
	return []phase{
		{"saving class rooms", 2 * time.Second, s.saveRooms},
		{"closing connections", 3 * time.Second, s.wire.Shutdown},
		{"closing class rooms", time.Second, s.endRooms}, // before the rooms' runs are ended
		{"ending runs", time.Second, s.runs.Close},
		{"stopping the model", time.Second, s.stopModels},
	}
}

// Shutdown saves the class rooms, closes all sockets with code 1012, which makes clients reconnect,
// and stops everything that the server has started. It returns when all of this is done, but no
// later than after [ShutdownTime] or soon after ctx has ended. The error lists the phases that did
// not finish. [http.Server.Shutdown] ends the requests but not the sockets: call both.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop()
	s.wire.Refuse()
	var errs []error
	for _, p := range s.phases() {
		if err := p.run(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.name, err))
		}
	}
	return errors.Join(errs...)
}

func (p phase) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.most)
	defer cancel()
	return p.do(ctx)
}

func (s *Server) saveRooms(ctx context.Context) error {
	if s.hub == nil {
		return nil
	}
	return s.hub.Save(ctx)
}

func (s *Server) endRooms(ctx context.Context) error {
	if s.hub == nil {
		return nil
	}
	return s.hub.Close(ctx)
}

// stopModels waits for the passes in progress.
func (s *Server) stopModels(ctx context.Context) error {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.targets.Close()
		s.drafts.Close()
	}()
	select {
	case <-stopped:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
