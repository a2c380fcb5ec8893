package lab

import "maps"

// reckoner is a lab whose results follow in part from values alone, such as
// prices: with those changed nothing has to be measured anew.
type reckoner interface {
	// free names those values.
	free() []string
	// reckon makes the result for v of the one that was measured. It returns
	// nil where v asks for what cannot be.
	reckon(env Env, measured any, v Values) outcome
}

// outcome is a lab's own struct, as [Report] has it.
type outcome interface {
	findings() []string
	tables() []Table
}

// Again answers values out of what a report measured, or returns nil where
// they need a run of their own. v are values that [Info.Parse] returned.
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
