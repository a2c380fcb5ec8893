// Package stream is web/journal's adapter for JetStream. It stores logs in a NATS cluster,
// so that any of several servers can append to any log.
//
// The logs are distributed across [Streams] streams, viz_0 to viz_7. The hash of a log's owner
// determines its stream. A log consists of the messages of one subject, such as
// viz.3.log.learner.ID, and its snapshots are the messages of viz.3.snap.learner.ID. There are no
// consumers for individual owners.
//
// # A change is one message
//
// Appending, compacting, setting aside, retiring and dropping each publish one message or, if it
// would be too large, several messages as an atomic batch, which is stored completely or not at
// all. A log is therefore always consistent between two changes. Each message names the message
// that it follows, and the stream refuses it if that is no longer the last message of the subject
// (Nats-Expected-Last-Subject-Sequence). A server that is late, or was disconnected, then reads the
// other servers' messages and repeats its change without the keys that now exist. If no reply
// arrives, the server looks for the id of the change in the stream.
//
// A message marked as whole describes a log completely and makes the messages before it obsolete. A
// log begins with such a message, and is rewritten as one when much of it is garbage or when
// deleted data has to be erased (Scrub). The messages before it are then deleted, oldest first, and
// overwritten in the streams' files.
//
// # Reading
//
// A server keeps the most recently used logs in memory ([mirror]), within a budget. Each
// operation requests the last message of the subject from the stream's leader and reads the
// messages after the end of the server's copy, so that all servers see confirmed changes.
// Since each message names the one before it, a server notices if a message has been deleted
// in the meantime, and reads the log again.
//
// # When NATS is down
//
// Every operation gives up after [Config].Patience and returns [journal.ErrAway]. Nothing is
// confirmed before a stream has confirmed it. The connection is restored automatically. If a
// stream, an account or a node has no space left, changes are refused immediately with
// [store.ErrFull].
package stream

import (
	"container/list"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tokenbytoken/viz/web/journal"
)

// Streams is the number of streams across which the logs of all owners are distributed. It
// determines the stream of each log, so it must never change.
const Streams = 8

// Config describes where the logs are in a cluster.
type Config struct {
	// Prefix is the prefix of the names of streams and subjects. The default is viz.
	Prefix string
	// Replicas is the number of nodes that store each stream. It is applied when streams are
	// created. 0 means three in a NATS cluster and one on a single node.
	Replicas int
	// Patience is the time for which an operation is retried before it fails because NATS is
	// down. 0 means [DefaultPatience].
	Patience time.Duration
	// InMemory creates streams that are not stored on disk.
	InMemory bool
}

// DefaultPatience is longer than an election takes on a quiet network, and short enough for
// someone who is waiting for a page.
const DefaultPatience = 8 * time.Second

// Limits of the logs in memory.
const (
	mostMirrors = 4096
	mirrorBytes = 64 << 20
)

// leastPayload is the lowest message size limit at which the largest record still fits into a
// message.
const leastPayload = journal.MaxRecord + 16<<10

// Journal stores logs in JetStream.
type Journal struct {
	nc  *nats.Conn
	js  jetstream.JetStream
	cfg Config

	// hinder simulates network faults in tests. It is called before a message is sent and
	// after its reply has arrived, and its error replaces the result.
	hinder func(answered bool) error

	ready chan struct{} // contains a token unless the streams are being checked
	there bool          // the streams exist; guarded by the token in ready

	mu      sync.Mutex
	mirrors map[journal.Owner]*list.Element // the elements are *mirror
	order   *list.List                      // most recently used first
	bytes   int64                           // total size of all mirrors
}

var (
	_ journal.Journal = (*Journal)(nil)
	_ journal.Shared  = (*Journal)(nil)
)

// Connect connects to the servers of a cluster, given as comma-separated addresses. It returns
// immediately, even if no server can be reached yet. Whenever the connection breaks, it is
// restored.
func Connect(addresses string, more ...nats.Option) (*nats.Conn, error) {
	return nats.Connect(addresses, append([]nats.Option{
		nats.Name("viz"),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.Timeout(2 * time.Second),
		// Without a connection, publishing a message must fail rather than send it later.
		nats.ReconnectBufSize(-1),
		// Detect a dead peer within seconds.
		nats.PingInterval(2 * time.Second),
		nats.MaxPingsOutstanding(2),
	}, more...)...)
}

