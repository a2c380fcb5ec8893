package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// targetsADay is the number of fuzz targets that an ordinary run includes.
const targetsADay = 8

// A target is a fuzz target, identified by its package and name.
type target struct {
	pkg, name string // "./lessons", "FuzzLesson"
}

var fuzzFunction = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(`)

// fuzzTargets returns the fuzz targets of all packages below a folder, sorted.
func fuzzTargets(top string) (list []target, err error) {
	err = testFiles(top, func(pkg, file string) error {
		text, err := os.ReadFile(file)
		for _, m := range fuzzFunction.FindAllSubmatch(text, -1) {
			list = append(list, target{pkg, string(m[1])})
		}
		return err
	})
	slices.SortFunc(list, func(a, b target) int {
		return cmp.Or(strings.Compare(a.pkg, b.pkg), strings.Compare(a.name, b.name))
	})
	return list, err
}

// testFiles visits the test files of all packages below a folder.
func testFiles(top string, visit func(pkg, file string) error) error {
	return filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != top && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, "_test.go"):
			return nil
		}
		folder, err := filepath.Rel(top, filepath.Dir(file))
		if err != nil {
			return err
		}
		return visit("./"+filepath.ToSlash(folder), file)
	})
}

// targetsOf returns the targets whose turn it is on the given day of the year.
func targetsOf(day int, all []target) []target {
	return from(all, day*targetsADay)[:min(targetsADay, len(all))]
}

func fuzzSteps(list []target) (steps []step) {
	for _, t := range list {
		steps = append(steps, step{name: fmt.Sprintf("fuzz %s of %s", t.name, t.pkg), run: t.fuzz})
	}
	return steps
}

// fuzz fuzzes a target for four seconds. By default, Go spends up to a minute minimizing each
// interesting input and tries no others during that time. Before Go 1.27, reaching the end of
// -fuzztime can be reported as a failure ("context deadline exceeded", without an input; see
// go.dev/issue/75804), so only two such failures in a row fail the run.
func (t target) fuzz(r *runner) error {
	again := false
	for {
		var log bytes.Buffer
		err := r.runTo(
			io.MultiWriter(r.out, &log),
			"go", "test", t.pkg, "-vet=off", "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime=4s", "-fuzzminimizetime=20x",
		)
		if err == nil || again || !falseAlarm(log.String()) {
			return err
		}
		again = true
	}
}

func falseAlarm(log string) bool {
	return strings.Contains(log, "context deadline exceeded") && !strings.Contains(log, "Failing input")
}
