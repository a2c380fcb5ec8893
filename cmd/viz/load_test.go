package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/load"
)

// TestLoad: a small load ends, every vote is counted once, and the report is
// complete, even if some phones never read.
func TestLoad(t *testing.T) {
	out := ok(t, "load", "-followers", "30", "-rooms", "2", "-deaf", "3", "-time", "2s", "-every", "50ms", "-json")
	var r load.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// Of 2 × 30 phones 3 never read: 57 vote, 3 times each.
	if v := r.Votes; v.Voters != 57 || v.Sent != 171 || v.Counted != 57 || v.Wrong != 0 || v.Receipts.N != 57 {
		t.Errorf("votes: %+v", v)
	}
	if r.Publish.N+r.Larger.N != r.Received || r.Received < r.Stages || r.Stages == 0 || r.Largest == 0 ||
		r.TokensPerSecond <= 0 {
		t.Errorf("stages: %+v", r)
	}
	if q := r.Publish; q.P50 <= 0 || q.P50 > q.P99 || q.P99 > q.Max {
		t.Errorf("quantiles: %+v", q)
	}
	text := r.Text()
	for _, want := range []string{
		"2 rooms of 30 phones, 3 of which never read", "57 phones voted", "171 messages, 57 votes counted",
		"up to 16 KiB: p50",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report %q lacks %q", text, want)
		}
	}
}
