package runs

import "github.com/tokenbytoken/viz/web/admission"

// Begin begins a run for a request from another program, which v watches. It holds a place
// and memory like a learner's run and plays alongside them, but it ends with the request:
// until [Registry.End] it is neither dropped nor evicted. The caller's learner must be a
// name that no browser has, since that browser could open the run.
func (rs *Registry) Begin(c admission.Caller, v *Viewer) *Run {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r := rs.begin(c, rs.newID(c.Learner), true)
	r.watch(v)
	return r
}

// End ends a run that [Registry.Begin] began, whatever it is doing.
func (rs *Registry) End(r *Run) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.byID[r.id] == r {
		rs.drop(r)
	}
}
