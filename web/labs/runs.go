package labs

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/stage"
)

// A run belongs to the server rather than to the connection that requested it. A page numbers each
// press of its Run button (fieldPress). After the page has lost its connection, it repeats its last
// command with the same number. It then returns to the same run, however far the run has
// progressed, instead of starting a new one. A page that is reloaded during its run does the same.

const (
	// grace is how long a run continues without viewers. It is long enough for a page to reconnect.
	grace = time.Minute
	// keptRuns is the number of runs that are remembered, including runs in progress.
	keptRuns = 64
)

// A liveRun is a run that is in progress or has ended. Its goroutine stores the newest progress
// here, and any number of feeds can watch it.
type liveRun struct {
	press, key string // the press that started the run; its learner, lab and values, from keyOf
	guess      string
	values     terms.Values
	cancel     context.CancelFunc
	done       chan struct{} // closed at the end of the run, after report or err is set

	mu       sync.Mutex
	version  int // version of the progress, from 1; grows with every change
	progress lab.Progress
	partial  *lab.Report
	watching int
	alone    *time.Timer // ends the run if no viewer returns

	report *lab.Report
	err    error
}

// tell records the progress of the run.
func (r *liveRun) tell(p lab.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Partial != nil {
		r.partial = p.Partial
	}
	r.progress, r.progress.Partial = p, nil
	r.version++
}

// newest returns the progress with its version, and the newest report, which may be slightly older
// than the progress. The report is nil if there is none yet.
func (r *liveRun) newest() (p lab.Progress, partial *lab.Report, version int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress, r.partial, r.version
}

// ended reports whether the run is over.
func (r *liveRun) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// watch adds a viewer, and leave removes one. A run without viewers is canceled after the grace
// period, and keeps its measurements.
func (r *liveRun) watch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watching++
	if r.alone != nil {
		r.alone.Stop()
		r.alone = nil
	}
}

func (r *liveRun) leave(grace time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watching--; r.watching == 0 && !r.ended() {
		r.alone = time.AfterFunc(grace, r.cancel)
	}
}

// runs is a list of the newest runs.
type runs struct {
	mu   sync.Mutex
	list []*liveRun // newest first
}

// find returns the run with a key (learner, lab and values, from [keyOf]) that was started by the
// given press. If press is "", it returns the run in progress, whichever press started it. It
// returns nil if there is no such run.
func (s *runs) find(press, key string) *liveRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.list {
		if r.key == key && (r.press == press || press == "" && !r.ended()) {
			return r
		}
	}
	return nil
}

func (s *runs) add(r *liveRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.Insert(s.list, 0, r)
	for i := len(s.list) - 1; i >= 0 && len(s.list) > keptRuns; i-- {
		if s.list[i].ended() {
			s.list = slices.Delete(s.list, i, i+1)
		}
	}
}

// beginning is the status of a run that has not reported any progress yet.
var beginning = lab.Text("labs.run.beginning")

// begin starts a run in its own goroutine, watched by the page that requested it.
func (p *Pages) begin(
	w stage.Words, who admission.Caller, press, guessed string, l lab.Lab, v terms.Values,
) *liveRun {
	ctx, cancel := context.WithCancel(terms.With(p.Context, w.Language))
	r := &liveRun{
		press: press, key: keyOf(who.Learner, l.Info(w.Language), v), guess: guessed, values: v, cancel: cancel,
		done: make(chan struct{}), progress: lab.Progress{Say: beginning}, version: 1, watching: 1,
	}
	p.runs.add(r)
	go func() {
		defer close(r.done)
		defer cancel()
		r.err = fault.Do(p.Log, "a lab", func() (err error) {
			r.report, err = p.measure(ctx, who, l, v, r.tell)
			return err
		})
	}()
	return r
}
