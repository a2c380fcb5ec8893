package runs

import "github.com/tokenbytoken/viz/web/admission"

// Begin begins a run for a request from another program. v watches the run. Like a learner's
// run, the run holds a place and memory and plays alongside the others, but it ends with the
// request: until [Registry.End], it is neither dropped nor evicted. The caller's learner must
// have a name that no browser has, since a browser with that name could open the run.
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
