package metrics

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

func written(p *Page) string {
	var b strings.Builder
	if _, err := p.WriteTo(&b); err != nil {
		panic(err)
	}
	return b.String()
}

// TestPageFollowsTheTextFormat compares a page with text in the Prometheus format that was
// written by hand.
func TestPageFollowsTheTextFormat(t *testing.T) {
	t.Parallel()
	h := NewHistogram(time.Millisecond, 100*time.Millisecond)
	for _, d := range []time.Duration{
		500 * time.Microsecond, time.Millisecond, 2 * time.Millisecond, 96500 * time.Microsecond, time.Second,
	} {
		h.Observe(d) // 0.5 + 1 + 2 + 96.5 + 1000 = 1100 ms
	}
	p := &Page{}
	p.Gauge("viz_rooms", "Rooms.", 3)
	p.Counter("viz_big_total", "Large\nand \\.", 1<<40)
	p.Counters("viz_odd_total", "Odd.", "what", Value{Label: "a \"b\" \\\n", Value: math.Inf(1)}, Value{"c", 0.25})
	p.Histogram("viz_wait_seconds", "Waits.", h)
	const want = `# HELP viz_rooms Rooms.
# TYPE viz_rooms gauge
viz_rooms 3
# HELP viz_big_total Large\nand \\.
# TYPE viz_big_total counter
viz_big_total 1.099511627776e+12
# HELP viz_odd_total Odd.
# TYPE viz_odd_total counter
viz_odd_total{what="a \"b\" \\\n"} +Inf
viz_odd_total{what="c"} 0.25
# HELP viz_wait_seconds Waits.
# TYPE viz_wait_seconds histogram
viz_wait_seconds_bucket{le="0.001"} 2
viz_wait_seconds_bucket{le="0.1"} 4
viz_wait_seconds_bucket{le="+Inf"} 5
viz_wait_seconds_sum 1.1
viz_wait_seconds_count 5
`
	if got := written(p); got != want {
		t.Errorf("the page is\n%s\nwant\n%s", got, want)
	}
}

// TestNamesAreUsedOnce: adding a family panics if the family was already added or if the format
// does not allow its name.
func TestNamesAreUsedOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"viz_rooms", "Viz", "viz-rooms", "", "viz_é"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was accepted", name)
				}
			}()
			p := &Page{}
			p.Gauge("viz_rooms", "Rooms.", 1)
			p.Gauge(name, "Again.", 1)
		}()
	}
}

// TestProcessMetrics: the metrics of the process are present and plausible.
func TestProcessMetrics(t *testing.T) {
	t.Parallel()
	p := &Page{}
	p.Process()
	text := written(p)
	for _, name := range []string{"process_start_time_seconds", "go_goroutines", "go_memory_bytes"} {
		if !strings.Contains(text, "\n"+name+" ") {
			t.Errorf("%s is missing from\n%s", name, text)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	if n, ok := resident(); !ok || n < 1<<20 || n > 1<<40 {
		t.Errorf("resident memory: got %d bytes, %v; want at least 1<<20 and at most 1<<40, true", n, ok)
	}
	if n, ok := descriptors(); !ok || n < 3 || n > 1<<20 {
		t.Errorf("open descriptors: got %d, %v; want at least 3 and at most 1<<20, true", n, ok)
	}
}
