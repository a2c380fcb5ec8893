package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/load"
)

// TestLoadReportIsComplete: a small load test finishes, every vote is counted once, and the report
// is complete, even if some phones never read.
// Promise: `viz load` simulates a class, counts every vote once and prints a complete report.
func TestLoadReportIsComplete(t *testing.T) {
	fixture.Long(t)
	out := ok(t, "load", "-followers", "30", "-rooms", "2", "-deaf", "3", "-time", "2s", "-every", "50ms", "-json")
	var r load.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// Of 2 × 30 phones, 3 never read; the other 57 vote 3 times each.
	if v := r.Votes; v.Voters != 57 || v.Sent != 171 || v.Counted != 57 || v.Wrong != 0 || v.Receipts.N != 57 {
		t.Errorf("votes: got %+v, want Voters = 57, Sent = 171, Counted = 57, Wrong = 0, Receipts.N = 57", v)
	}
	if r.Publish.N+r.Larger.N != r.Received || r.Received < r.Stages || r.Stages == 0 || r.Largest == 0 ||
		r.TokensPerSecond <= 0 {
		t.Errorf(
			"stages: got %+v, want r.Publish.N+r.Larger.N = %d, Received at least %d, Stages not 0, "+
				"Largest not 0, TokensPerSecond more than 0",
			r, r.Received, r.Stages,
		)
	}
	if q := r.Publish; q.P50 <= 0 || q.P50 > q.P99 || q.P99 > q.Max {
		t.Errorf("quantiles: got %+v, want P50 more than 0 and at most %v, P99 at most %v", q, q.P99, q.Max)
	}
	if q := r.Phone; q.N == 0 || q.P50 < r.Publish.P50 || q.P50 > q.P99 || q.P99 > q.Max {
		t.Errorf(
			"from press to phone: got %+v; from publishing: %+v; want N not 0, P50 at least %v and at most "+
				"%v, P99 at most %v",
			q, r.Publish, r.Publish.P50, q.P99, q.Max,
		)
	}
	text := r.Text(terms.English)
	for _, want := range []string{
		"2 rooms of 30 phones, 3 of which never read", "57 phones voted", "171 messages, 57 votes counted",
		"up to 16 KiB: p50", "to phone: p50",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report %q lacks %q", text, want)
		}
	}
}

// TestLoadAlternatesBetweenServers: the phones connect to all addresses in turn. In this test, both
// addresses lead to one server; in a cluster, they lead to different servers with the same classes.
func TestLoadAlternatesBetweenServers(t *testing.T) {
	fixture.Long(t)
	ways := [2]*badLine{newBadLine(t, ""), newBadLine(t, "")}
	s := start(t, "-addr", "127.0.0.1:0", "-no-open", "-allow-host", ways[0].addr+","+ways[1].addr)
	defer s.end()
	for _, w := range ways {
		w.lead(strings.TrimPrefix(s.url, "http://"))
	}
	out := ok(
		t, "load", "-url", "http://"+ways[0].addr+", http://"+ways[1].addr, "-followers", "20", "-time", "1s",
		"-every", "50ms", "-json",
	)
	var r load.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Votes.Counted != 20 {
		t.Errorf("got %v: %s; want no error, r.Votes.Counted = 20", err, out)
	}
	for i, w := range ways {
		w.mu.Lock()
		if w.joined < 20 { // 10 phones, each with a visit and a socket
			t.Errorf("address %d got %d connections from 20 phones, want at least 20", i, w.joined)
		}
		w.mu.Unlock()
	}
}

// TestLoadReportsFileLimit: if the phones need more open files than this process may have, the load
// test is refused before the first phone connects, with a message that states the limit needed.
func TestLoadReportsFileLimit(t *testing.T) {
	o := loadOptions{}
	o.Rooms, o.Followers = 2, mostFiles()
	if mostFiles() == math.MaxInt32 {
		t.Skip("this system has no limit")
	}
	// Each phone needs one file, or two if the server is in this process.
	for urls, want := range map[string]int{"http://127.0.0.1:8080": 2*o.Followers + 100, "": 4*o.Followers + 100} {
		o.URLs = nil
		if urls != "" {
			o.URLs = []string{urls}
		}
		if err := o.checkFiles(); err == nil || !strings.Contains(err.Error(), fmt.Sprint("ulimit -n ", want, ")")) {
			t.Errorf("%q: %v, want ulimit -n %d", urls, err, want)
		}
	}
	o.Rooms, o.Followers = 1, 1
	if err := o.checkFiles(); err != nil {
		t.Error(err)
	}
}