// New returns the journal in a cluster. The connection nc should come from [Connect]; the
// caller must close it.
func New(nc *nats.Conn, cfg Config) (*Journal, error) {
	if cfg.Prefix == "" {
		cfg.Prefix = "viz"
	}
	if cfg.Patience <= 0 {
		cfg.Patience = DefaultPatience
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	j := &Journal{
		nc: nc, js: js, cfg: cfg, ready: make(chan struct{}, 1), hinder: func(bool) error { return nil },
		mirrors: map[journal.Owner]*list.Element{}, order: list.New(),
	}
	j.ready <- struct{}{}
	return j, nil
}

// Replicas returns the number of nodes for a stream: want or, if want is 0, three in a NATS
// cluster and one on a single node.
func Replicas(nc *nats.Conn, want int) int {
	switch {
	case want > 0:
		return want
	case nc.ConnectedClusterName() != "":
		return 3
	}
	return 1
}

// Ready creates the streams if they do not exist. If the logs cannot be used, it returns
// [journal.ErrAway] while NATS does not respond, or another error if there is a problem with
// a stream.
func (j *Journal) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, j.cfg.Patience)
	defer cancel()
	return away(j.trying(ctx, func() error { return j.ensure(ctx) }))
}

// streamName returns the name of a stream.
func (j *Journal) streamName(n int) string { return fmt.Sprintf("%s_%d", j.cfg.Prefix, n) }

// newMirror returns the mirror of a log that has not been read yet.
func (j *Journal) newMirror(o journal.Owner) *mirror {
	h := fnv.New32a()
	fmt.Fprintf(h, "%d:%s%s", len(o.Kind), o.Kind, o.Name)
	n := int(h.Sum32() % Streams)
	rest := encodeName(o.Kind) + "." + encodeName(o.Name)
	return &mirror{
		owner: o, stream: j.streamName(n),
		log:  fmt.Sprintf("%s.%d.log.%s", j.cfg.Prefix, n, rest),
		snap: fmt.Sprintf("%s.%d.snap.%s", j.cfg.Prefix, n, rest),
	}
}

// SubjectPart encodes any string as a token of a subject. A plain string is unchanged; any
// other string becomes = followed by its bytes as hexadecimal digits.
func SubjectPart(s string) string { return encodeName(s) }

func encodeName(s string) string {
	plain := s != "" && strings.IndexFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	}) < 0
	if plain {
		return s
	}
	return "=" + hex.EncodeToString([]byte(s))
}

// decodeName is the inverse of encodeName.
func decodeName(s string) (string, error) {
	digits, encoded := strings.CutPrefix(s, "=")
	if !encoded {
		return s, nil
	}
	b, err := hex.DecodeString(digits)
	return string(b), err
}

// ensure makes sure that the streams exist.
func (j *Journal) ensure(ctx context.Context) error {
	select {
	case <-j.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { j.ready <- struct{}{} }()
	if j.there {
		return nil
	}
	if !j.nc.IsConnected() {
		return nats.ErrDisconnected
	}
	if most := j.nc.MaxPayload(); most < leastPayload {
		return fmt.Errorf("NATS accepts messages of at most %d bytes (max_payload), but the logs require %d",
			most, leastPayload)
	}
	for n := range Streams {
		if err := j.ensureStream(ctx, n); err != nil {
			return fmt.Errorf("stream %s: %w", j.streamName(n), err)
		}
	}
	j.there = true
	return nil
}

// ensureStream creates a stream if it does not exist. It refuses an existing stream that
// could lose records or does not have the required features.
func (j *Journal) ensureStream(ctx context.Context, n int) error {
	ctx, cancel := j.attempt(ctx, 0)
	defer cancel()
	s, err := j.js.Stream(ctx, j.streamName(n))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = j.js.CreateStream(ctx, j.streamConfig(n))
	}
	if err != nil {
		return err
	}
	c := s.CachedInfo().Config
	switch {
	case c.MaxAge != 0 || c.MaxMsgsPerSubject > 0 || c.Retention != jetstream.LimitsPolicy ||
		c.Discard != jetstream.DiscardNew:
		return errors.New("the stream can discard messages automatically, so it cannot store logs")
	case c.DenyDelete || c.DenyPurge:
		return errors.New("the stream does not allow messages to be deleted, so deleted data would remain")
	case !c.AllowAtomicPublish || !c.AllowDirect:
		return errors.New("the stream must have allow_atomic and allow_direct enabled")
	case c.Compression != jetstream.NoCompression:
		return errors.New("the stream compresses its files, so deleted data cannot be overwritten")
	}
	return nil
}

func (j *Journal) streamConfig(n int) jetstream.StreamConfig {
	c := jetstream.StreamConfig{
		Name: j.streamName(n), Subjects: []string{fmt.Sprintf("%s.%d.>", j.cfg.Prefix, n)},
		Description: "actions of Token by Token's learners and classes",
		Retention:   jetstream.LimitsPolicy, Discard: jetstream.DiscardNew,
		Replicas: Replicas(j.nc, j.cfg.Replicas), AllowDirect: true, AllowAtomicPublish: true,
	}
	if j.cfg.InMemory {
		c.Storage = jetstream.MemoryStorage
	}
	return c
}
