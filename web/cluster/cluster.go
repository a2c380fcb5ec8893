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

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/journal/stream"
	"github.com/tokenbytoken/viz/web/store"
)

// Config says where a cluster is, and how this server joins it.
type Config struct {
	URL   string // addresses of NATS servers, with commas between them
	Creds string // file with the credentials of NATS; "" for none
	CA    string // file with the authorities that sign NATS's certificates; "" for the system's
	Cert  string // file with this server's own certificate, and Key with its key; "" for none
	Key   string
	// Server begins this server's name, which is another one after each start. It is viz
	// if it is empty.
	Server string
	// Prefix begins the names of streams, buckets and subjects. It is viz if it is empty.
	Prefix string
	// Replicas is on how many nodes of NATS everything is stored when it is created. 0
	// means three in a cluster of NATS and one on a single node.
	Replicas int
	// Patience is how long Open waits for NATS. 0 means [DefaultPatience].
	Patience time.Duration
	// Answer is how long the logs try until they say that NATS is away. 0 means
	// [stream.DefaultPatience].
	Answer time.Duration
	// Life is how long a lease lasts that is not renewed. 0 means [DefaultLife].
	Life time.Duration
	// Now is this server's clock, which may be wrong: see [Cluster.Now]. nil means time.Now.
	Now     func() time.Time
	Log     *slog.Logger  // nil for none
	Options []nats.Option // for tests: connections within the process
}

// DefaultPatience is longer than the nodes of NATS take to find each other when all of
// them start.
const DefaultPatience = 30 * time.Second

// DefaultLife lets the next owner of a room begin within three seconds of a server's
// death, and a server miss two renewals before it gives its rooms up.
const DefaultLife = 3 * time.Second

// Cluster is this server's part in a cluster. Its methods may be called from any
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

// Open joins a cluster. It waits until NATS stores things, for at most the config's
// patience, and then says why it doesn't: no such host, a certificate or credentials that
// were refused, JetStream that is off.
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
			return fmt.Errorf("the logs in NATS: %w", err)
		}
	}
	if c.bus, err = newBus(c.nc, c.cfg.Prefix, c.cfg.Log); err != nil {
		return err
	}
	if c.leases, err = openLeases(ctx, c); err != nil {
		c.bus.close()
		return fmt.Errorf("the leases in NATS: %w", err)
	}
	return nil
}

// Server is this server's name in the cluster.
func (c *Cluster) Server() string { return c.server }

// Journal returns the logs of the cluster.
func (c *Cluster) Journal() *stream.Journal { return c.logs }

// Rooms connects a hub to those of the other servers.
func (c *Cluster) Rooms() *class.Cluster {
	return &class.Cluster{
		Server: c.server, Leases: c.leases, Bus: c.bus, Fence: fence{c.logs}, Secret: c.secret,
		Away: func() bool { return c.leases.silent() > away*c.cfg.Life },
	}
}

// away is after how many lives without a confirmation NATS is taken to be away for longer:
// the nodes' elections, and the move to another node ([deaf]), are over by then.
const away = 4

// Secrets returns the hashes of instructors' secrets, which are records of the rooms'
// logs.
func (c *Cluster) Secrets() class.Secrets { return secrets{c.logs} }

// ErrAway is returned while NATS does not answer.
var ErrAway = errors.New("NATS does not answer")

// Ready returns nil while NATS stores what this server asks it to, and otherwise why not:
// an [ErrAway], which is a [store.ErrFull] as well where NATS has no space left.
func (c *Cluster) Ready() error {
	switch since := c.leases.silent(); {
	case c.nc.IsClosed():
		return fmt.Errorf("%w: the connection is closed", ErrAway)
	case !c.nc.IsConnected():
		return fmt.Errorf("%w: there has been no connection for %s", ErrAway, since.Round(time.Second))
	case since > c.cfg.Life:
		err := fmt.Errorf("%w: nothing could be stored for %s", ErrAway, since.Round(time.Second))
		if why := stream.Trouble(c.leases.why()); errors.Is(why, store.ErrFull) {
			return fmt.Errorf("%w: %w", err, why)
		}
		return err
	}
	return nil
}

// Stats are figures about this server's part in a cluster.
type Stats struct {
	Connected  bool
	Reconnects uint64 // how often the connection was made again
	// Held is how many rooms this server owns, Taken how many it has ever begun to own,
	// and Lost how many of those it lost because NATS did not answer.
	Held        int
	Taken, Lost uint64
	// Silent is how long ago NATS last confirmed anything that this server renews, and
	// Round how long that took.
	Silent, Round time.Duration
	// Dropped is how many messages to other servers were dropped because too many waited,
	// and Refused how many came that were too long or could not be read.
	Dropped, Refused uint64
	// Clock is by how much this server's clock is behind that of NATS, 0 if by little.
	Clock   time.Duration
	Mirrors stream.Mirrors // logs in memory
}

// Stats returns the figures of this moment.
func (c *Cluster) Stats() Stats {
	s := Stats{
		Connected: c.nc.IsConnected(), Reconnects: c.nc.Stats().Reconnects, Mirrors: c.logs.Mirrors(),
		Dropped: c.bus.dropped.Load(), Refused: c.bus.refused.Load(),
	}
	c.leases.count(&s)
	return s
}

// Close gives up this server's rooms, so that the others can go on with them at once, and
// leaves the cluster. The hub must have been closed before.
func (c *Cluster) Close() error {
	c.once.Do(func() {
		c.closed = c.leases.close()
		c.bus.close()
		c.nc.Close()
	})
	return c.closed
}
