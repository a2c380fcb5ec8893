package remote

import (
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/room"
)

// NewHub returns the hub of a server in a cluster. All hubs of the cluster need the same Logs,
// Secrets and model.
func NewHub(cfg room.Config, c Cluster) (*room.Hub, error) {
	h, _, err := joinCluster(cfg, c)
	return h, err
}

// joinCluster returns the hub and its directory.
func joinCluster(cfg room.Config, c Cluster) (*room.Hub, *shared, error) {
	c.Paces = c.Paces.withDefaults()
	x := &shared{c: &c, relays: map[string]*relay{}, expired: time.Now()}
	if cfg.Broker == nil {
		cfg.Broker = class.NewBroker()
	}
	cfg.Broker = &watchers{cfg.Broker, x}
	h, err := room.NewShared(cfg, func(h *room.Hub) (room.Directory, error) {
		x.Hub = h
		var err error
		x.stop, err = c.Bus.Serve(c.Server, x.answer)
		return x, err
	})
	return h, x, err
}

// watchers is a broker that makes this server follow a room while anyone watches the room here,
// even if only on a classroom screen.
type watchers struct {
	class.Broker
	shared *shared
}

func (w *watchers) Subscribe(room string) (<-chan class.Note, func()) {
	notes, stop := w.Broker.Subscribe(room)
	f := w.shared.relayOf(room)
	if f == nil {
		return notes, stop
	}
	f.watched(1)
	return notes, func() {
		f.watched(-1)
		stop()
	}
}
