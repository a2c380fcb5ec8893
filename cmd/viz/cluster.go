package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/files"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/cluster"
	"github.com/tokenbytoken/viz/web/metrics"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/store"
)

// clusterFlags are the flags for a NATS cluster.
type clusterFlags struct {
	url       string // addresses, joined by commas; "" for no cluster
	creds     string
	ca        string
	cert, key string
}

func (o *clusterFlags) flags(f *flags, help string) {
	f.value("cluster", "URL", help, func(s string) error {
		o.url = s
		return checkNATS(s)
	})
	f.text("cluster-creds", "FILE", "credentials for the cluster, as nsc writes them", &o.creds)
	f.text("cluster-ca", "FILE", "the authority that signs the cluster's certificates, PEM (default: the system's)",
		&o.ca)
	f.text("cluster-cert", "FILE", "this server's own certificate for the cluster (PEM); needs -cluster-key", &o.cert)
	f.text("cluster-key", "FILE", "its private key (PEM)", &o.key)
}

// checkNATS checks the value of -cluster.
func checkNATS(s string) error {
	for one := range strings.SplitSeq(s, ",") {
		u, err := url.Parse(one)
		if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Hostname() == "" || u.Path != "" ||
			u.RawQuery != "" || u.Fragment != "" {
			return errors.New("it must be nats://HOST:PORT or tls://HOST:PORT, several joined by commas")
		}
	}
	return nil
}

// check reports flags that cannot be combined.
func (o *clusterFlags) check(f *flags) error {
	if o.url == "" {
		for _, name := range []string{"cluster-creds", "cluster-ca", "cluster-cert", "cluster-key", "cluster-secret"} {
			if f.given(name) {
				return usageError{fmt.Errorf("%s needs -cluster as well", f.called(name))}
			}
		}
		return nil
	}
	if (o.cert == "") != (o.key == "") {
		return usageError{errors.New("-cluster-cert and -cluster-key must be given together")}
	}
	if o.cert != "" {
		if _, err := readPair(o.cert, o.key); err != nil {
			return usageError{fmt.Errorf("%s %s with %s %s: %w", f.called("cluster-cert"), o.cert,
				f.called("cluster-key"), o.key, err)}
		}
	}
	return nil
}

// clusterTimes are the timeouts of a cluster, 0 for the defaults. After life without a sign,
// other servers take over a server's rooms; one request to a server may take twice as long.
// After answer NATS counts as down, and after call the server that owns a room does. Tests
// that share two busy cores, under the race detector, set longer times, and one test sets a
// shorter one.
var clusterTimes struct{ life, answer, call time.Duration }

// clock is the clock of this machine. Tests can set it wrong.
var clock = time.Now

// join joins the cluster.
func (o *clusterFlags) join(ctx context.Context, f *flags, name string, log *slog.Logger) (*cluster.Cluster, error) {
	c, err := cluster.Open(ctx, cluster.Config{
		URL: o.url, Creds: o.creds, CA: o.ca, Cert: o.cert, Key: o.key, Server: name, Log: log,
		Life: clusterTimes.life, Answer: clusterTimes.answer, Now: clock,
	})
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", f.called("cluster"), cluster.Redacted(o.url), err)
	}
	return c, nil
}

// secretHelp explains how to make a file for -cluster-secret.
const secretHelp = "make one with: openssl rand -hex 32 > FILE, and give every server a copy"

// readSecret reads the secret that all servers of a cluster share.
func (o *serveOptions) readSecret(f *flags) ([]byte, error) {
	if o.clusterSecret == "" {
		return nil, usageError{fmt.Errorf("%s needs -cluster-secret, so that all servers know each other's visitors; "+
			"%s", f.called("cluster"), secretHelp)}
	}
	text, err := files.ReadText(o.clusterSecret, maxKeyFile)
	if err != nil {
		return nil, usageError{
			fmt.Errorf("%s %s: %w; %s", f.called("cluster-secret"), o.clusterSecret, err, secretHelp),
		}
	}
	secret, ok := store.ParseSecret(text)
	if !ok {
		return nil, usageError{fmt.Errorf("%s %s must have 64 hexadecimal digits; %s",
			f.called("cluster-secret"), o.clusterSecret, secretHelp)}
	}
	return secret, nil
}

// The bounds of -room-members.
const (
	leastMembers = 8
	mostMembers  = 20_000
)

