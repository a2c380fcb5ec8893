package web_test

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// scraped contains the samples of a metrics page, keyed by name and labels as written.
type scraped struct {
	values map[string]float64
	kinds  map[string]string // by family
}

var sampleLine = regexp.MustCompile(
	`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"\})? (\S+)$`,
)

// parseMetrics parses a page as strictly as the text format requires. Every family occurs once,
// with its HELP, its TYPE and then its samples. No sample occurs twice. A histogram's buckets are
// in order, their counts do not decrease, and the last count equals the histogram's count.
func parseMetrics(t *testing.T, text string) scraped {
	t.Helper()
	s := scraped{map[string]float64{}, map[string]string{}}
	if !strings.HasSuffix(text, "\n") {
		t.Fatal("the last line has no newline")
	}
	family, helped := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "# HELP "); ok {
			helped, _, _ = strings.Cut(name, " ")
			family = ""
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			known := slices.Contains([]string{"counter", "gauge", "histogram"}, kind)
			if name != helped || s.kinds[name] != "" || !known {
				t.Fatalf("%q follows the help of %q; its type before that was %q", line, helped, s.kinds[name])
			}
			if strings.HasSuffix(name, "_total") != (kind == "counter") {
				t.Errorf("%s is a %s, want counters, and only counters, to end in _total", name, kind)
			}
			family, s.kinds[name] = name, kind
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil || family == "" {
			t.Fatalf("%q is not a sample of %q", line, family)
		}
		own := m[1] == family
		if s.kinds[family] == "histogram" {
			own = slices.Contains([]string{"_bucket", "_sum", "_count"}, strings.TrimPrefix(m[1], family))
		}
		value, err := strconv.ParseFloat(m[4], 64)
		if key := strings.TrimSuffix(line, " "+m[4]); !own || err != nil || math.IsNaN(value) {
			t.Fatalf("got %q in the family %s (%v), want a line of the family with a number", line, family, err)
		} else if _, twice := s.values[key]; twice {
			t.Fatalf("%s occurs twice", key)
		} else {
			s.values[key] = value
		}
	}
	s.checkHistograms(t, text)
	return s
}

func (s scraped) checkHistograms(t *testing.T, text string) {
	t.Helper()
	bucket := regexp.MustCompile(`(?m)^(\w+)_bucket\{le="([^"]+)"\} (\S+)$`)
	type last struct{ bound, n float64 }
	at := map[string]last{}
	for _, m := range bucket.FindAllStringSubmatch(text, -1) {
		bound, err := strconv.ParseFloat(m[2], 64)
		n := s.values[m[1]+`_bucket{le="`+m[2]+`"}`]
		if before, any := at[m[1]]; err != nil || any && (bound <= before.bound || n < before.n) {
			t.Errorf(
				"%s: got bucket %v with count %v after bucket %v with count %v, want both to rise", m[1], bound, n,
				before.bound, before.n,
			)
		}
		at[m[1]] = last{bound, n}
	}
	for name, kind := range s.kinds {
		end, count := at[name], s.values[name+"_count"]
		if kind == "histogram" && (!math.IsInf(end.bound, 1) || end.n != count) {
			t.Errorf(
				"%s ends with bucket %v and count %v, want bucket +Inf and count %v", name, end.bound, end.n, count,
			)
		}
	}
}

// grew fails the test if a counter in before is missing now or has decreased.
func (s scraped) grew(t *testing.T, before scraped) {
	t.Helper()
	for key, was := range before.values {
		name, _, _ := strings.Cut(key, "{")
		sum := strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_bucket") ||
			strings.HasSuffix(name, "_count") || strings.HasSuffix(name, "_seconds_sum")
		if is, there := s.values[key]; !there || sum && is < was {
			t.Errorf("%s was %v and is now %v (present: %v)", key, was, is, there)
		}
	}
}
