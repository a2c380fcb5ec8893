package lab

import "maps"

// reckoner is a lab whose results partly follow from values alone, such as
// prices: if only those change, nothing has to be measured again.
type reckoner interface {
	// free names those values.
	free() []string
	// reckon works out the result for v from the measured one. It returns nil
	// if v needs a new measurement.
	reckon(env Env, measured any, v Values) outcome
}

// outcome is a lab's own struct, as in [Report].
type outcome interface {
	findings() []string
	tables() []Table
}

// Again works out the report for v from an earlier one, or returns nil if v
// needs a new run. v are values that [Info.Parse] returned.
func Again(l Lab, env Env, r *Report, v Values) *Report {
	lab, ok := l.(reckoner)
	if !ok || r == nil || r.Result == nil || r.Cancelled || r.Hash != env.Target.Hash() {
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
