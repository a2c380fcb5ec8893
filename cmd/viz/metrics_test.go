package main

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/cluster"
	"github.com/tokenbytoken/viz/web/metrics"
)

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// TestMetricsFlag: metrics are off by default. With the flag, they are served at their own address,
// which closes with the server. The README pages name all metrics and no others.
// Promise: Without -metrics, there are no metrics; with it, they have their own listener.
func TestMetricsFlag(t *testing.T) {
	off := start(t, "-addr", "127.0.0.1:0", "-no-open", "-data", "")
	off.out.wait(t, "Ctrl-C")
	code, _ := get(t, off.url+"/metrics")
	if code != http.StatusNotFound || strings.Contains(off.out.String(), "metrics") {
		t.Errorf("without the flag: %d; printed\n%s", code, off.out)
	}

	s := start(t, "-addr", "127.0.0.1:0", "-no-open", "-data", t.TempDir(), "-metrics", "127.0.0.1:0")
	s.out.wait(t, "Ctrl-C")
	at := regexp.MustCompile(`http://\S+/metrics`).FindString(s.out.String())
	if at == "" || strings.HasPrefix(at, s.url) {
		t.Fatalf("got the output\n%s\nwant an address for metrics that is not the server's", s.out)
	}
	status, body := get(t, at)
	if status != http.StatusOK {
		t.Fatalf("got %d, want %d: %s", status, http.StatusOK, body)
	}
	if !regexp.MustCompile(`(?m)^viz_database_bytes [1-9]`).MatchString(body) {
		t.Error("the database has no size")
	}
	var more metrics.Page // the metrics of a server in a cluster
	clusterFigures(&more, cluster.Stats{}, true)
	var text strings.Builder
	if _, err := more.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	body += text.String()
	_, section, _ := strings.Cut(readme(t), "\n## Metrics\n")
	section, _, _ = strings.Cut(section, "\n## ")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`((?:viz|process|go)_[a-z_]+)").FindAllStringSubmatch(section, -1) {
		named[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) `).FindAllStringSubmatch(body, -1) {
		if !named[m[1]] {
			t.Errorf("OPERATING.md does not name %s", m[1])
		}
		delete(named, m[1])
	}
	for name := range named {
		if !strings.HasPrefix(name, "process_") { // only Linux has these
			t.Errorf("OPERATING.md names %s, which is not served", name)
		}
	}

	taken := strings.TrimSuffix(strings.TrimPrefix(at, "http://"), "/metrics")
	f := try(t, nil, "", "serve", "-no-open", "-addr", "127.0.0.1:0", "-data", "", "-metrics", taken)
	if f.code != exitFailed || !strings.Contains(f.errors, "-metrics "+taken) {
		t.Errorf(
			"a taken address: exit %d, %q; want %d with %q", f.code, f.errors, exitFailed, "-metrics "+taken,
		)
	}
	if code := s.end(); code != exitDone {
		t.Errorf("exit %d, want %d: %s", code, exitDone, s.errors)
	}
	if _, err := http.Get(at); err == nil {
		t.Error("the metrics are still served after the server has ended")
	}
}
