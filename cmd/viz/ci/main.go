// Command ci checks everything that must hold before a change is merged. The script .ci/run
// builds it and runs it at the top of the repository.
//
// A run is a list of steps (main.go), which run one after another until one fails (run.go). Most
// are a single command (checks.go). The long tier of tests is a table of parts (parts.go). An
// ordinary run includes some of the parts (long.go) and some of the fuzz targets (fuzz.go),
// different ones each day, so all of them run in rotation. A nightly run includes all of them.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const usage = `usage: .ci/run [COMMAND]

  (no command)       run every check, today's parts of the long tier, and today's fuzz targets
  long [PART…]       run today's parts of the long tier, or the named parts
  part-of PACKAGE…   run the parts of the long tier that test these packages
  parts              list the parts of the long tier
  fuzz [all]         run today's fuzz targets, or all of them
  nightly [STEP]     run every check, part and fuzz target, or start at STEP (a step or part)
  help               print this text
`

func main() {
	switch strings.Join(os.Args[1:], " ") {
	case "help":
		fmt.Print(usage)
		return
	case "parts":
		for _, p := range parts {
			fmt.Printf("%-24s %s\n", p.name, strings.Join(p.packages, " "))
		}
		return
	}
	targets, err := fuzzTargets(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, ".ci/run:", err)
		os.Exit(1)
	}
	steps, err := plan(os.Args[1:], time.Now().YearDay(), targets)
	if err != nil {
		fmt.Fprintf(os.Stderr, ".ci/run: %v\n\n%s", err, usage)
		os.Exit(2)
	}
	if err := setEnvironment(); err != nil {
		fmt.Fprintln(os.Stderr, ".ci/run:", err)
		os.Exit(1)
	}
	r := &runner{out: os.Stdout, now: time.Now}
	failed := r.runAll(steps)
	r.summarize()
	if failed {
		os.Exit(1)
	}
}

// setEnvironment sets the environment of every command of a run. Packages are compiled once for
// each set of flags, so all steps use the same flags: without cgo, which only the race detector
// needs, and with -trimpath, which makes the build cache independent of the checkout's path.
func setEnvironment() error {
	flags, err := exec.Command("go", "env", "GOFLAGS").Output()
	if err != nil {
		return fmt.Errorf("go env GOFLAGS: %w", err)
	}
	return errors.Join(
		os.Setenv("CI", "true"),
		os.Setenv("CGO_ENABLED", "0"),
		os.Setenv("GOFLAGS", strings.TrimSpace(string(flags))+" -trimpath"),
	)
}

// plan returns the steps for a command line.
func plan(args []string, day int, targets []target) ([]step, error) {
	command, names := "", []string(nil)
	if len(args) > 0 {
		command, names = args[0], args[1:]
	}
	everything := slices.Concat(checks(), nightlyChecks(), partSteps(parts), fuzzSteps(targets))
	switch {
	case command == "" && len(names) == 0:
		return slices.Concat(
			checks(), inTurns("long", partSteps(partsOf(day))), inTurns("fuzz", fuzzSteps(targetsOf(day, targets))),
		), nil
	case command == "long" && len(names) == 0:
		return append(preparations(), inTurns("long", partSteps(partsOf(day)))...), nil
	case command == "long":
		chosen, err := partsNamed(names)
		return append(preparations(), partSteps(chosen)...), err
	case command == "part-of" && len(names) > 0:
		chosen, err := partsTesting(names)
		return append(preparations(), partSteps(chosen)...), err
	case command == "fuzz" && len(names) == 0:
		return fuzzSteps(targetsOf(day, targets)), nil
	case command == "fuzz" && len(names) == 1 && names[0] == "all":
		return fuzzSteps(targets), nil
	case command == "nightly" && len(names) == 0:
		return everything, nil
	case command == "nightly" && len(names) == 1:
		i := slices.IndexFunc(everything, func(s step) bool { return s.name == names[0] || s.name == "long "+names[0] })
		if i < 0 {
			return nil, fmt.Errorf("unknown step or part %q", names[0])
		}
		return append(preparations(), everything[max(i, len(preparations())):]...), nil
	}
	return nil, fmt.Errorf("unknown arguments %q", args)
}
