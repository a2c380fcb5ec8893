package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lineColumns is the maximum width of a line, with tabs of four columns.
const lineColumns = 120

// TestLinesFitAScreen: hand-written Go, styles and scripts can be read side by
// side. Generated and vendored files are exempt.
func TestLinesFitAScreen(t *testing.T) {
	read := map[string]int{".go": 0, ".css": 0, ".js": 0, ".mjs": 0}
	for _, name := range ownFiles(t) {
		ext := filepath.Ext(name)
		if _, ours := read[ext]; !ours || strings.HasSuffix(name, ".min.js") || strings.Contains(name, "/vendor/") {
			continue
		}
		data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if os.IsNotExist(err) { // deleted, and not committed yet
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if generated.Match(data) {
			continue
		}
		read[ext]++
		for i, line := range strings.Split(string(data), "\n") {
			if n := columnsOf(line); n > lineColumns {
				t.Errorf("%s:%d: %d columns, at most %d", name, i+1, n, lineColumns)
			}
		}
	}
	for ext, least := range map[string]int{".go": 300, ".css": 10, ".js": 20, ".mjs": 4} {
		if read[ext] < least {
			t.Errorf("only %d files %s were read", read[ext], ext)
		}
	}
}

// generated matches what marks a file as written by a program.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func columnsOf(line string) int {
	return len([]rune(strings.ReplaceAll(line, "\t", "    ")))
}

func TestColumnsOfCountsTabsAsFour(t *testing.T) {
	for line, want := range map[string]int{"": 0, "\t\tx": 9, "Grüße 🦉": 7, "a\tb": 6} {
		if got := columnsOf(line); got != want {
			t.Errorf("%q has %d columns, want %d", line, got, want)
		}
	}
}
