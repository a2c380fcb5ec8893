// Package lab measures what the lessons claim.
//
// "Linear, not quadratic." "Faster, with the same distribution." "Output costs
// more than input." Each lab here puts one such sentence to the engine and
// comes back with typed rows: what was counted, beside what was timed, beside
// what the formula says. The pages and the command viz lab run the same code,
// so a curve on a screen and a table in a terminal cannot disagree.
//
// A [Lab] states its question and its parameters ([Info]); [Info.Parse] checks
// values against their ranges; [Lab.Estimate] says beforehand what a run would
// take; [Lab.Run] measures. A run reports its progress with a whole [Report]
// of what it has so far, and one that is cancelled returns that report, marked,
// instead of an error: what was measured is kept.
//
// Three habits hold in every lab. Counts are exact: multiply-adds are tallied
// where they are done and equal the formulas of infer/cost. Times are
// repeated, taken in turns with what they are compared with, and told as a
// median between quartiles ([Spread]); the time in which a shared model ran
// other people's passes is taken out. And what a lab found depends on its
// values alone, times apart: the same values give the same rows.
package lab

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer"
)

// Lab is one measurement.
type Lab interface {
	Info() Info
	// Estimate tells what a run with values that [Info.Parse] returned would
	// take with these models. A *[RangeError] says that they cannot run it at
	// all, such as a prompt too long for the context.
	Estimate(env Env, v Values) (Estimate, error)
	// Run measures. progress may be nil; it is called from Run's goroutine, and
	// what it is handed may be kept. Ending ctx ends the run early with a
	// report of what was measured so far (Cancelled) and no error; where
	// nothing was measured yet the report's Result is nil.
	Run(ctx context.Context, env Env, v Values, progress func(Progress)) (*Report, error)
}

// Env is what a lab measures with. Draft is needed by the speculation lab
// alone; it may be nil.
//
// Where the models' passes are run by someone else ([infer.Model.Through], a
// seat at a pool), the runners are named here as well: the time for which they
// let a pass wait is not part of a measurement.
type Env struct {
	Target, Draft             *infer.Model
	TargetRunner, DraftRunner infer.Runner
}

// Info describes a lab to a person.
type Info struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Question string   `json:"question"` // what the lab finds out, to be predicted first
	Params   []Param  `json:"params"`
	Try      []Preset `json:"try"`      // two things to try
	Includes string   `json:"includes"` // what the measurement includes and leaves out
}

// Preset is a named choice of values. What it leaves out is at its default.
type Preset struct {
	Name   string `json:"name"`
	Why    string `json:"why"` // what to look for
	Values Values `json:"values"`
}

// Estimate is what a run would take, before it is run. The time is a guess
// from counted work and a rate measured a moment before; nothing is shown as
// measured that comes from it.
type Estimate struct {
	MultAdds int64         `json:"mult_adds"` // of matrix products
	Bytes    int64         `json:"bytes"`     // of caches and kept scores
	Took     time.Duration `json:"ns"`        // a guess
	// Large says that a person should be asked first: the guess is over
	// [LargeRun], or the memory over [LargeBytes].
	Large bool `json:"large"`
}

// LargeRun is the guess from which on a run is announced before it begins.
const LargeRun = 20 * time.Second

// LargeBytes is the same for memory.
const LargeBytes = 1 << 30

// Progress tells how far a run has come.
type Progress struct {
	Done, Of int
	Say      string  // what is being measured
	Partial  *Report // all that was measured so far; nil where nothing was
}

// Report is what a run found. Times in it are of this machine at that moment.
type Report struct {
	Lab    string `json:"lab"`
	Model  string `json:"model"`
	Hash   string `json:"model_hash"`
	Draft  string `json:"draft,omitempty"`
	Values Values `json:"values"`
	// Result points to the lab's own struct, such as a [Cache]; nil where nothing
	// was measured.
	Result    any           `json:"result"`
	Findings  []string      `json:"findings"`  // what it comes to, in sentences
	Tables    []Table       `json:"tables"`    // the raw rows
	Noise     string        `json:"noise"`     // how much the measurement varied, in words
	Cancelled bool          `json:"cancelled"` // the run was ended early
	Took      time.Duration `json:"took_ns"`   // the whole run
}

// labs are all labs, by their places in the course.
var labs = map[int]Lab{}

// register puts a lab in its place. Each lab does so in its own file; places are
// tens, so that one can come between two others.
func register(place int, l Lab) Lab {
	if labs[place] != nil {
		panic(fmt.Sprintf("lab: %s and %s have the same place", l.Info().Name, labs[place].Info().Name))
	}
	labs[place] = l
	return l
}

// All returns the labs in the order in which a course meets them.
func All() []Lab {
	var list []Lab
	for _, place := range slices.Sorted(maps.Keys(labs)) {
		list = append(list, labs[place])
	}
	return list
}

// Find returns the lab of a name.
func Find(name string) (Lab, bool) {
	for _, l := range All() {
		if l.Info().Name == name {
			return l, true
		}
	}
	return nil, false
}

// begin makes the report of a run that is about to measure.
func begin(name string, env Env, v Values) *Report {
	r := &Report{Lab: name, Model: env.Target.Name(), Hash: env.Target.Hash(), Values: v}
	if env.Draft != nil {
		r.Draft = env.Draft.Name()
	}
	return r
}