// parseMembers reads the number of -room-members.
func parseMembers(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < leastMembers || n > mostMembers {
		return 0, fmt.Errorf("it must be %d to %d", leastMembers, mostMembers)
	}
	return n, nil
}

// shared is the storage of a server in a cluster. Everything is in the cluster except notices
// and the record of who has seen them.
type shared struct {
	*store.DB
	cluster *cluster.Cluster
	limit   int64
}

// Space implements [progress.Database]. A full cluster reports its own errors.
func (s shared) Space(context.Context) store.Space { return store.SpaceForAll }

// Limit implements [progress.Database]: the share of the storage that one learner may fill.
func (s shared) Limit() int64 { return s.limit }

// Ready implements [progress.Database].
func (s shared) Ready(ctx context.Context) error {
	if err := s.away(); err != nil {
		return err
	}
	return s.DB.Ready(ctx)
}

// away implements [web.Config].Away.
func (s shared) away() error {
	if err := s.cluster.Ready(); err != nil {
		return fmt.Errorf("%w: %w", store.ErrAway, err)
	}
	return nil
}

// keepShared makes the server keep user data in a cluster, and its notices in the folder dir,
// or in memory for "". The caller closes the result.
func (o *serveOptions) keepShared(
	ctx context.Context, f *flags, dir string, cfg *web.Config, log *slog.Logger,
) (io.Closer, error) {
	secret, err := o.readSecret(f)
	if err != nil {
		return nil, err
	}
	if cfg.Course, err = ownLessons(o.lessons); err != nil {
		return nil, err
	}
	db, err := store.Open(dir, log)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.called("data"), err)
	}
	host, _ := os.Hostname() // the name only identifies the server in logs
	c, err := o.cluster.join(ctx, f, host, log)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := shared{db, c, o.limit}
	cfg.Secret, cfg.Away, cfg.Figures = secret, s.away, s.figures
	cfg.Progress = progress.New(c.Journal(), s, cfg.Course, c.Now)
	rooms := c.Rooms()
	rooms.Paces.Try, rooms.Paces.Call = 2*clusterTimes.life, clusterTimes.call // 0 selects the defaults here, too
	cfg.Classes.Now = c.Now
	cfg.Classes.Logs, cfg.Classes.Secrets, cfg.Classes.Cluster = c.Journal(), c.Secrets(), rooms
	t := tend(db, cfg.Progress, c.Now, log)
	cfg.Classes.Aged = t.aged
	return closers{t, c}, nil
}

// closers is a list of closers that are closed in order.
type closers []io.Closer

// Close closes all of them.
func (list closers) Close() (err error) {
	for _, c := range list {
		err = errors.Join(err, c.Close())
	}
	return err
}

// figures adds the metrics of the cluster.
func (s shared) figures(p *metrics.Page) { clusterFigures(p, s.cluster.Stats(), s.away() == nil) }

func clusterFigures(p *metrics.Page, x cluster.Stats, ready bool) {
	p.Gauge("viz_cluster_ready", "1 while the cluster stores what this server asks it to, 0 while it does not.",
		oneIf(ready))
	p.Counter("viz_cluster_reconnects_total", "Times that the connection to NATS was made again.",
		float64(x.Reconnects))
	p.Gauge("viz_cluster_rooms_owned", "Rooms of classes that this server runs.", float64(x.Held))
	p.Counters("viz_cluster_lease_changes_total",
		"Rooms that this server began to run, and those that it lost because NATS did not answer.", "change",
		metrics.Value{Label: "taken", Value: float64(x.Taken)}, metrics.Value{Label: "lost", Value: float64(x.Lost)})
	p.Gauge("viz_cluster_silent_seconds", "Since NATS last confirmed that this server is there.", x.Silent.Seconds())
	p.Gauge("viz_cluster_lag_seconds", "How long that confirmation took.", x.Round.Seconds())
	p.Gauge("viz_cluster_clock_behind_seconds", "By how much this server's clock is behind the NATS clock, 0 if by "+
		"less than two seconds.", x.Clock.Seconds())
	p.Counters("viz_cluster_messages_lost_total", "Messages between servers that were dropped because too many "+
		"waited, or refused because they could not be read.", "why",
		metrics.Value{Label: "dropped", Value: float64(x.Dropped)},
		metrics.Value{Label: "refused", Value: float64(x.Refused)})
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
