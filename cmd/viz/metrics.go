package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/tokenbytoken/viz/web"
)

const metricsHelp = "serve metrics for Prometheus at /metrics on this address, such as 127.0.0.1:9464; " +
	"anyone who can reach it can see how busy the server is (default: off)"

// serveMetrics serves /metrics on the address in -metrics, if given, until server is closed. at is
// the URL, or "" without -metrics.
func (o *serveOptions) serveMetrics(
	ctx context.Context, f *flags, app *web.Server, log *slog.Logger,
) (server io.Closer, at string, err error) {
	if o.metrics == "" {
		return &http.Server{}, "", nil
	}
	listener, err := listen(ctx, o.metrics)
	if err != nil {
		return nil, "", fmt.Errorf("%s %s cannot be used: %w", f.called("metrics"), o.metrics, err)
	}
	address := newAddress(o.metrics, listener.Addr())
	s := newHTTP(app.Metrics(address.hosts(o.allowed(o.hosts))), log)
	s.MaxHeaderBytes = 0 // the default limit, since a scraper sends small headers
	go func() {
		_ = s.Serve(listener) // until it is closed
	}()
	return s, address.url() + "/metrics", nil
}
