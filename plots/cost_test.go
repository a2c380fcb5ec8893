package plots

import (
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// run is the cost that infer/cost calculates for a 7-token prompt and 12 more tokens on a small
// model with 6 layers, width 192 and a vocabulary of 4,096 tokens.
var run = []CostPoint{
	{1, 17_570_688, 17_570_688},
	{2, 20_734_848, 37_311_360},
	{3, 23_901_312, 59_226_624},
	{12, 52_507_008, 411_600_000},
}

func TestCumulativeCostDescription(t *testing.T) {
	c, err := CumulativeCost(terms.English, run)
	if err != nil {
		t.Fatal(err)
	}
	if want := "After 12 tokens: 52.5 M with the cache, 412 M when every step runs the whole text " +
		"again."; c.Description != want {
		t.Errorf("description %q, want %q", c.Description, want)
	}
	if got := strings.Join(c.Rows[1], " | "); got != "2 | 20,734,848 | 37,311,360" {
		t.Errorf("second row of the table: got %s, want %s", got, "2 | 20,734,848 | 37,311,360")
	}
	golden(t, "cumulative.svg", c.SVG)
}

func TestOnePointIsADot(t *testing.T) {
	c, err := CumulativeCost(terms.English, run[:1])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(c.SVG, `fill="var(--accent)"`) {
		t.Error("the picture lacks a dot in the cache's color")
	}
	if _, err := CumulativeCost(terms.English, nil); err == nil {
		t.Error("a chart without data was drawn")
	}
}

// TestPicturesObeyTheSecurityPolicy: a picture obeys the page's security policy and works in both
// of the page's themes.
func TestPicturesObeyTheSecurityPolicy(t *testing.T) {
	c, err := CumulativeCost(terms.English, run)
	if err != nil {
		t.Fatal(err)
	}
	for _, forbidden := range []string{"style=", "<?xml", "#0", "<script", "Liberation"} {
		if strings.Contains(c.SVG, forbidden) {
			t.Errorf("the picture contains %q, want it left out", forbidden)
		}
	}
	for _, needed := range []string{
		`role="img"`, "<title>", "<desc>", "var(--accent)", "var(--other)", "stroke-dasharray",
	} {
		if !strings.Contains(c.SVG, needed) {
			t.Errorf("the picture lacks %q", needed)
		}
	}
	d := xml.NewDecoder(strings.NewReader(c.SVG))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
}

func TestCountAbbreviates(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 950: "950", 3_189_504: "3.19 M", 46_050_816: "46.1 M", 411_600_000: "412 M",
		1_200_000_000: "1.20 G", 12_345: "12.3 k",
	} {
		if got := count(terms.English, n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestNiceStep(t *testing.T) {
	for x, want := range map[float64]float64{1: 1, 1.9: 1, 2: 2, 4.9: 2, 5: 5, 9.9: 5, 10: 10, 165e6: 100e6} {
		if got := niceStep(x); got != want {
			t.Errorf("niceStep(%v) = %v, want %v", x, got, want)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs from the golden file; look at both and run with -update if the new one is right", name)
	}
}
