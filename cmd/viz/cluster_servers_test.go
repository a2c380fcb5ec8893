//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// vizServers are three viz processes in one cluster, and the ways to reach them.
type vizServers struct {
	t       *testing.T
	nodes   *natsNodes
	secret  string
	dirs    [3]string
	addrs   [3]string
	metrics [3]string
	lines   [3][3]*badLine // from a server to a NATS node
	running [3]*exec.Cmd
	errors  [3]*strings.Builder
	ready   [3]atomic.Bool
	clocks  [3]time.Duration // how far a server's clock is ahead when it starts
	ways    []*way
}

// newVizServers starts the servers, each with its clock ahead by the given time, and opens the
// given number of ways for visitors to reach them.
func newVizServers(
	ctx context.Context, t *testing.T, nodes *natsNodes, ways int, clocks [3]time.Duration,
) *vizServers {
	t.Helper()
	v := &vizServers{t: t, nodes: nodes, clocks: clocks, secret: filepath.Join(t.TempDir(), "secret")}
	if err := os.WriteFile(v.secret, []byte(strings.Repeat("0123456789abcdef", 4)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range ways {
		v.ways = append(v.ways, newWay(t, v, i%3))
	}
	for i := range v.addrs {
		v.dirs[i], v.addrs[i], v.metrics[i] = t.TempDir(), nodes.free(11+i), nodes.free(11+i)
		for j := range v.lines[i] {
			v.lines[i][j] = newBadLine(t, nodes.clients[j])
		}
	}
	looking, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() {
		stop()
		wg.Wait()
		for i := range v.running {
			v.kill(i)
		}
	})
	for i := range v.addrs {
		v.start(i)
		wg.Go(func() { v.look(looking, i) })
	}
	v.allReady(ctx)
	return v
}

// start starts a server. Each server lists the NATS nodes in a different order.
func (v *vizServers) start(i int) {
	v.t.Helper()
	var to, hosts []string
	for j := range 3 {
		to = append(to, v.lines[i][(i+j)%3].addr)
	}
	for _, w := range v.ways {
		hosts = append(hosts, w.addr)
	}
	viz, pipe, errors := processIn(
		v.t, []string{wrongClock + "=" + v.clocks[i].String()},
		"serve", "-no-open", "-addr", v.addrs[i], "-data", v.dirs[i], "-metrics", v.metrics[i],
		"-cluster", v.nodes.urls(to), "-cluster-secret", v.secret, "-allow-host", strings.Join(hosts, ","),
	)
	out := bufio.NewReader(pipe)
	if _, err := out.ReadString('\n'); err != nil {
		_ = viz.Wait()
		v.t.Fatalf("server %d printed nothing: %v, %s", i+1, err, errors)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	v.running[i], v.errors[i] = viz, errors
}

// kill ends a server as a power cut would.
func (v *vizServers) kill(i int) {
	if c := v.running[i]; c != nil {
		_ = c.Process.Kill()
		_ = c.Wait()
		v.running[i] = nil
		v.ready[i].Store(false)
	}
}

// look checks repeatedly whether a server is ready, as a load balancer does.
func (v *vizServers) look(ctx context.Context, i int) {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		res, err := client.Get("http://" + v.addrs[i] + "/readyz")
		if err == nil {
			res.Body.Close()
		}
		v.ready[i].Store(err == nil && res.StatusCode == http.StatusOK)
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// allReady waits until all servers are ready.
func (v *vizServers) allReady(ctx context.Context) {
	v.t.Helper()
	v.nodes.wait(ctx, "for all servers to be ready", func() bool {
		return v.ready[0].Load() && v.ready[1].Load() && v.ready[2].Load()
	})
}

// metric reads a metric of a running server.
func (v *vizServers) metric(i int, name string) (n int, err error) {
	res, err := http.Get("http://" + v.metrics[i] + "/metrics")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			_, err := fmt.Sscan(value, &n)
			return n, err
		}
	}
	return 0, fmt.Errorf("server %d has no metric %s", i+1, name)
}

// owner waits until one server owns the only room, and returns that server.
func (v *vizServers) owner(ctx context.Context) (owner int) {
	v.t.Helper()
	v.nodes.wait(ctx, "for one server to own the room", func() bool {
		owners := 0
		for i := range v.running {
			if v.running[i] == nil {
				continue
			}
			n, err := v.metric(i, roomsOwned)
			if err != nil {
				v.t.Fatal(err)
			}
			if owners += n; n > 0 {
				owner = i
			}
		}
		return owners == 1
	})
	return owner
}

// roomsOwned is the metric for the number of rooms that a server owns.
const roomsOwned = "viz_cluster_rooms_owned"

// apart cuts a server off from all NATS nodes, or reconnects it.
func (v *vizServers) apart(i int, apart bool) {
	v.t.Helper()
	for _, l := range v.lines[i] {
		if apart {
			l.stop()
		} else if l.down() {
			if err := l.start(); err != nil {
				v.t.Fatal(err)
			}
		}
	}
}

// way forwards one visitor's connections as a load balancer does: to the preferred server or, if
// that is not ready, to the next ready server.
type way struct {
	addr    string
	prefers int
	servers *vizServers

	mu    sync.Mutex
	conns map[net.Conn]int // both ends of each connection, with the server
	over  bool             // no more connections are accepted
	wg    sync.WaitGroup
}

func newWay(t *testing.T, v *vizServers, prefers int) *way {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &way{addr: l.Addr().String(), prefers: prefers, servers: v, conns: map[net.Conn]int{}}
	w.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.wg.Go(func() { w.join(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		w.mu.Lock()
		w.over = true
		w.mu.Unlock()
		w.cut(func(int) bool { return true })
		w.wg.Wait()
	})
	return w
}

// join forwards a connection.
func (w *way) join(visitor net.Conn) {
	defer visitor.Close()
	for k := range w.servers.addrs {
		i := (w.prefers + k) % len(w.servers.addrs)
		if !w.servers.ready[i].Load() {
			continue
		}
		server, err := net.DialTimeout("tcp", w.servers.addrs[i], time.Second)
		if err != nil {
			continue
		}
		w.mu.Lock()
		if w.over {
			w.mu.Unlock()
			server.Close()
			return
		}
		w.conns[visitor], w.conns[server] = i, i
		w.mu.Unlock()
		w.wg.Go(func() {
			_, _ = io.Copy(server, visitor)
			server.Close()
		})
		_, _ = io.Copy(visitor, server)
		server.Close()
		w.mu.Lock()
		delete(w.conns, visitor)
		delete(w.conns, server)
		w.mu.Unlock()
		return
	}
}

// cut ends the connections to every server for which the function returns true.
func (w *way) cut(which func(server int) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c, i := range w.conns {
		if which(i) {
			c.Close()
		}
	}
}

// server returns a server that the visitor is connected to, the preferred one if possible.
func (w *way) server() (at int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at = range w.conns {
		if at == w.prefers {
			break
		}
	}
	return at
}

// home reports whether there is at least one connection and all connections lead to the preferred
// server.
func (w *way) home() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, i := range w.conns {
		if i != w.prefers {
			return false
		}
	}
	return len(w.conns) > 0
}
