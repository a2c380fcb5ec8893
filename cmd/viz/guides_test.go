package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// guides lists the documents whose links and file names are checked, each with the minimum number
// of files and folders that it must name.
var guides = map[string]int{
	"CONTRIBUTING.md": 35, "infer/RECIPES.md": 45, "infer/STAGES.md": 4, "web/ARCHITECTURE.md": 80, "web/WIRE.md": 2,
	"README.md": 0, "cmd/viz/README.md": 0, "cmd/viz/OPERATING.md": 0, "infer/README.md": 0, "lessons/README.md": 0,
	"web/PRIVACY.md": 0, "web/api/README.md": 0, "web/cluster/README.md": 0,
	"web/site/README.md": 0, "testdata/README.md": 8, "infer/bundled/MODEL_CARD.md": 0,
	"infer/bundled/train/README.md": 0,
}

var (
	guidePath   = regexp.MustCompile("`((?:cmd|infer|lessons|plots|static|testdata|web)/[a-z0-9_./-]+)`")
	guideFolder = regexp.MustCompile(`go (?:test|run|generate) ((?:\./[a-z/]+ ?)+)`)
)

// TestGuidesNameWhatExists: every file and folder that a guide names exists, so the guides stay
// correct when files move.
func TestGuidesNameWhatExists(t *testing.T) {
	root := filepath.Join("..", "..")
	for guide, least := range guides {
		b, err := os.ReadFile(filepath.Join(root, guide))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range guidePath.FindAllStringSubmatch(string(b), -1) {
			if m[1] != "testdata/fuzz" { // every tested package has its own
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

var (
	guideLink    = regexp.MustCompile(`\]\(([^)#:\s]*)(#[^)\s]*)?\)`)
	guideHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchor  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestGuidesLinksLead: every link from a guide to a file in the repository leads to an existing
// file and, if it names a heading, to an existing heading as GitHub spells it.
func TestGuidesLinksLead(t *testing.T) {
	read := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	links := 0
	for guide := range guides {
		path := filepath.Join("..", "..", guide)
		for _, m := range guideLink.FindAllStringSubmatch(read(path), -1) {
			links++
			to := path
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(path), m[1])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s leads to %s: %v", guide, m[1], err)
				continue
			}
			if m[2] == "" {
				continue
			}
			anchors := map[string]bool{}
			for _, h := range guideHeading.FindAllStringSubmatch(read(to), -1) {
				anchor := strings.ReplaceAll(strings.ToLower(notInAnchor.ReplaceAllString(h[1], "")), " ", "-")
				anchors["#"+anchor] = true
			}
			if !anchors[m[2]] {
				t.Errorf("%s leads to %s in %s, which has no such heading", guide, m[2], to)
			}
		}
	}
	if links < 50 {
		t.Errorf("the guides have %d links, want at least 50: the pattern misses some", links)
	}
}
