package labs_test

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/browser"
)

func load(open func() (*checkpoint.Checkpoint, error)) func() (*infer.Model, error) {
	return sync.OnceValues(func() (*infer.Model, error) {
		c, err := open()
		if err != nil {
			return nil, err
		}
		return infer.Load(c)
	})
}

var target, draft = load(bundled.Target), load(bundled.Draft)

// serve runs the whole server, policy headers and all, and returns its URL.
func serve(t *testing.T) string {
	t.Helper()
	big, err := target()
	if err != nil {
		t.Fatal(err)
	}
	small, err := draft()
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewUnstartedServer(nil)
	s, err := web.New(web.Config{
		Model: big, Draft: small, AllowedHosts: []string{ts.Listener.Addr().String()},
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ts.Config.Handler = s.Handler()
	ts.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(io.Discard, nil), slog.LevelError)
	ts.Start()
	t.Cleanup(func() {
		ts.CloseClientConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		ts.Close()
	})
	return ts.URL
}

// screens are the sizes and themes that every page must work in.
func screens() map[string]browser.Screen {
	all := map[string]browser.Screen{}
	for name, size := range map[string]browser.Screen{"390": browser.Phone, "1440": browser.Laptop, "1920": browser.Desktop} {
		for _, theme := range []string{"light", "dark"} {
			s := size
			s.Dark, s.ReducedMotion = theme == "dark", true
			all[name+"-"+theme] = s
		}
	}
	return all
}
