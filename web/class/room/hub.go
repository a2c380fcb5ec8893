package room

import (
	"context"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/web/class"
)

// Hub manages all rooms of a server. Its methods can be called from any goroutine.
type Hub struct {
	cfg    Config
	ctx    context.Context // ends with the hub
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	rooms   map[string]*Local   // by code: the rooms that this server runs
	damaged map[string]*Damaged // by code; none of them are in rooms

	dir Directory
}

func newHub(cfg Config) *Hub {
	h := &Hub{cfg: cfg.withDefaults(), rooms: map[string]*Local{}, damaged: map[string]*Damaged{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// Broker returns the broker that announces the hub's views.
func (h *Hub) Broker() class.Broker { return h.cfg.Broker }

// TTL returns how long an unused room is kept.
func (h *Hub) TTL() time.Duration { return h.cfg.Limits.TTL }

// Config returns the hub's configuration, with its defaults.
func (h *Hub) Config() *Config { return &h.cfg }

func (h *Hub) find(code string) *Local {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rooms[class.NormalCode(code)]
}

func (h *Hub) all() []*Local {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*Local, 0, len(h.rooms))
	for _, r := range h.rooms {
		list = append(list, r)
	}
	return list
}

// Async calls each function in list in its own goroutine; [Hub.Close] waits for them. If the
// hub is closed, Async calls none of them and returns false. The caller must not hold the
// hub's lock.
func (h *Hub) Async(list ...func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return false
	}
	for _, f := range list {
		h.wg.Go(f)
	}
	return true
}

// Context returns the context that ends with the hub.
func (h *Hub) Context() context.Context { return h.ctx }

// Drop removes a room that this server no longer runs.
func (h *Hub) Drop(r *Local) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rooms[r.code] == r {
		delete(h.rooms, r.code)
	}
}

// DamagedHere returns the room if this server could not read it.
func (h *Hub) DamagedHere(code string) *Damaged {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.damaged[code]
}
