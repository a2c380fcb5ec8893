// Package streamtest starts in-process NATS servers for tests that store data in NATS.
package streamtest

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// patience is the longest time to wait for a server to start. Only failing tests wait that long.
const patience = 2 * time.Minute

// Node starts a server that stores its data in a folder and stops when the test ends. It can be
// reached only from within the process, unless a change to its options makes it listen.
func Node(t testing.TB, dir string, changes ...func(*server.Options)) *server.Server {
	t.Helper()
	fixture.Spend(fixture.Servers, 1)
	o := &server.Options{
		DontListen: true, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true, SyncAlways: true,
	}
	for _, change := range changes {
		change(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { Stop(s) })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the NATS server did not start in time")
	}
	return s
}

// Listening makes a server listen on a port of this machine, or on any free port if port is
// -1.
func Listening(port int) func(*server.Options) {
	return func(o *server.Options) { o.DontListen, o.Host, o.Port = false, "127.0.0.1", port }
}

// Stop stops a server and waits until it has ended.
func Stop(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}
