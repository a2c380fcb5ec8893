package lessons

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// sources is the folder with the texts from which the course must not copy. The repository contains
// only hashes of their runs of words, not the texts themselves. The command
//
//	go test ./lessons -run TestNoSharedRunsWithSources -sources DIR
//
// reads every .txt file of the folder and rewrites the hashes.
var sources = flag.String("sources", "", "folder with the source texts whose hashes to write")

const (
	runLength  = 8 // words
	hashesFile = "testdata/sources.hashes"
)

// runWords returns a text's words in lower case, ignoring quotes and
// apostrophes.
func runWords(text string) (words []string) {
	for _, w := range wordsOf(strings.NewReplacer("'", "", "’", "").Replace(text)) {
		words = append(words, w.text)
	}
	return words
}

// runsOf returns every run of eight words in a text.
func runsOf(text string) (runs []string) {
	words := runWords(text)
	for i := 0; i+runLength <= len(words); i++ {
		runs = append(runs, strings.Join(words[i:i+runLength], " "))
	}
	return runs
}

// runHash returns 48 bits of a run's SHA-256, which is enough to avoid accidental collisions but
// too few to reveal the words.
func runHash(run string) string {
	sum := sha256.Sum256([]byte(run))
	return hex.EncodeToString(sum[:6])
}

func writeHashes(t *testing.T, folder string) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no .txt files in %s (%v)", folder, err)
	}
	var hashes []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runsOf(string(text)) {
			hashes = append(hashes, runHash(r))
		}
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	if err := os.WriteFile(hashesFile, []byte(strings.Join(hashes, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// proseOf returns a fragment's own prose: everything except tables, marked quotations, code and
// citations.
func proseOf(p *fragment) string {
	var b strings.Builder
	_ = ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n.Kind() {
		case extast.KindTable, ast.KindBlockquote, ast.KindFencedCodeBlock, kindCite:
			b.WriteString("\n")
			return ast.WalkSkipChildren, nil
		case ast.KindText, ast.KindString, ast.KindCodeSpan, kindFormula, kindFigure, kindGiven, kindTerm:
			p.write(&b, n)
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// TestNoSharedRunsWithSources: no run of eight words occurs both in the course and in its source
// texts.
func TestNoSharedRunsWithSources(t *testing.T) {
	if *sources != "" {
		writeHashes(t, *sources)
	}
	data, err := os.ReadFile(hashesFile)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, h := range strings.Fields(string(data)) {
		known[h] = true
	}
	if len(known) < 6000 {
		t.Fatalf("%s has only %d hashes", hashesFile, len(known))
	}
	read := 0
	see := func(where, text string) {
		for _, r := range runsOf(text) {
			read++
			if known[runHash(r)] {
				t.Errorf("%s: these words are copied from a source: %s", where, r)
			}
		}
	}
	walkCourse(t, func(p *fragment) {
		if p.at.file != "references.md" {
			see(fmt.Sprintf("%s:%d", p.at.file, p.at.line), proseOf(p))
		}
	})
	for _, p := range checklist(t) {
		see("checklist.md, "+p.number, p.text)
	}
	if read < 5000 {
		t.Errorf("only %d runs of words were checked", read)
	}
}

func TestRunsIgnorePunctuation(t *testing.T) {
	source := `So "one two" isn't three: four, five; six—seven (eight) nine.`
	var known []string
	for _, r := range runsOf(source) {
		known = append(known, runHash(r))
	}
	// so one two isnt three four five six seven eight nine: 11 words, 4 runs.
	if len(known) != 4 {
		t.Fatalf("%d runs, want 4: %q", len(known), runsOf(source))
	}
	l := newLoader(folderOf(nil), MathTable{})
	for text, want := range map[string]bool{
		"He said: *one* two isn’t three, four `five` six seven!":          true,
		"two isn't three four five six, seven seven eight":                false,
		"> one two isn't three four five six seven\n\nis a quotation":     false,
		"| one two isn't three four five six seven |\n|---|\n| a row |\n": false,
	} {
		got := slices.ContainsFunc(runsOf(proseOf(l.parse(position{"x.md", 1}, text))), func(r string) bool {
			return slices.Contains(known, runHash(r))
		})
		if got != want {
			t.Errorf("%q: found %v, want %v", text, got, want)
		}
	}
}
