//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// natsProgram is the nats-server program, built once from the module's version.
var natsProgram = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("VIZ_NATS_SERVER"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "viz-nats-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "nats-server")
	fixture.Spend(fixture.Programs, 1)
	out, err := exec.Command("go", "build", "-o", path, "github.com/nats-io/nats-server/v2").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building nats-server: %w: %s", err, out)
	}
	return path, nil
})

// natsNodes are three NATS processes with the configuration files of examples/cluster. The nodes
// reach each other over lines that a test can cut or slow down.
type natsNodes struct {
	t       *testing.T
	program string
	dirs    [3]string
	clients [3]string      // addresses for servers
	routes  [3]string      // addresses for the other nodes
	between [3][3]*badLine // from one node to another
	running [3]*exec.Cmd   // nil while a node is down
	stores  map[int]string // folders of the nodes whose data is not stored below dirs
	full    int            // number of disk-full messages in the small-disk node's log when it last started
	net     string         // the first three parts of all addresses
	nc      *nats.Conn     // the test's own connection
	js      jetstream.JetStream
}

// newNatsNodes starts the nodes and waits until they can store data.
func newNatsNodes(ctx context.Context, t *testing.T, stores map[int]string) *natsNodes {
	t.Helper()
	program, err := natsProgram()
	if err != nil {
		t.Fatal(err)
	}
	// These addresses are reserved for the nodes, so that no outgoing connection can take one of
	// their ports.
	n := &natsNodes{
		t: t, program: program, stores: stores, net: fmt.Sprintf("127.%d.%d.", 1+rand.IntN(250), 1+rand.IntN(250)),
	}
	for i := range n.dirs {
		n.dirs[i] = t.TempDir()
		n.clients[i], n.routes[i] = n.free(i+1), n.free(i+1)
	}
	for i := range n.between {
		for j := range n.between[i] {
			n.between[i][j] = newBadLine(t, n.routes[j])
		}
	}
	t.Cleanup(func() {
		for i := range n.running {
			n.kill(i)
		}
	})
	for i := range n.dirs {
		n.configure(i)
		n.start(i)
	}
	// The third node starts last; the other two do not need it.
	n.nc, err = nats.Connect(n.urls(n.clients[:]), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.nc.Close)
	if n.js, err = jetstream.New(n.nc); err != nil {
		t.Fatal(err)
	}
	n.wait(ctx, "for the nodes to store data", func() bool {
		ctx, cancel := context.WithTimeout(ctx, asking)
		defer cancel()
		_, err := n.js.AccountInfo(ctx)
		return err == nil
	})
	return n
}

// free returns one of the cluster's addresses with a free port.
func (n *natsNodes) free(last int) string {
	n.t.Helper()
	l, err := net.Listen("tcp", fmt.Sprint(n.net, last, ":0"))
	if err != nil {
		n.t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// configure writes a node's configuration: the example's files, with the addresses of this cluster.
func (n *natsNodes) configure(i int) {
	n.t.Helper()
	for _, name := range []string{fmt.Sprintf("nats%d.conf", i+1), "routes.conf", "node.conf"} {
		b, err := os.ReadFile(filepath.Join(examplesCluster, name))
		if err != nil {
			n.t.Fatal(err)
		}
		store := filepath.Join(n.dirs[i], "store")
		if own, ok := n.stores[i]; ok {
			store = own
		}
		swap := []string{
			"/var/lib/nats", store, "http: 127.0.0.1:8222", "http: 127.0.0.1:-1",
			fmt.Sprintf("listen: 10.0.0.%d:6222", i+1), "listen: " + n.routes[i],
			// The nodes must not advertise addresses with which servers or other nodes could bypass
			// the lines.
			"include routes.conf", "include routes.conf\n\tno_advertise: true\n\tadvertise: \"127.0.0.1:1\"",
		}
		for j := range n.clients {
			swap = append(
				swap, fmt.Sprintf("10.0.0.%d:4222", j+1), n.clients[j], fmt.Sprintf("10.0.0.%d:6222", j+1),
				n.between[i][j].addr,
			)
		}
		text := strings.NewReplacer(swap...).Replace(string(b))
		if err := os.WriteFile(filepath.Join(n.dirs[i], name), []byte(text), 0o600); err != nil {
			n.t.Fatal(err)
		}
	}
}

// urls returns the NATS URLs of the addresses, with the example's password.
func (n *natsNodes) urls(addrs []string) string {
	var list []string
	for _, a := range addrs {
		list = append(list, "nats://viz:PASSWORD-OF-VIZ@"+a)
	}
	return strings.Join(list, ",")
}

// start starts a node on the data that it has stored.
func (n *natsNodes) start(i int) {
	n.t.Helper()
	log, err := os.OpenFile(filepath.Join(n.dirs[i], "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		n.t.Fatal(err)
	}
	defer log.Close()
	c := exec.Command(n.program, "-c", filepath.Join(n.dirs[i], fmt.Sprintf("nats%d.conf", i+1)))
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.running[i] = c
}

// kill ends a node as a power cut would.
func (n *natsNodes) kill(i int) {
	if c := n.running[i]; c != nil {
		_ = c.Process.Kill()
		_ = c.Wait()
		n.running[i] = nil
	}
}

// isolate cuts a node off from the other two.
func (n *natsNodes) isolate(i int) {
	for j := range n.between {
		n.between[i][j].stop()
		n.between[j][i].stop()
	}
}

// join reconnects a node to the other two.
func (n *natsNodes) join(i int) {
	n.t.Helper()
	for j := range n.between {
		for _, l := range []*badLine{n.between[i][j], n.between[j][i]} {
			if l.down() {
				if err := l.start(); err != nil {
					n.t.Fatal(err)
				}
			}
		}
	}
}

// whole waits until every stream is complete on all nodes.
func (n *natsNodes) whole(ctx context.Context) {
	n.t.Helper()
	lacks := "nothing was seen yet"
	defer func() {
		if lacks != "" {
			n.t.Log("the streams lack: ", lacks)
		}
	}()
	n.wait(ctx, "for all nodes to have all streams", func() bool {
		lacks = n.lacks(ctx)
		return lacks == ""
	})
}

// asking is the timeout for a request to the nodes. Nodes without a leader drop requests.
const asking = 2 * time.Second

// lacks describes the first stream that is not complete on all nodes. It returns "" if every stream
// is complete.
func (n *natsNodes) lacks(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	list := n.js.ListStreams(ctx)
	for s := range list.Info() {
		c := s.Cluster
		if c == nil || c.Leader == "" || len(c.Replicas) != 2 {
			return fmt.Sprintf("%s: %+v", s.Config.Name, c)
		}
		for _, r := range c.Replicas {
			if !r.Current || r.Offline {
				return fmt.Sprintf("%s, which %s leads: %+v", s.Config.Name, c.Leader, *r)
			}
		}
	}
	if err := list.Err(); err != nil {
		return err.Error()
	}
	return ""
}

// wait waits until `is` returns true. If that takes too long, wait logs the nodes' output and fails
// the test.
func (n *natsNodes) wait(ctx context.Context, what string, is func() bool) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, browser.Patience)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for !is() {
		select {
		case <-look.C:
		case <-ctx.Done():
			n.showLogs()
			n.t.Fatal("still waiting ", what)
		}
	}
}

// showLogs logs the last lines of each node's log.
func (n *natsNodes) showLogs() {
	for i, dir := range n.dirs {
		b, _ := os.ReadFile(filepath.Join(dir, "log"))
		n.t.Logf("node %d: …%s", i+1, b[max(0, len(b)-3000):])
	}
}
