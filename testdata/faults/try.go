package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// options are try's flags.
type options struct {
	tree     string
	whole    bool
	wider    bool
	in       []string
	run      string
	long     bool
	timeout  time.Duration
	confirm  bool
	record   string
	uncaught bool
	jobs     int
}

func tryFlags(top string, args []string) (options, []string, error) {
	var o options
	var in string
	flags := flag.NewFlagSet("try", flag.ContinueOnError)
	flags.StringVar(&o.tree, "tree", top, "the checkout to make the faults in")
	flags.BoolVar(&o.whole, "whole", false, "run the packages whole")
	flags.BoolVar(&o.wider, "wider", false, "run the whole packages if the named tests catch nothing")
	flags.StringVar(&in, "in", "", "packages to run, separated by spaces, instead of the entry's")
	flags.StringVar(&o.run, "run", "", "tests to run instead of the entry's")
	flags.BoolVar(&o.long, "long", false, "run the long tests too (VIZ_LONG=1)")
	flags.DurationVar(&o.timeout, "timeout", 20*time.Minute, "for each run of go test")
	flags.BoolVar(&o.confirm, "confirm", true, "run the test that catches without the fault too")
	flags.StringVar(&o.record, "record", "", "write the results into the lists, as before or after")
	flags.BoolVar(&o.uncaught, "uncaught", false, "with -record: leave out what is recorded as caught")
	flags.IntVar(&o.jobs, "jobs", 1, "faults at a time")
	if err := flags.Parse(args); err != nil {
		return o, nil, err
	}
	if o.record != "" && o.record != "before" && o.record != "after" {
		return o, nil, fmt.Errorf("-record %q: it is before or after", o.record)
	}
	if o.uncaught && o.record == "" {
		return o, nil, errors.New("-uncaught needs -record, which says which results it means")
	}
	if o.jobs < 1 {
		return o, nil, errors.New("-jobs: at least 1")
	}
	tree, err := filepath.Abs(o.tree)
	o.tree, o.in = tree, strings.Fields(in)
	return o, flags.Args(), err
}

// try makes faults one after another for go test, prints what catches each, and
// records it if asked to.
func try(top string, all []*fault, args []string, out io.Writer) error {
	o, names, err := tryFlags(top, args)
	if err != nil {
		return err
	}
	chosen, err := choose(all, names, false)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var wait sync.WaitGroup
	caught, tried, problems := 0, 0, 0
	work := make(chan *fault)
	for range o.jobs {
		wait.Go(func() {
			for f := range work {
				start := time.Now()
				r, err := o.tryOne(f)
				mu.Lock()
				tried++
				switch {
				case err != nil:
					problems++
					fmt.Fprintf(out, "ERROR     %s: %v\n", f.name, err)
				case r.caught():
					caught++
					fmt.Fprintf(
						out, "caught    %s by %s, %.1f s\n", f.name, r.text(f, o.long), time.Since(start).Seconds(),
					)
				default:
					fmt.Fprintf(out, "UNCAUGHT  %s, %.1f s: %s\n", f.name, time.Since(start).Seconds(), f.behaviour)
				}
				if err == nil && o.record != "" {
					if err := record(f, o.record, r.text(f, o.long)); err != nil {
						problems++
						fmt.Fprintln(out, "ERROR    ", err)
					}
				}
				mu.Unlock()
			}
		})
	}
	for _, f := range chosen {
		if tier := tierOf(f.recorded(o.record)); o.uncaught && (tier == "short" || tier == "long") {
			continue
		}
		work <- f
	}
	close(work)
	wait.Wait()
	fmt.Fprintf(out, "%d of %d caught, %d uncaught, %d errors\n", caught, tried, tried-caught-problems, problems)
	if caught < tried {
		return errFound
	}
	return nil
}

func (f *fault) recorded(when string) string {
	switch when {
	case "before":
		return f.before
	case "after":
		return f.after
	}
	return ""
}

// tryOne makes one fault and runs its tests, and then the whole packages if the
// options say so.
func (o options) tryOne(f *fault) (result, error) {
	made, err := newSource(o.tree).apply(f)
	if err != nil {
		return result{}, fmt.Errorf("%w\n  to make by hand: %s", err, f.behaviour)
	}
	if err := made.generate(o.tree); err != nil {
		return result{}, err
	}
	dir, err := os.MkdirTemp("", "fault")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	overlay, err := made.overlay(o.tree, dir)
	if err != nil {
		return result{}, err
	}
	packages, pattern := f.packages, f.run
	if len(o.in) > 0 {
		packages, pattern = o.in, ""
	}
	if o.run != "" {
		pattern = o.run
	}
	if o.whole {
		pattern = ""
	}
	r, err := o.goTest(overlay, pattern, packages)
	if o.wider && pattern != "" && (err != nil && errors.Is(err, errNoTest) || err == nil && !r.caught()) {
		r, err = o.goTest(overlay, "", packages)
	}
	if err != nil || !r.caught() || !o.confirm {
		return r, err
	}
	return r, o.sound(r)
}

// sound runs the tests that failed without the fault: they must pass.
func (o options) sound(r result) error {
	if len(r.tests) == 0 {
		return nil // the package itself failed, say in TestMain
	}
	pattern := "^(" + strings.Join(r.tests, "|") + ")$"
	clean, err := o.goTest("", pattern, []string{r.pkg})
	if err == nil && clean.caught() {
		err = fmt.Errorf("no catch: %s in %s fails without the fault too", strings.Join(r.tests, ", "), r.pkg)
	}
	return err
}
