package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	// turnsTake limits the turns of a rotation: once they have taken this long in total, no further
	// turn starts.
	turnsTake = 200 * time.Second
	// lateAfter is the time after which a run starts no further turns, so even a run that has to
	// compile everything ends within twenty minutes. The first turn of the run always starts.
	lateAfter = 15 * time.Minute
)

// A step is one check of a run.
type step struct {
	name string
	run  func(*runner) error

	// turns is the name of the rotation to which the step belongs, or "" for a step of every run.
	// If time is short, all turns except the first may be skipped.
	turns string
}

// An incomplete is the error of a step that did not pass but does not fail the run. Its text is the
// reason.
type incomplete string

func (i incomplete) Error() string { return string(i) }

// A runner runs steps one after another and measures their time.
type runner struct {
	out  io.Writer
	now  func() time.Time
	cpu  time.Duration // processor time of all commands so far
	rows []row
}

// A row is a step's line in the summary.
type row struct {
	name      string
	wall, cpu time.Duration // cpu is user and system time of the step's commands
	result    string        // empty if the step passed
}

// failed is the result of a step that fails the run.
const failed = "FAILED"

// runAll runs steps until one fails, and reports whether one did.
func (r *runner) runAll(steps []step) bool {
	began := r.now()
	took, turns := map[string]time.Duration{}, 0 // time taken, by rotation; number of turns in all rotations
	for _, s := range steps {
		late := r.now().Sub(began) >= lateAfter && turns > 0
		if s.turns != "" && (took[s.turns] >= turnsTake || late) {
			continue
		}
		if s.turns != "" {
			turns++
		}
		fmt.Fprintf(r.out, "\n=== %s\n", s.name)
		start, before := r.now(), r.cpu
		err := s.run(r)
		done := row{name: s.name, wall: r.now().Sub(start), cpu: r.cpu - before}
		took[s.turns] += done.wall
		if err != nil {
			fmt.Fprintln(r.out, err)
			done.result = failed
		}
		var why incomplete
		if errors.As(err, &why) {
			done.result = why.Error()
		}
		if r.rows = append(r.rows, done); done.result == failed {
			return true
		}
	}
	return false
}

// summarize prints the time that each step took. The last line reports how the run ended; the lines
// above it name the steps that neither passed nor failed.
func (r *runner) summarize() {
	total, last := row{name: "total"}, "all checks passed"
	fmt.Fprintf(r.out, "\n%-60s %9s %9s\n", "step", "wall", "processor")
	line := func(w row) {
		text := fmt.Sprintf("%-60s %7.1f s %7.1f s  %s", w.name, w.wall.Seconds(), w.cpu.Seconds(), w.result)
		fmt.Fprintln(r.out, strings.TrimSpace(text))
	}
	var notes []string
	for _, w := range r.rows {
		line(w)
		total.wall += w.wall
		total.cpu += w.cpu
		switch w.result {
		case "":
		case failed:
			last = "FAILED at: " + w.name
		default:
			notes = append(notes, fmt.Sprintf(".ci/run: did not pass: %s: %s\n", w.name, w.result))
		}
	}
	line(total)
	fmt.Fprintf(r.out, "\n%s.ci/run: %s\n", strings.Join(notes, ""), last)
}

// run runs a program with its arguments. As in a shell, environment settings such as GOOS=js
// may come first.
func (r *runner) run(command ...string) error { return r.runTo(r.out, command...) }

// output is like run, but returns what the program prints instead of showing it. Errors are
// shown.
func (r *runner) output(command ...string) (string, error) {
	var b strings.Builder
	err := r.runTo(&b, command...)
	return b.String(), err
}

// runTo is like run, but writes the program's standard output to out.
func (r *runner) runTo(out io.Writer, command ...string) error {
	settings := 0
	for strings.Contains(command[settings], "=") {
		settings++
	}
	c := exec.Command(command[settings], command[settings+1:]...)
	c.Env = append(os.Environ(), command[:settings]...)
	c.Stdout, c.Stderr = out, r.out
	c.WaitDelay = 10 * time.Second // a process left behind might hold the output open
	err := c.Run()
	if s := c.ProcessState; s != nil {
		r.cpu += s.UserTime() + s.SystemTime()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return nil
}

// commands returns a step function that runs commands. Their arguments must not contain spaces.
func commands(list ...string) func(*runner) error {
	return func(r *runner) error {
		for _, c := range list {
			if err := r.run(strings.Fields(c)...); err != nil {
				return err
			}
		}
		return nil
	}
}
