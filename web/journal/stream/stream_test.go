package stream

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/journaltest"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(fixture.Suite{M: m}) }

var ctx = context.Background()

var ada = journal.Owner{Kind: journal.Learner, Name: "ada"}

var morning = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// patient is long enough for a test on a busy machine.
const patient = 2 * time.Minute

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// dial connects to a server.
func dial(t testing.TB, s *server.Server) *nats.Conn {
	t.Helper()
	nc, err := Connect("", nats.InProcessServer(s))
	must(t, err)
	t.Cleanup(nc.Close)
	return nc
}

var prefixes atomic.Int64

// open returns a journal in streams that no other test uses.
func open(t testing.TB, nc *nats.Conn, cfg Config) *Journal {
	t.Helper()
	if cfg.Prefix == "" {
		cfg.Prefix = fmt.Sprint("test", prefixes.Add(1))
	}
	if cfg.Patience == 0 {
		cfg.Patience = patient
	}
	j, err := New(nc, cfg)
	must(t, err)
	return j
}

func record(kind, id, data string) journal.Record {
	return journal.Record{Type: kind, ID: id, Data: []byte(data)}
}

// put appends records and returns their numbers.
func put(t rapid.TB, j journal.Journal, o journal.Owner, records ...journal.Record) []int64 {
	t.Helper()
	seqs, err := j.Append(ctx, journal.Batch{Owner: o, At: morning, Records: records})
	must(t, err)
	return seqs
}

// ids returns the ids of a log's records in order.
func ids(t rapid.TB, j journal.Journal, o journal.Owner) (list []string) {
	t.Helper()
	must(t, j.Read(ctx, o, 0, func(r journal.Record) error {
		list = append(list, r.ID)
		return nil
	}))
	return list
}

func wantIDs(t rapid.TB, j journal.Journal, o journal.Owner, want ...string) {
	t.Helper()
	if got := ids(t, j, o); !slices.Equal(got, want) {
		t.Errorf("the log of %v has %q, want %q", o, got, want)
	}
}

// turns is a journal that passes its calls alternately to two servers.
type turns struct {
	of   [2]journal.Journal
	next atomic.Int64
}

func (x *turns) turn() journal.Journal { return x.of[x.next.Add(1)%2] }

func (x *turns) Append(ctx context.Context, b journal.Batch) ([]int64, error) {
	return x.turn().Append(ctx, b)
}

func (x *turns) Read(ctx context.Context, o journal.Owner, after int64, f func(journal.Record) error) error {
	return x.turn().Read(ctx, o, after, f)
}

func (x *turns) Find(ctx context.Context, o journal.Owner, k journal.Key) (journal.Record, bool, error) {
	return x.turn().Find(ctx, o, k)
}

func (x *turns) Owners(ctx context.Context, kind string) ([]journal.Info, error) {
	return x.turn().Owners(ctx, kind)
}

func (x *turns) Compact(ctx context.Context, o journal.Owner, gone []journal.Key) error {
	return x.turn().Compact(ctx, o, gone)
}

func (x *turns) Scrub(ctx context.Context, o journal.Owner) error { return x.turn().Scrub(ctx, o) }

func (x *turns) Drop(ctx context.Context, o journal.Owner) error { return x.turn().Drop(ctx, o) }

func (x *turns) SetAside(ctx context.Context, o journal.Owner, at time.Time, seqs ...int64) error {
	return x.turn().SetAside(ctx, o, at, seqs...)
}

func (x *turns) Aside(ctx context.Context, o journal.Owner) ([]journal.Info, error) {
	return x.turn().Aside(ctx, o)
}

func (x *turns) Snapshot(ctx context.Context, o journal.Owner) (journal.Snapshot, error) {
	return x.turn().Snapshot(ctx, o)
}

func (x *turns) KeepSnapshot(ctx context.Context, o journal.Owner, s journal.Snapshot) error {
	return x.turn().KeepSnapshot(ctx, o, s)
}

func (x *turns) Retire(ctx context.Context, o journal.Owner, before time.Time) (bool, error) {
	return x.turn().Retire(ctx, o, before)
}

func (x *turns) Sweep(ctx context.Context) error { return x.turn().Sweep(ctx) }

// TestStreamConforms: two servers that alternately serve the same logs behave like one
// server. In the long tests, the streams are stored in files.
func TestStreamConforms(t *testing.T) {
	s := streamtest.Node(t, t.TempDir())
	a, b := dial(t, s), dial(t, s)
	journaltest.Run(t, func(t testing.TB) journal.Journal {
		first := open(t, a, Config{InMemory: !fixture.LongTier()})
		return &turns{of: [2]journal.Journal{first, open(t, b, first.cfg)}}
	})
}
