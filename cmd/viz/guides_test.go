package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	guidePath   = regexp.MustCompile("`((?:cmd|infer|lessons|plots|static|testdata|web)/[a-z0-9_./-]+)`")
	guideFolder = regexp.MustCompile(`go (?:test|run|generate) ((?:\./[a-z/]+ ?)+)`)
)

// TestGuidesNameWhatExists: every file and folder named in a guide exists, so that
// the recipes are still right after files have moved.
func TestGuidesNameWhatExists(t *testing.T) {
	root := filepath.Join("..", "..")
	for guide, least := range map[string]int{
		"CONTRIBUTING.md": 60, "README.md": 0, "infer/RECIPES.md": 30, "web/WIRE.md": 3,
	} {
		b, err := os.ReadFile(filepath.Join(root, guide))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range guidePath.FindAllStringSubmatch(string(b), -1) {
			if m[1] != "testdata/fuzz" { // in each tested package's own folder
				names = append(names, m[1])
			}
		}
		for _, m := range guideFolder.FindAllStringSubmatch(string(b), -1) {
			names = append(names, strings.Fields(m[1])...)
		}
		if len(names) < least {
			t.Errorf(
				"%s names %d files and folders: the pattern misses some, want at least %d", guide, len(names), least,
			)
		}
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("%s names %s: %v", guide, name, err)
			}
		}
	}
}
