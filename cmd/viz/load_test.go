package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestLoad: a small load comes to its end, every vote is counted once, and the
// report is whole, with phones that never read among the others.
func TestLoad(t *testing.T) {
	out := ok(t, "load", "-followers", "30", "-rooms", "2", "-deaf", "3", "-time", "2s", "-every", "50ms", "-json")
	var r loadReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// Of 2 × 30 phones 3 are deaf: 57 vote, 3 times each.
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
	text := r.text()
	for _, want := range []string{
		"2 rooms of 30 phones, 3 of which never read", "57 phones voted", "171 messages, 57 votes counted",
		"up to 16 KiB: p50",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report %q lacks %q", text, want)
		}
	}
}

// TestQuantiles: of 200 values 2 exceed the 99% quantile: the 198th of 1 ms to
// 200 ms is 198 ms, the 100th 100 ms. Of one value all quantiles are that.
func TestQuantiles(t *testing.T) {
	var list []time.Duration
	for i := range 200 {
		list = append(list, time.Duration(200-i)*time.Millisecond)
	}
	if got, want := quantilesOf(list), (quantiles{200, 100, 198, 200}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := quantilesOf(list[:1]), (quantiles{1, 200, 200, 200}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := quantilesOf(nil).String(); got != "none" {
		t.Errorf("%q, want none", got)
	}
}

// TestReadFrame: the first fields of a message are found as they are written;
// a message that is meant for one phone has no time.
func TestReadFrame(t *testing.T) {
	f, err := readFrame([]byte(`{"seq":12,"at":1700000000000001,"ack":0,"data":{"at":5}}`))
	if err != nil || f.seq != 12 || f.at.UnixMicro() != 1_700_000_000_000_001 {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err = readFrame([]byte(`{"seq":7,"ack":3}`)); err != nil || f.seq != 7 || !f.at.IsZero() {
		t.Errorf("%+v, %v", f, err)
	}
	for _, bad := range []string{
		"", "{}", `{"seq":}`, `{"seq":-1,"ack":1}`, `{"seq":1,"at":x,"ack":1}`, `{"ack":1,"seq":2}`,
	} {
		if _, err := readFrame([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
