// Package lab measures what the lessons claim.
//
// "Linear, not quadratic." "Faster, with the same distribution." "Output costs more than
// input." Each lab tests one such sentence on the engine and returns typed rows: what was
// counted, what was timed, and what the formula gives. The pages and the viz lab command
// run the same code, so a curve on a page and a table in a terminal cannot disagree.
//
// A [Lab] states its question and its parameters ([Info]); [Info.Parse] checks values
// against their ranges; [Lab.Estimate] estimates the cost of a run; [Lab.Run] measures. A
// run reports its progress with a complete [Report] so far. A canceled run returns that
// report, marked as canceled, instead of an error, so that measurements are kept.
//
// Three rules hold in every lab. Counts are exact: multiply-adds are tallied where they are
// done and equal the formulas of infer/cost. Times are repeated, interleaved with what they
// are compared with, and reported as a median between quartiles ([Spread]); the time that a
// shared model spent on other users' passes is subtracted. And apart from times, a lab's
// results depend on its values alone: the same values give the same rows.
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
	// Estimate estimates what a run would cost with these models. v must come from
	// [Info.Parse]. A *[RangeError] means that the models cannot run it at all, for example
	// because the prompt is too long for the context.
	Estimate(env Env, v Values) (Estimate, error)
	// Run measures. progress may be nil; it is called from Run's goroutine, and may retain
	// its argument. If ctx is canceled, the run ends early and returns a report of the
	// measurements so far (Canceled) and no error. If nothing was measured yet, the
	// report's Result is nil.
	Run(ctx context.Context, env Env, v Values, progress func(Progress)) (*Report, error)
}

// Env holds what a lab measures with. Only the speculation lab needs Draft; it may be nil.
//
// If runners run the models' passes ([infer.Model.Through], a slot in a pool), they are
// listed here too, so that the time a pass waits in them is excluded from measurements.
// measurement.
type Env struct {
	Target, Draft             *infer.Model
	TargetRunner, DraftRunner infer.Runner
}

// Info describes a lab to users.
type Info struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Claim    string   `json:"claim"`    // the claim that it tests, in a sentence
	Friend   string   `json:"friend"`   // what remains of it, in words for a friend
	Question string   `json:"question"` // what the lab measures; learners predict it first
	Params   []Param  `json:"params"`
	Try      []Preset `json:"try"`      // two things to try
	Includes string   `json:"includes"` // what the measurement includes and excludes
	Drafts   bool     `json:"-"`        // it needs [Env.Draft]
}

// Preset is a named choice of values. Values that it omits have their defaults.
type Preset struct {
	Name   string `json:"name"`
	Why    string `json:"why"` // what to look for
	Values Values `json:"values"`
}

// Estimate is the expected cost of a run. The time is a guess from counted work and a rate
// measured just before; it is never shown as a measurement.
type Estimate struct {
	MultAdds int64         `json:"mult_adds"` // of matrix products
	Bytes    int64         `json:"bytes"`     // of caches and stored scores
	Took     time.Duration `json:"ns"`        // a guess
	// Large means that the user should confirm the run: the guess is over [LargeRun], or
	// the memory over [LargeBytes].
	Large bool `json:"large"`
}

// LargeRun is the guessed time from which users must confirm a run.
const LargeRun = 20 * time.Second

// LargeBytes is the corresponding limit on memory.
const LargeBytes = 1 << 30

// Progress reports how far a run has got.
type Progress struct {
	Done, Of int
	Say      string  // what is being measured
	Partial  *Report // everything measured so far; nil if nothing
}

// Report is the result of a run. Its times are for this machine at that moment.
type Report struct {
	Lab    string `json:"lab"`
	Model  string `json:"model"`
	Hash   string `json:"model_hash"`
	Draft  string `json:"draft,omitempty"`
	Values Values `json:"values"`
	// Result points to the lab's own struct, such as a [Cache]; nil if nothing was
	// measured.
	Result   any           `json:"result"`
	Findings []string      `json:"findings"`  // a summary, in sentences
	Tables   []Table       `json:"tables"`    // the raw rows
	Noise    string        `json:"noise"`     // how much the measurement varied, in words
	Canceled bool          `json:"cancelled"` // the run was ended early
	Yielded  bool          `json:"-"`         // to let another run proceed; set by the caller of Run
	Took     time.Duration `json:"took_ns"`   // the whole run
}

// labs holds all labs, by their position in the course.
var labs = map[int]Lab{}

// register adds a lab at its position. Each lab does so in its own file; positions are
// multiples of ten, so that a lab can be inserted between two others.
func register(place int, l Lab) Lab {
	if labs[place] != nil {
		panic(fmt.Sprintf("lab: %s and %s have the same position", l.Info().Name, labs[place].Info().Name))
	}
	labs[place] = l
	return l
}

// All returns the labs in the order of the course.
func All() []Lab {
	var list []Lab
	for _, place := range slices.Sorted(maps.Keys(labs)) {
		list = append(list, labs[place])
	}
	return list
}

// Find returns the lab with a name.
func Find(name string) (Lab, bool) {
	for _, l := range All() {
		if l.Info().Name == name {
			return l, true
		}
	}
	return nil, false
}

// begin returns the report of a run that is about to start.
func begin(name string, env Env, v Values) *Report {
	r := &Report{Lab: name, Model: env.Target.Name(), Hash: env.Target.Hash(), Values: v}
	if env.Draft != nil {
		r.Draft = env.Draft.Name()
	}
	return r
}
