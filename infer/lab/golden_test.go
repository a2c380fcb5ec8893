package lab

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// timed matches the values that golden files omit because they differ from run to run: times and
// values derived from them.
var timed = regexp.MustCompile(
	`(^|_)(ms|ns)(_|$)|^(ms|gaps_ms|noise|took_ns|rate|r2|ratio|speed_up|predicted|c|v|best_gamma|` +
		`per_token_ms|say|seconds_each|cost_each|most_a_day|break_even_a_day|` +
		`weight_bytes|cached_bits|recomputed_bits)$`,
)

// TestGoldenReports checks the data behind every chart: each lab's result on the bundled model,
// with small values. go test ./infer/lab -run Golden -update rewrites the golden files.
func TestGoldenReports(t *testing.T) {
	for _, l := range All() {
		name := l.Info(terms.English).Name
		_, r := result[any](t, name, small[name])
		var got any
		if err := json.Unmarshal([]byte(asJSON(t, r.Result)), &got); err != nil {
			t.Fatal(err)
		}
		got = untimed(got)
		path := filepath.Join("testdata", name+".json")
		if *update {
			text, err := json.MarshalIndent(got, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v; run with -update to write it", err)
		}
		var want any
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&want); err != nil {
			t.Fatal(err)
		}
		alike(t, name, got, want)
	}
}

// untimed removes times, and polynomials fitted to times, from decoded JSON.
func untimed(v any) any {
	switch x := v.(type) {
	case map[string]any:
		if x["of"] == "ms" {
			return nil
		}
		kept := map[string]any{}
		for k, item := range x {
			if !timed.MatchString(k) {
				kept[k] = untimed(item)
			}
		}
		return kept
	case []any:
		for i := range x {
			x[i] = untimed(x[i])
		}
	}
	return v
}

// alike compares two decoded JSON values and reports the first few differences.
func alike(t *testing.T, at string, got, want any) {
	t.Helper()
	const most = 8
	found := differences(nil, at, got, want)
	for _, d := range found[:min(len(found), most)] {
		t.Error(d)
	}
	if n := len(found) - most; n > 0 {
		t.Errorf("%s: and %d more differences, want 0", at, n)
	}
}

// differences lists all differences. Integers must be equal. Other numbers may differ slightly,
// since another processor may add float32 values in a different order.
func differences(list []string, at string, got, want any) []string {
	differ := func() []string {
		return append(list, fmt.Sprintf("%s: %.200s, want %.200s", at, fmt.Sprint(got), fmt.Sprint(want)))
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return differ()
		}
		for _, k := range slices.Sorted(maps.Keys(w)) {
			list = differences(list, at+"."+k, g[k], w[k])
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return differ()
		}
		for i := range w {
			list = differences(list, fmt.Sprintf("%s[%d]", at, i), g[i], w[i])
		}
	case float64:
		g, ok := got.(float64)
		whole := g == math.Trunc(g) && w == math.Trunc(w)
		if !ok || whole && g != w || !(math.Abs(g-w) <= 1e-3*math.Max(1, math.Abs(w))) {
			return differ()
		}
	default:
		if got != want {
			return differ()
		}
	}
	return list
}
