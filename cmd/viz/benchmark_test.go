package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

var quickBench = []string{"bench", "-time", "1us", "-threads", "1", "-texts", "1,2", "-n", "3", "-prompt-tokens", "5"}

// TestBenchJSON: viz bench -json has a row for each case, with positive rates.
func TestBenchJSON(t *testing.T) {
	t.Parallel()
	var r benchReport
	if err := json.Unmarshal([]byte(ok(t, append(quickBench, "-json")...)), &r); err != nil {
		t.Fatal(err)
	}
	// 2 quantizations × (kernel, prefill and decode of 1 and of 2 texts).
	if len(r.Speed) != 10 || r.Model != "tiny-5M" || r.Kernel == "" || r.CPUs < 1 {
		t.Fatalf("got %+v, want len(Speed) = 10, Model = %q, Kernel not empty, CPUs at least 1", r, "tiny-5M")
	}
	for _, row := range r.Speed {
		if row.Rate <= 0 || row.GFLOPS <= 0 || row.Threads != 1 {
			t.Errorf("got %+v, want Rate more than 0, GFLOPS more than 0, Threads = 1", row)
		}
	}
}

// TestBenchTableAligns: below its headers, the table has one line for each row, and all lines have
// the same width.
func TestBenchTableAligns(t *testing.T) {
	_, table, found := strings.Cut(ok(t, append(quickBench, "-quants", "int8")...), "\n\n")
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if !found || len(lines) != 6 {
		t.Fatalf("%d lines, want the headers and 5 rows:\n%s", len(lines), table)
	}
	for _, line := range lines {
		if width(line) != width(lines[0]) {
			t.Errorf("a line is not as wide as the headers:\n%s", table)
		}
	}
}

func TestBenchAccuracy(t *testing.T) {
	fixture.Long(t)
	got := ok(t, "bench", "-accuracy")
	for _, want := range []string{"mean KL", "int8   written", "int8   generated"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestQuantFlag: int8 can be selected, and an invalid value is explained.
func TestQuantFlag(t *testing.T) {
	if got := ok(
		t, "trace", "-prompt", "Once upon a time", "-n", "1", "-temp", "0", "-quant", "int8",
	); !strings.Contains(got, "tiny-5M") {
		t.Errorf("the trace lacks the model:\ngot %s\nwant it to contain %q", got, "tiny-5M")
	}
}
