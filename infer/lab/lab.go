// Package lab measures what the lessons claim.
//
// "Linear, not quadratic." "Faster, with the same distribution." "Output costs more than input."
// Each lab tests one such sentence on the engine and returns typed rows with counts, times and the
// formula's results. The pages and the viz lab command run the same code, so a curve on a page and
// a table in a terminal cannot disagree.
//
// A [Lab] describes its question and its inputs ([Info]); [terms.Inputs.Read] checks values against
// their ranges; [Lab.Estimate] estimates the cost of a run; [Lab.Run] measures. A run reports its
// progress together with a [Report] of everything measured so far. A canceled run returns that
// report, marked as canceled, instead of an error, so no measurements are lost.
//
// Three rules hold in every lab. Counts are exact: multiply-adds are tallied where they are done,
// and they equal the formulas of infer/cost. Times are measured repeatedly, alternating with the
// times that they are compared with, and reported as a median with quartiles ([Spread]); time that
// a shared model spends on other users' passes is subtracted. Apart from times, a lab's results
// depend only on its values: the same values always produce the same rows.
package lab

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Lab tests one claim by measurement.
type Lab interface {
	// Info describes the lab in a language.
	Info(l *terms.Language) Info
	// Estimate estimates what a run would cost with these models. v must come from
	// [terms.Inputs.Read]. A *[terms.RangeError] means that the models cannot run it at all, for example
	// because the prompt is too long for the context.
	Estimate(env Env, v terms.Values) (Estimate, error)
	// Run measures with the values v. progress may be nil; it is called from Run's goroutine and
	// may retain its argument. If ctx is canceled, the run ends early and returns a report of the
	// measurements so far, with Canceled set, and no error. If nothing was measured yet, the
	// report's Result is nil.
	Run(ctx context.Context, env Env, v terms.Values, progress func(Progress)) (*Report, error)
}

// Env holds the models that a lab measures. Only the speculation lab needs Draft; for other labs,
// it may be nil. Language is the language of refusals; nil means English.
//
// If runners run the models' passes (see [infer.Model.Through], for example a slot in a pool), they
// must also be set here, so that the time that a pass waits in them is excluded from measurements.
type Env struct {
	Target, Draft             *infer.Model
	TargetRunner, DraftRunner infer.Runner
	Language                  *terms.Language
}

// words returns the language of refusals.
func (e Env) words() *terms.Language { return cmp.Or(e.Language, terms.English) }

// Info describes a lab to users.
type Info struct {
	Name     string       `json:"name"`
	Title    string       `json:"title"`
	Claim    string       `json:"claim"`    // the claim that the lab tests, in a sentence
	Friend   string       `json:"friend"`   // how far the claim is true, as you would tell a friend
	Question string       `json:"question"` // what the lab measures; learners predict the answer first
	Inputs   terms.Inputs `json:"params"`
	Try      []Preset     `json:"try"`      // two things to try
	Includes string       `json:"includes"` // what the measurement includes and excludes
	Drafts   bool         `json:"-"`        // the lab needs [Env.Draft]
}

// Preset is a named set of values. Omitted values are the defaults.
type Preset struct {
	Name   string       `json:"name"`
	Why    string       `json:"why"` // what to look for
	Values terms.Values `json:"values"`
}

// Estimate is the expected cost of a run. The time is a guess based on counted work and a recently
// measured speed. It is never shown as a measurement.
type Estimate struct {
	MultAdds int64         `json:"mult_adds"` // of matrix products
	Bytes    int64         `json:"bytes"`     // of caches and stored scores
	Took     time.Duration `json:"ns"`        // estimated
	// Large means that the user should confirm the run, because the guess is over [LargeRun] or the
	// memory is over [LargeBytes].
	Large bool `json:"large"`
}

// LargeRun is the estimated time above which users must confirm a run.
const LargeRun = 20 * time.Second

// LargeBytes is the amount of memory above which users must confirm a run.
const LargeBytes = 1 << 30

// Progress describes the progress of a run.
type Progress struct {
	Done, Of int
	Say      Phrase  // what is being measured
	Partial  *Report // everything measured so far; nil if nothing
}

// Report is the result of a run. Its times are valid only for this machine at the time of the run.
type Report struct {
	Lab    string       `json:"lab"`
	Model  string       `json:"model"`
	Hash   string       `json:"model_hash"`
	Draft  string       `json:"draft,omitempty"`
	Values terms.Values `json:"values"`
	// Result points to the lab's own struct, such as a [Cache]. It is nil if nothing was measured.
	Result   any           `json:"result"`
	Findings []Phrase      `json:"findings"`  // a summary, in sentences
	Tables   []Table       `json:"tables"`    // the raw rows
	Noise    Phrase        `json:"noise"`     // how much the measurement varied, in words
	Canceled bool          `json:"cancelled"` // the run was ended early
	Yielded  bool          `json:"-"`         // the run was ended to let another one proceed; set by the caller of Run
	Took     time.Duration `json:"took_ns"`   // duration of the whole run
}

// labs holds all labs by position in the course.
var labs = map[int]Lab{}

// register adds a lab at a position. Each lab's file registers its lab. Positions are multiples of
// ten, so that a lab can be inserted between two others.
func register(place int, l Lab) Lab {
	if labs[place] != nil {
		panic(fmt.Sprintf("lab: %s and %s have the same position", nameOf(l), nameOf(labs[place])))
	}
	labs[place] = l
	return l
}

// All returns the labs in course order.
func All() []Lab {
	var list []Lab
	for _, place := range slices.Sorted(maps.Keys(labs)) {
		list = append(list, labs[place])
	}
	return list
}

// Find returns the lab with the given name.
func Find(name string) (Lab, bool) {
	for _, l := range All() {
		if nameOf(l) == name {
			return l, true
		}
	}
	return nil, false
}

// nameOf returns a lab's name, which is the same in every language.
func nameOf(l Lab) string { return l.Info(terms.English).Name }

// begin returns the report of a run that is about to start.
func begin(name string, env Env, v terms.Values) *Report {
	r := &Report{Lab: name, Model: env.Target.Name(), Hash: env.Target.Hash(), Values: v}
	if env.Draft != nil {
		r.Draft = env.Draft.Name()
	}
	return r
}
