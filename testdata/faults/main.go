// Command faults makes the faults that the lists in its folder describe, one at
// a time, and says which test catches each. README.md in the folder describes
// the lists and the flags.
//
// A fault is a change of a few lines of the program. For `go test` it uses
// -overlay, a list of files to read from elsewhere, so that the working tree
// does not change; a test that reads a source file itself does not see the
// fault. The folder is called testdata so that ./... skips the command.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// errFound ends the command with status 1 after it has printed what it found.
var errFound = errors.New("not all is well")

func main() {
	top, err := moduleTop()
	if err == nil {
		err = run(top, os.Args[1:], os.Stdout)
	}
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		if !errors.Is(err, errFound) {
			fmt.Fprintln(os.Stderr, "faults:", err)
		}
		os.Exit(1)
	}
}

// moduleTop returns the folder with go.mod, at or above the working directory.
func moduleTop() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod here or above: run it inside of the repository")
		}
		dir = up
	}
}

const usage = "usage: go run ./testdata/faults list|check|make|try|table [flags] [NAME...|all]"

// run runs one command line on the checkout at top.
func run(top string, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	all, err := readLists(filepath.Join(top, "testdata", "faults"))
	if err != nil {
		return err
	}
	switch command, rest := args[0], args[1:]; command {
	case "list":
		return list(all, rest, out)
	case "check":
		return check(top, all, rest, out)
	case "make":
		return makeOne(top, all, rest, out)
	case "try":
		return try(top, all, rest, out)
	case "table":
		return table(all, rest, out)
	default:
		return fmt.Errorf("no command %q\n%s", command, usage)
	}
}

func list(all []*fault, names []string, out io.Writer) error {
	chosen, err := choose(all, names, true)
	if err != nil {
		return err
	}
	for _, f := range chosen {
		fmt.Fprintf(out, "%s\n  %s\n", f.name, f.behaviour)
	}
	fmt.Fprintf(out, "%d faults\n", len(chosen))
	return nil
}

// check reports for each fault whether it can be made in the checkout at -tree.
func check(top string, all []*fault, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	tree := flags.String("tree", top, "the checkout to look in")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(all, flags.Args(), true)
	if err != nil {
		return err
	}
	src := newSource(*tree)
	lost := 0
	for _, f := range chosen {
		made, err := src.apply(f)
		if err != nil {
			lost++
			fmt.Fprintf(out, "%s: %v\n  to make by hand: %s\n", f.name, err, f.behaviour)
			continue
		}
		for _, m := range made.moved {
			fmt.Fprintf(out, "%s: found in %s\n", f.name, m)
		}
	}
	fmt.Fprintf(out, "%d of %d faults can be made\n", len(chosen)-lost, len(chosen))
	if lost > 0 {
		return errFound
	}
	return nil
}

// makeOne writes faults into the working tree, with the Go that follows from
// changed templates.
func makeOne(top string, all []*fault, names []string, out io.Writer) error {
	chosen, err := choose(all, names, false)
	if err != nil {
		return err
	}
	for _, f := range chosen {
		made, err := newSource(top).apply(f)
		if err != nil {
			return fmt.Errorf("%s: %w\n  to make by hand: %s", f.name, err, f.behaviour)
		}
		if err := made.generate(top); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		for path, text := range made.files {
			if err := os.WriteFile(filepath.Join(top, path), []byte(text), 0o644); err != nil {
				return err
			}
			fmt.Fprintln(out, "changed", path)
		}
	}
	return nil
}

// table prints what is recorded as Markdown, with the sums below.
func table(all []*fault, names []string, out io.Writer) error {
	chosen, err := choose(all, names, true)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| fault | behaviour | before | after |\n|---|---|---|---|")
	before, after := map[string]int{}, map[string]int{}
	for _, f := range chosen {
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", f.name, cell(f.behaviour), cell(f.before), cell(f.after))
		before[tierOf(f.before)]++
		after[tierOf(f.after)]++
	}
	fmt.Fprintln(out, "\n| | short | only long | uncaught | not tried |\n|---|---|---|---|---|")
	fmt.Fprintf(out, "| before | %d | %d | %d | %d |\n", before["short"], before["long"], before["none"], before[""])
	fmt.Fprintf(out, "| after | %d | %d | %d | %d |\n", after["short"], after["long"], after["none"], after[""])
	return nil
}
