package runs

import "github.com/tokenbytoken/viz/web/admission"

// Begin begins a run for a request from another program. v watches the run. Like a learner's run,
// the run needs a permit and memory and plays alongside the others. Unlike it, the run is neither
// dropped nor evicted until the request ends it with [Registry.End]. The caller's Learner must be a
// name that no browser has, because a browser with that name could open the run.
func (rs *Registry) Begin(c admission.Caller, v *Viewer) *Run {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r := rs.begin(c, rs.newID(c.Learner), true)
	r.watch(v)
	return r
}

// End ends a run that [Registry.Begin] has begun, even if it is busy.
func (rs *Registry) End(r *Run) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.byID[r.id] == r {
		rs.drop(r)
	}
}
