package lab

import (
	"maps"

	"github.com/tokenbytoken/viz/infer/terms"
)

// reckoner is a lab with values that affect only calculations, such as prices. If only such values
// change, no new measurement is needed.
type reckoner interface {
	// free returns the names of the values that can change without a new measurement.
	free() []string
	// reckon computes the result for v from the measured result. It returns nil if v needs a new
	// measurement.
	reckon(env Env, measured any, v terms.Values) outcome
}

// outcome is a lab's result struct, to which [Report.Result] points.
type outcome interface {
	findings() []Phrase
	tables() []Table
}

// Again computes the report for v from an earlier report, or returns nil if v needs a new run. v
// must come from [terms.Inputs.Read].
func Again(l Lab, env Env, r *Report, v terms.Values) *Report {
	lab, ok := l.(reckoner)
	if !ok || r == nil || r.Result == nil || r.Canceled || r.Hash != env.Target.Hash() {
		return nil
	}
	same := maps.Clone(r.Values)
	for _, name := range lab.free() {
		same[name] = v[name]
	}
	if !maps.Equal(same, v) {
		return nil
	}
	found := lab.reckon(env, r.Result, v)
	if found == nil {
		return nil
	}
	next := *r
	next.Values, next.Result, next.Findings, next.Tables = maps.Clone(v), found, found.findings(), found.tables()
	return &next
}

// calculator is a lab whose main result depends only on its values.
type calculator interface {
	// calculate computes the main result. Any error is a *[terms.RangeError].
	calculate(env Env, v terms.Values) (outcome, error)
}

// owner is a lab whose calculation applies to one of several models, which the user chooses.
type owner interface {
	// own returns the chosen model's own numbers for the inputs that can be omitted
	// ([terms.Input.Own]).
	own(env Env, v terms.Values) terms.Values
}

// Calculated computes a lab's result from its values, without measuring anything, or returns nil if
// the lab has to measure. v must come from [terms.Inputs.Read]. If the values are inconsistent, the
// error is a *[terms.RangeError].
func Calculated(l Lab, env Env, v terms.Values) (*Report, error) {
	lab, ok := l.(calculator)
	if !ok {
		return nil, nil
	}
	found, err := lab.calculate(env, v)
	if err != nil {
		return nil, err
	}
	r := begin(nameOf(l), env, v)
	r.Result, r.Findings, r.Tables = found, found.findings(), found.tables()
	return r, nil
}

// OwnNumbers returns the chosen model's own numbers for the inputs that can be omitted. The result
// is empty if the lab has no such inputs.
func OwnNumbers(l Lab, env Env, v terms.Values) terms.Values {
	if lab, ok := l.(owner); ok {
		return lab.own(env, v)
	}
	return nil
}
