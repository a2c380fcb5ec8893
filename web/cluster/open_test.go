package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// listening starts a NATS server on a free port, and returns its address.
func listening(t *testing.T, o server.Options) string {
	t.Helper()
	s := streamtest.Node(t, t.TempDir(), func(x *server.Options) {
		o.NoSigs, o.NoLog, o.StoreDir = true, true, x.StoreDir
		*x = o
		streamtest.Listening(server.RANDOM_PORT)(x)
	})
	return s.Addr().(*net.TCPAddr).AddrPort().String()
}

// TestOpenExplainsFailures: a server that cannot join reports why.
// Promise: A server that cannot join a cluster says why.
func TestOpenExplainsFailures(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(nil) // only its certificate is used
	certificate := web.TLS.Certificates[0]
	web.Close()
	// Nothing listens on the client port of a connection, and no server can take that port.
	peer, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer peer.Close()
	taken, err := net.Dial("tcp", peer.Addr().String())
	must(t, err)
	defer taken.Close()
	nobody := taken.LocalAddr().String()
	secure := listening(t, server.Options{
		JetStream: true, TLS: true, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
	})
	plain := listening(t, server.Options{JetStream: true})
	short := func(c Config) Config { c.Patience = 300 * time.Millisecond; return c }
	for name, x := range map[string]struct {
		cfg  Config
		want string
	}{
		"no host":      {short(Config{URL: "nats://no-such-host.invalid"}), ": no such host: "},
		"nobody":       {short(Config{URL: "nats://" + nobody}), "no server is listening"},
		"an authority": {Config{URL: "tls://" + secure}, "signed by an unknown authority"},
		"no TLS there": {Config{URL: "tls://" + plain}, "only one side of the connection uses TLS"},
		"a password": {
			Config{URL: "nats://" + listening(t, server.Options{JetStream: true, Username: "u", Password: "p"})},
			"rejected the credentials",
		},
		"JetStream":   {Config{URL: "nats://" + listening(t, server.Options{})}, "is not enabled in NATS"},
		"no file":     {Config{URL: "nats://" + plain, Creds: filepath.Join(t.TempDir(), "gone")}, "no such file"},
		"half a pair": {Config{URL: "nats://" + plain, Cert: "open_test.go"}, "must be set together"},
		"a small limit": {
			Config{URL: "nats://" + listening(t, server.Options{JetStream: true, MaxPayload: 100 << 10})},
			"max_payload",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Open(t.Context(), x.cfg)
			if err == nil {
				_ = c.Close()
				t.Fatal("the server has joined, want an error")
			}
			if !strings.Contains(err.Error(), x.want) {
				t.Errorf("got error %q, want it to contain %q", err, x.want)
			}
		})
	}
	c, err := Open(t.Context(), Config{URL: fmt.Sprintf("nats://%s,nats://%s", nobody, plain)})
	if err = errors.Join(err, c.Ready(), c.Close()); err != nil {
		t.Errorf("with one of two addresses reachable: %v", err)
	}
}
