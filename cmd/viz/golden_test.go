package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Times differ in every run, so golden files contain 0 instead.
var (
	jsonTime = regexp.MustCompile(`"ns":\d+`)
	textTime = regexp.MustCompile(`(?m) +[\d.,]+ (µs|ms|s)$`)
)

func TestGoldenJSON(t *testing.T) {
	got := jsonTime.ReplaceAllString(
		ok(t, "trace", "-prompt", capital, "-n", "4", "-rows", "5", "-stop", `.\n`, "-json"), `"ns":0`,
	)
	want := golden(t, "capital.jsonl", got)
	g, w := objects(t, got), objects(t, want)
	if len(g) != len(w) {
		t.Fatalf("%d objects, want %d", len(g), len(w))
	}
	for i := range g {
		alike(t, fmt.Sprintf("line %d", i+1), g[i], w[i])
	}
}

// alike compares decoded JSON. Integers must be equal. Other numbers may differ slightly, because
// another processor may add float32 values in a different order.
func alike(t *testing.T, at string, got, want any) {
	t.Helper()
	if g, w := reflect.TypeOf(got), reflect.TypeOf(want); g != w {
		t.Errorf("%s: %v, want %v", at, got, want)
		return
	}
	switch want := want.(type) {
	case object:
		got := got.(object)
		for k := range want {
			alike(t, at+"."+k, got[k], want[k])
		}
		for k := range got {
			if _, known := want[k]; !known {
				t.Errorf("%s.%s: unexpected field with %v", at, k, got[k])
			}
		}
	case []any:
		got := got.([]any)
		if len(got) != len(want) {
			t.Errorf("%s: %d elements, want %d", at, len(got), len(want))
			return
		}
		for i := range want {
			alike(t, fmt.Sprintf("%s[%d]", at, i), got[i], want[i])
		}
	case float64:
		if got := got.(float64); got != want &&
			(want == math.Trunc(want) && got == math.Trunc(got) || !(math.Abs(got-want) <= 1e-3)) {
			t.Errorf("%s: %v, want %v", at, got, want)
		}
	default:
		if got != want {
			t.Errorf("%s: %v, want %v", at, got, want)
		}
	}
}

func TestGoldenText(t *testing.T) {
	for name, args := range map[string][]string{
		"capital.txt": {"-prompt", capital, "-n", "3", "-rows", "5"},
		"story.txt": {
			"-prompt", "Once upon a time there was a", "-n", "2", "-rows", "6", "-temp", "1", "-top-k", "40", "-min-p",
			"0.02", "-stop", " young",
		},
		"greedy.txt": {"-prompt", "User: What is 東京?\n", "-n", "2", "-rows", "3", "-temp", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := textTime.ReplaceAllString(ok(t, append([]string{"trace"}, args...)...), "  0 ms")
			want := golden(t, name, got)
			sameText(t, got, want)
		})
	}
}

func sameText(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		t.Fatalf("%d lines, want %d:\n%s", len(g), len(w), got)
	}
	for i := range g {
		if !sameLine(g[i], w[i]) {
			t.Errorf("line %d:\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
}

var decimal = regexp.MustCompile(`\d+\.\d+`)

// sameLine compares two lines character by character, except for the last digit
// of decimal numbers.
func sameLine(got, want string) bool {
	g, w := decimal.FindAllString(got, -1), decimal.FindAllString(want, -1)
	if len(g) != len(w) || decimal.ReplaceAllString(got, "#") != decimal.ReplaceAllString(want, "#") {
		return false
	}
	for i := range g {
		x, _ := strconv.ParseFloat(g[i], 64)
		y, _ := strconv.ParseFloat(w[i], 64)
		_, digits, _ := strings.Cut(w[i], ".")
		if len(g[i]) != len(w[i]) || !(math.Abs(x-y) <= 1.01*math.Pow10(-len(digits))) {
			return false
		}
	}
	return true
}

// golden returns the contents of a golden file. With -update it first writes
// got to the file.
func golden(t *testing.T, name, got string) string {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "trace", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(want)
}
