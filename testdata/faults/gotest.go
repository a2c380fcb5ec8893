package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// result is the outcome of go test with a fault.
type result struct {
	pkg     string   // import path of the package that failed, "" if all passed
	tests   []string // top-level tests that failed there, in order
	timeout bool     // it timed out, in those tests
}

func (r result) caught() bool { return r.pkg != "" }

// text formats a result as in the lists.
func (r result) text(f *fault, long bool) string {
	if !r.caught() {
		return "none"
	}
	text := strings.Join(r.tests, ", ")
	if len(r.tests) == 0 {
		text = "the package's start or end"
	}
	if r.timeout {
		text += " out of time"
	}
	if first := strings.TrimPrefix(f.packages[0], "./"); !strings.HasSuffix(r.pkg, "/"+first) {
		text += " in " + shortPackage(r.pkg)
	}
	if long {
		return text + " (long)"
	}
	return text + " (short)"
}

// shortPackage turns an import path into a path relative to the top, for go
// test.
func shortPackage(pkg string) string {
	parts := strings.SplitN(pkg, "/", 4)
	if len(parts) < 4 {
		return pkg
	}
	return "./" + parts[3]
}

// event is one line of go test -json.
type event struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
}

var errNoTest = errors.New("no test ran: the pattern or the package has changed")

// goTest runs tests with an overlay, or without one if it is "". An error is a
// build that fails, or a pattern that no test has.
func (o options) goTest(overlay, pattern string, packages []string) (result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(len(packages))*o.timeout+10*time.Minute)
	defer cancel()
	args := []string{"test", "-json", "-vet=off", "-failfast", "-timeout", o.timeout.String()}
	if pattern != "" {
		args = append(args, "-run", pattern)
	}
	c := exec.CommandContext(ctx, "go", append(args, packages...)...)
	c.Dir = o.tree
	// Through the environment, programs that a test builds have the fault too.
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "VIZ_LONG=") })
	if overlay != "" {
		c.Env = append(c.Env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	}
	if o.long {
		c.Env = append(c.Env, "VIZ_LONG=1")
	}
	c.WaitDelay = time.Minute
	out, err := c.StdoutPipe()
	if err != nil {
		return result{}, err
	}
	var problems strings.Builder
	c.Stderr = &problems
	if err := c.Start(); err != nil {
		return result{}, err
	}
	r, parseErr := readEvents(out)
	err = c.Wait()
	var exit *exec.ExitError
	switch {
	case parseErr != nil:
		return r, fmt.Errorf("%w\n%s", parseErr, problems.String())
	case ctx.Err() != nil:
		return r, fmt.Errorf("go test did not end: %w", ctx.Err())
	case err != nil && !errors.As(err, &exit):
		return r, err
	case err != nil && !r.caught():
		return r, fmt.Errorf("go test: %w\n%s", err, problems.String())
	}
	return r, nil
}

// running names a test in Go's report of a timeout.
var running = regexp.MustCompile(`^\s+(Test\w+|Fuzz\w+|Example\w*)[^ ]* \([0-9.hms]+\)`)

// readEvents reads the output of go test -json to its end and keeps the first
// package that failed.
func readEvents(from io.Reader) (result, error) {
	var r result
	var build strings.Builder
	ran, broken, late := false, false, map[string][]string{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(&build, lines.Text())
			continue
		}
		top, _, _ := strings.Cut(e.Test, "/")
		switch e.Action {
		case "build-output":
			build.WriteString(e.Output)
		case "run":
			ran = true
		case "output":
			if strings.Contains(e.Output, "panic: test timed out after") {
				late[e.Package] = []string{}
			} else if m := running.FindStringSubmatch(e.Output); m != nil && late[e.Package] != nil {
				late[e.Package] = append(late[e.Package], m[1])
			}
		case "fail":
			broken = broken || e.FailedBuild != ""
			if r.pkg == "" {
				r.pkg = e.Package
			}
			if r.pkg == e.Package && top != "" && !slices.Contains(r.tests, top) {
				r.tests = append(r.tests, top)
			}
		}
	}
	if names, ok := late[r.pkg]; ok && r.pkg != "" {
		r.timeout = true
		slices.Sort(names)
		r.tests = slices.Compact(names)
	}
	switch {
	case lines.Err() != nil:
		return r, lines.Err()
	case broken:
		return result{}, fmt.Errorf("it does not compile:\n%s", build.String())
	case !ran:
		return result{}, fmt.Errorf("%w\n%s", errNoTest, build.String())
	}
	return r, nil
}
