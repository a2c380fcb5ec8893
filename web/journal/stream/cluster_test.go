package stream

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/journaltest"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// nodes is a NATS cluster of three servers, each with its own folder.
type nodes struct {
	options [3]server.Options
	running [3]*server.Server
}

// startNodes starts a cluster on free ports of this machine.
func startNodes(t *testing.T) *nodes {
	t.Helper()
	c := &nodes{}
	var routes []*url.URL
	for i := range c.options {
		port := freePort(t)
		routes = append(routes, &url.URL{Scheme: "nats-route", Host: fmt.Sprint("127.0.0.1:", port)})
		c.options[i] = server.Options{
			ServerName: fmt.Sprint("n", i), Host: "127.0.0.1", Port: freePort(t), JetStream: true,
			StoreDir: t.TempDir(), NoSigs: true, NoLog: true, SyncAlways: true,
			Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: port},
		}
	}
	for i := range c.options {
		c.options[i].Routes = routes
		c.start(t, i)
	}
	t.Cleanup(func() {
		for i := range c.running {
			c.stop(i)
		}
	})
	return c
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (c *nodes) start(t *testing.T, i int) {
	t.Helper()
	o := c.options[i]
	s, err := server.NewServer(&o)
	must(t, err)
	s.Start()
	if c.running[i] = s; !s.ReadyForConnections(patient) {
		t.Fatal("a NATS server has not started")
	}
}

func (c *nodes) stop(i int) {
	if s := c.running[i]; s != nil {
		streamtest.Stop(s)
		c.running[i] = nil
	}
}

// dial connects to the cluster.
func (c *nodes) dial(t *testing.T) *nats.Conn {
	t.Helper()
	var urls []string
	for i := range c.options {
		urls = append(urls, fmt.Sprint("nats://127.0.0.1:", c.options[i].Port))
	}
	nc, err := Connect(strings.Join(urls, ","))
	must(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// TestConformanceOfThreeNodes: three nodes, each of which stores all streams, behave like a
// single node.
func TestConformanceOfThreeNodes(t *testing.T) {
	fixture.Long(t)
	c := startNodes(t)
	a, b := c.dial(t), c.dial(t)
	journaltest.Run(t, func(t testing.TB) journal.Journal {
		first := open(t, a, Config{})
		return &turns{of: [2]journal.Journal{first, open(t, b, first.cfg)}}
	})
}

// TestAppendsSurviveNodeRestarts: while servers append, the nodes are restarted one after
// another. Each confirmed record is stored once, and no record is stored that was never
// sent.
func TestAppendsSurviveNodeRestarts(t *testing.T) {
	fixture.Long(t)
	c := startNodes(t)
	first := open(t, c.dial(t), Config{Patience: 3 * time.Second})
	persist(t, func() error { _, err := first.Append(ctx, one("begin")); return err })
	var mu sync.Mutex
	confirmed, sent := map[string]int64{"begin": 0}, map[string]bool{"begin": true}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 3 {
		j := open(t, c.dial(t), first.cfg)
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				id := fmt.Sprint(w, "-", i)
				seqs, err := j.Append(ctx, one(id))
				mu.Lock()
				sent[id] = true
				if err == nil {
					confirmed[id] = seqs[0]
				} else if !errors.Is(err, journal.ErrAway) {
					t.Errorf("got error %v, want %v", err, journal.ErrAway)
				}
				mu.Unlock()
			}
		})
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(confirmed)
	}
	// Each time, appends must continue while the node is down and after it is back.
	goOn := func() {
		before, late := count(), time.After(patient)
		look := time.NewTicker(10 * time.Millisecond)
		defer look.Stop()
		for count() < before+20 {
			select {
			case <-look.C:
			case <-late:
				t.Error("no more appends are confirmed")
				return
			}
		}
	}
	for round := range 6 {
		goOn()
		c.stop(round % 3)
		goOn()
		c.start(t, round%3)
	}
	goOn()
	close(done)
	wg.Wait()
	stored := map[string]int64{}
	persist(t, func() error {
		clear(stored)
		return open(t, c.dial(t), first.cfg).Read(ctx, ada, 0, func(r journal.Record) error {
			if stored[r.ID] != 0 {
				t.Errorf("%s is stored twice", r.ID)
			}
			stored[r.ID] = r.Seq
			return nil
		})
	})
	for id, seq := range confirmed {
		if stored[id] == 0 || seq != 0 && stored[id] != seq {
			t.Errorf("%s was confirmed as %d but is stored as %d", id, seq, stored[id])
		}
	}
	for id := range stored {
		if !sent[id] {
			t.Errorf("%s is stored but was never sent", id)
		}
	}
	t.Logf("%d sent, %d confirmed, %d stored", len(sent), len(confirmed), len(stored))
}
