package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/class/remote"
	"github.com/tokenbytoken/viz/web/journal/stream"
	"github.com/tokenbytoken/viz/web/store"
)

// Config describes a cluster and how this server joins it.
type Config struct {
	URL   string // addresses of NATS servers, separated by commas
	Creds string // file with the NATS credentials; "" for none
	CA    string // file with the CA certificates for NATS; "" for the system's
	Cert  string // file with this server's certificate; Key is the file with its key; "" for none
	Key   string
	// Server is the prefix of this server's name. The rest of the name changes with every start.
	// The default is viz.
	Server string
	// Prefix is the prefix of the names of streams, buckets and subjects. The default is
	// viz.
	Prefix string
	// Replicas is the number of NATS nodes on which everything is stored. It is applied when
	// streams are created. 0 means three in a NATS cluster and one on a single node.
	Replicas int
	// Patience is how long Open waits for NATS. 0 means [DefaultPatience].
	Patience time.Duration
	// Answer is how long operations on the logs are retried before they fail with an error saying
	// that NATS is down. 0 means [stream.DefaultPatience].
	Answer time.Duration
	// Life is how long a lease lasts without a renewal. 0 means [DefaultLife].
	Life time.Duration
	// Now is this server's clock, which might be wrong: see [Cluster.Now]. nil means
	// time.Now.
	Now     func() time.Time
	Log     *slog.Logger  // nil for none
	Options []nats.Option // in-process connections, for tests
}

// DefaultPatience is longer than NATS nodes need to find each other when they all start at the same
// time.
const DefaultPatience = 30 * time.Second

// DefaultLife is short enough that the next owner of a room takes over within three seconds of a
// server's death, and long enough that a server can miss two renewals before it gives up its rooms.
const DefaultLife = 3 * time.Second

// Cluster is this server's membership in a cluster. Its methods can be called from any
// goroutine.
type Cluster struct {
	cfg    Config
	server string // this server's name
	nc     *nats.Conn
	logs   *stream.Journal
	leases *leases
	bus    *bus
	once   sync.Once
	closed error
}

// Open joins a cluster. It waits until NATS is ready to store data. If that takes longer
// than [Config.Patience], Open returns an error with the reason, for example that there is
// no such host, that certificates or credentials were refused, or that JetStream is off.
func Open(ctx context.Context, cfg Config) (*Cluster, error) {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	cfg.Prefix, cfg.Server = cmp.Or(cfg.Prefix, "viz"), cmp.Or(cfg.Server, "viz")
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Patience, cfg.Life = cmp.Or(cfg.Patience, DefaultPatience), cmp.Or(cfg.Life, DefaultLife)
	c := &Cluster{cfg: cfg, server: cfg.Server + "-" + nuid.Next()}
	ctx, cancel := context.WithTimeout(ctx, cfg.Patience)
	defer cancel()
	var err error
	if c.nc, err = dial(ctx, cfg); err != nil {
		return nil, err
	}
	if err := c.open(ctx); err != nil {
		c.nc.Close()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) open(ctx context.Context) (err error) {
	if err := storing(ctx, c.nc); err != nil {
		return err
	}
	c.logs, err = stream.New(c.nc, stream.Config{
		Prefix: c.cfg.Prefix, Replicas: c.cfg.Replicas, Patience: c.cfg.Answer,
	})
	if err != nil {
		return err
	}
	for err = c.logs.Ready(ctx); err != nil; err = c.logs.Ready(ctx) {
		if !passing(err) || ctx.Err() != nil {
			return fmt.Errorf("preparing the logs in NATS: %w", err)
		}
	}
	if c.bus, err = newBus(c.nc, c.cfg.Prefix, c.cfg.Log); err != nil {
		return err
	}
	if c.leases, err = openLeases(ctx, c); err != nil {
		c.bus.close()
		return fmt.Errorf("opening the leases in NATS: %w", err)
	}
	return nil
}

// Server returns this server's name in the cluster.
func (c *Cluster) Server() string { return c.server }

// Journal returns the logs of the cluster.
func (c *Cluster) Journal() *stream.Journal { return c.logs }

// Rooms returns a hub's connection to the hubs of the other servers.
func (c *Cluster) Rooms() *remote.Cluster {
	return &remote.Cluster{
		Server: c.server, Leases: c.leases, Bus: c.bus, Fence: fence{c.logs}, Secret: c.secret,
		Away: func() bool { return c.leases.silent() > away*c.cfg.Life },
	}
}

// away is the number of lease lifetimes without a confirmation after which NATS counts as down.
// Electing a leader and moving to another node ([deaf]) both take less time.
const away = 4

// Secrets returns the storage for hashes of instructors' secrets, which are records in the rooms'
// logs.
func (c *Cluster) Secrets() records.Secrets { return secrets{c.logs} }

// ErrAway is returned while NATS does not respond.
var ErrAway = errors.New("NATS is not responding")

// Ready returns nil while NATS can store data for this server. Otherwise, it returns an [ErrAway]
// that gives the reason. If NATS has no space left, the error is also a [store.ErrFull].
func (c *Cluster) Ready() error {
	switch since := c.leases.silent(); {
	case c.nc.IsClosed():
		return fmt.Errorf("%w: the connection is closed", ErrAway)
	case !c.nc.IsConnected():
		return fmt.Errorf("%w: disconnected for %s", ErrAway, since.Round(time.Second))
	case since > c.cfg.Life:
		err := fmt.Errorf("%w: no write has succeeded for %s", ErrAway, since.Round(time.Second))
		if why := stream.Trouble(c.leases.why()); errors.Is(why, store.ErrFull) {
			return fmt.Errorf("%w: %w", err, why)
		}
		return err
	}
	return nil
}

// Stats contains statistics about this server's membership in a cluster.
type Stats struct {
	Connected  bool
	Reconnects uint64 // number of reconnections
	// Held is the number of rooms that this server owns, Taken is the number of times that
	// it has taken a room, and Lost is the number of rooms that it lost because NATS did not
	// respond.
	Held        int
	Taken, Lost uint64
	// Silent is the time since NATS last confirmed a renewal by this server, and Round is
	// how long that confirmation took.
	Silent, Round time.Duration
	// Dropped is the number of messages to other servers that were dropped because too many
	// were queued or because they could not be sent, and Refused is the number of oversized
	// or malformed messages that arrived.
	Dropped, Refused uint64
	// Clock is how far this server's clock is behind the NATS clock; 0 if the difference is
	// tolerated.
	Clock   time.Duration
	Mirrors stream.Mirrors // logs in memory
}

// Stats returns the current statistics.
func (c *Cluster) Stats() Stats {
	s := Stats{
		Connected: c.nc.IsConnected(), Reconnects: c.nc.Stats().Reconnects, Mirrors: c.logs.Mirrors(),
		Dropped: c.bus.dropped.Load(), Refused: c.bus.refused.Load(),
	}
	c.leases.count(&s)
	return s
}

// Close releases this server's rooms, so that other servers can take them over immediately,
// and leaves the cluster. The hub must be closed first.
func (c *Cluster) Close() error {
	c.once.Do(func() {
		c.closed = c.leases.close()
		c.bus.close()
		c.nc.Close()
	})
	return c.closed
}
