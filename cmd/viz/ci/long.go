package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// longLimit is the timeout of a part: twice the time that a part may take on two cores.
const longLimit = 300 * time.Second

// A part of the long tier is a set of tests that take at most 150 seconds on two cores.
type part struct {
	name     string
	packages []string
	tests    []string // names of top-level tests
	sub      string   // a pattern for subtests, if only some of them are in this part
	npm      bool     // the tests install packages from npm
}

// pattern returns the value of go test's -run flag.
func (p part) pattern() string {
	pattern := anyOf(p.tests...)
	if p.sub != "" {
		pattern += "/" + p.sub
	}
	return pattern
}

// anyOf returns a pattern that matches the given names of tests or subtests.
func anyOf(names ...string) string { return "^(" + strings.Join(names, "|") + ")$" }

// partsOf returns all parts in the order in which they run on the given day of the year. Over as
// many days as there are parts, each part comes first exactly once.
func partsOf(day int) []part {
	return from(parts, day*stride(len(parts)))
}

// stride returns the number of parts by which the starting point advances each day. It is close to
// the number of parts that run in a day, and coprime to n, so that every part eventually comes
// first.
func stride(n int) int {
	for s := 3; ; s++ {
		a, b := s, n
		for b > 0 {
			a, b = b, a%b
		}
		if a == 1 {
			return s
		}
	}
}

// from returns the list rotated so that it starts at a given index.
func from[T any](list []T, place int) []T {
	place %= len(list)
	return slices.Concat(list[place:], list[:place])
}

func partsNamed(names []string) (chosen []part, err error) {
	for _, name := range names {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf(`unknown part %q; for a list, run ".ci/run parts"`, name)
		}
		chosen = append(chosen, parts[i])
	}
	return chosen, nil
}

// partsTesting returns the parts that contain tests of any of the given packages.
func partsTesting(packages []string) ([]part, error) {
	var chosen []part
	for _, p := range parts {
		if slices.ContainsFunc(packages, func(name string) bool {
			return slices.Contains(p.packages, "./"+strings.Trim(strings.TrimPrefix(name, "./"), "/"))
		}) {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf(`no part of the long tier tests %s; for a list of all parts, run ".ci/run parts"`,
			strings.Join(packages, " "))
	}
	return chosen, nil
}

func partSteps(list []part) (steps []step) {
	for _, p := range list {
		steps = append(steps, step{name: "long " + p.name, run: func(r *runner) error { return p.run(r, longLimit) }})
	}
	return steps
}

// inTurns marks steps as the turns of a rotation.
func inTurns(rotation string, steps []step) []step {
	for i := range steps {
		steps[i].turns = rotation
	}
	return steps
}

// run runs a part, with limit as the timeout for each package's tests. The tests' output is shown
// only if they fail. Results are never taken from the cache, since many of these tests do something
// different each time. Without -v=test2json, go test would not report failed subtests until the
// whole test ends; this mode marks such lines with a control character.
func (p part) run(r *runner, limit time.Duration) error {
	if p.npm {
		if err := prepareNPM(r); err != nil {
			return err
		}
	}
	log, err := r.output(append([]string{
		"VIZ_LONG=1", "go", "test", "-v=test2json", "-vet=off", "-count=1", "-timeout", limit.String(),
		"-run", p.pattern(),
	}, p.packages...)...)
	log = strings.ReplaceAll(log, "\x16", "")
	fmt.Fprint(r.out, shorten(log, err != nil))
	if err != nil && onlyTimedOut(log) {
		return incomplete(fmt.Sprintf("timed out after %v", limit))
	}
	return err
}

// noise matches the lines that go test prints for tests that start and pass; result matches
// the lines that it prints for each package.
var (
	noise  = regexp.MustCompile(`(?m)^(=== (RUN|PAUSE|CONT) .*| *--- PASS: .*|PASS)\n`)
	result = regexp.MustCompile(`(?m)^(ok|FAIL|\?) *\t.*\n`)
)

// shorten shortens the output of go test. If all is set, it removes the lines that noise matches;
// otherwise, it returns only the lines that result matches.
func shorten(log string, all bool) string {
	if all {
		return noise.ReplaceAllString(log, "")
	}
	return strings.Join(result.FindAllString(log, -1), "")
}

var (
	timedOut   = regexp.MustCompile(`(?m)^(panic: test timed out after|\*\*\* Test killed.*ran too long)`)
	testFailed = regexp.MustCompile(`(?m)^ *--- FAIL: `)
)

// onlyTimedOut reports whether every package that did not pass timed out before any of its tests
// had failed.
func onlyTimedOut(log string) bool {
	ended := len(timedOut.FindAllString(log, -1))
	return ended > 0 && ended >= strings.Count(log, "\nFAIL\t") && !testFailed.MatchString(log)
}

// prepareNPM makes sure that tests can install packages from npm.
func prepareNPM(r *runner) error {
	missing := slices.DeleteFunc([]string{"npm", "python3"}, has)
	if len(missing) > 0 {
		if err := install(r, missing); err != nil {
			return err
		}
	}
	if err := r.run("npm", "ping", "--loglevel=error", "--fetch-retries=1"); err != nil {
		return incomplete("did not run: cannot reach the npm registry")
	}
	return nil
}
