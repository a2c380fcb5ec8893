package cluster

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// TestStartsBeforeThereIsALeader: a server that starts before the NATS nodes have elected a
// leader repeats its request, because the first one never gets a reply.
func TestStartsBeforeThereIsALeader(t *testing.T) {
	fixture.Long(t)
	s := streamtest.Node(t, "", func(o *server.Options) { o.JetStream = false })
	nc, err := nats.Connect("", nats.InProcessServer(s))
	must(t, err)
	defer nc.Close()
	var asked atomic.Int32
	_, err = nc.Subscribe("$JS.API.INFO", func(m *nats.Msg) {
		if asked.Add(1) > 1 { // there is a leader now
			_ = m.Respond([]byte(`{"type":"io.nats.jetstream.api.v1.account_info_response"}`))
		}
	})
	must(t, err)
	must(t, nc.Flush())
	ctx, cancel := context.WithTimeout(t.Context(), DefaultPatience)
	defer cancel()
	must(t, storing(ctx, nc))
	if n := asked.Load(); n != 2 {
		t.Errorf("the server sent %d requests, want 2", n)
	}
}
