package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream"
)

// again is the time to wait before a retry.
const again = 100 * time.Millisecond

// dial connects to NATS. It retries until ctx ends, unless the error is permanent.
func dial(ctx context.Context, cfg Config) (*nats.Conn, error) {
	options, err := options(cfg)
	if err != nil {
		return nil, err
	}
	for {
		nc, err := stream.Connect(cfg.URL, options...)
		if err == nil {
			return nc, nil
		}
		if err = explain(cfg, err); !passing(err) || stream.Pause(ctx, again) != nil {
			return nil, err
		}
	}
}

// options returns the options of the connection.
func options(cfg Config) ([]nats.Option, error) {
	list := []nats.Option{
		nats.RetryOnFailedConnect(false), // fail at once: the error of the first attempt explains the problem
		nats.IgnoreAuthErrorAbort(),      // continue: credentials may be renewed while the server runs
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				cfg.Log.Warn("lost the connection to NATS; reconnecting", "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { cfg.Log.Info("reconnected to NATS") }),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			if !errors.Is(err, nats.ErrSlowConsumer) { // do not log views that were not read in time
				cfg.Log.Warn("NATS", "error", err)
			}
		}),
	}
	for _, file := range []string{cfg.Creds, cfg.CA, cfg.Cert, cfg.Key} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return nil, err
		}
	}
	if (cfg.Cert == "") != (cfg.Key == "") {
		return nil, errors.New("the certificate and the key for NATS must be set together")
	}
	if cfg.Creds != "" {
		list = append(list, nats.UserCredentials(cfg.Creds))
	}
	if cfg.CA != "" {
		list = append(list, nats.RootCAs(cfg.CA))
	}
	if cfg.Cert != "" {
		list = append(list, nats.ClientCert(cfg.Cert, cfg.Key))
	}
	return append(list, cfg.Options...), nil
}

// errFixed marks permanent errors, for which retrying is useless.
type errFixed struct{ error }

func (e errFixed) Unwrap() error { return e.error }

func fixed(format string, args ...any) error { return errFixed{fmt.Errorf(format, args...)} }

// explain adds the likely cause to a connection error.
func explain(cfg Config, err error) error {
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var alert *net.OpError
	var header tls.RecordHeaderError
	at := Redacted(cfg.URL)
	switch {
	case errors.As(err, &dns):
		return fmt.Errorf("NATS at %s: no such host: %w", at, err)
	case errors.As(err, &unknown):
		return fixed("NATS at %s: its certificate is signed by an unknown authority: %w", at, err)
	case errors.As(err, &name), errors.As(err, &invalid):
		return fixed("NATS at %s: its certificate is not valid: %w", at, err)
	case errors.As(err, &alert) && alert.Op == "remote error": // a TLS alert
		return fixed("NATS at %s rejected this server's certificate: %w", at, err)
	case strings.Contains(err.Error(), "after TLS handshake"): // the alert may have been lost
		return fmt.Errorf("NATS at %s closed the connection, possibly because it rejected this server's "+
			"certificate: %w", at, err)
	case errors.As(err, &header), errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted):
		return fixed("NATS at %s: only one side of the connection uses TLS: %w", at, err)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired),
		errors.Is(err, nats.ErrAuthRevoked):
		return fixed("NATS at %s rejected the credentials: %w", at, err)
	case errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("NATS at %s: no server is listening: %w", at, err)
	}
	return fmt.Errorf("NATS at %s: %w", at, err)
}

// Redacted returns a list of NATS addresses without passwords and tokens, for logs and
// screens.
func Redacted(addresses string) string {
	var list []string
	for one := range strings.SplitSeq(addresses, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		switch {
		case err != nil:
			one = "(unparsable address)"
		case u.User != nil:
			if _, with := u.User.Password(); !with { // a token
				u.User = url.User("xxxxx")
			}
			one = u.Redacted()
		}
		list = append(list, one)
	}
	return strings.Join(list, ",")
}

// attempt is the timeout of a single request. Nodes without a leader drop requests, so they must be
// retried.
const attempt = 2 * time.Second

// storing waits until JetStream responds.
func storing(ctx context.Context, nc *nats.Conn) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	for {
		try, cancel := context.WithTimeout(ctx, attempt)
		_, err := js.AccountInfo(try)
		cancel()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, jetstream.ErrJetStreamNotEnabled),
			errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
			return fmt.Errorf("JetStream, which stores the logs, is not enabled in NATS "+
				"(start nats-server with a jetstream block): %w", err)
		case stream.Pause(ctx, again) != nil:
			return fmt.Errorf("JetStream is not responding: %w", err)
		}
	}
}

// passing reports whether an error might be temporary.
func passing(err error) bool {
	var fixed errFixed
	if errors.As(err, &fixed) {
		return false
	}
	api := (*jetstream.APIError)(nil)
	if errors.As(err, &api) {
		return api.Code == 503 || errors.Is(err, journal.ErrAway)
	}
	var network net.Error
	for _, is := range []error{
		journal.ErrAway, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrNoServers,
		nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded, nats.ErrStaleConnection,
		context.DeadlineExceeded, jetstream.ErrNoStreamResponse, os.ErrDeadlineExceeded,
	} {
		if errors.Is(err, is) {
			return true
		}
	}
	return errors.As(err, &network)
}
