package labs

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/web/admission"
)

// A run belongs to the server, not to the connection that requested it. A page numbers each
// press of its Run button (fieldPress); after a cut connection it repeats its last command with
// the same number and gets back to the same run, however far it has progressed, instead of
// starting over. So does a page that is reloaded during its run.

const (
	// grace is how long a run continues without viewers: long enough for a page to reconnect.
	grace = time.Minute
	// keptRuns is how many runs are remembered, including those in progress.
	keptRuns = 64
)

// A liveRun is a run, in progress or ended. Its goroutine stores the newest progress here; any
// number of feeds can watch.
type liveRun struct {
	press, key string // the press that started it; the learner, lab and values, from keyOf
	guess      string
	values     lab.Values
	cancel     context.CancelFunc
	done       chan struct{} // closed at the end, when report or err is set

	mu       sync.Mutex
	version  int // of progress, from 1; grows with every change
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

// newest returns the progress with its version, and the report for it or a slightly older one,
// nil if there is none yet.
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

// watch counts a new viewer, as leave counts one that is gone. A run without viewers continues
// for a while and is then canceled; it keeps what it has measured.
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

// runs holds the newest runs.
type runs struct {
	mu   sync.Mutex
	list []*liveRun // the newest first
}

// find returns the run with a key ([keyOf]: learner, lab and values) that one
// press started. With press "" it finds a run in progress of any press. It
// returns nil if there is none.
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

// begin starts a run in its own goroutine, watched by the page that requested it.
func (p *Pages) begin(who admission.Caller, press, guessed string, l lab.Lab, v lab.Values) *liveRun {
	ctx, cancel := context.WithCancel(p.Context)
	r := &liveRun{
		press: press, key: keyOf(who.Learner, l.Info(), v), guess: guessed, values: v, cancel: cancel,
		done: make(chan struct{}), progress: lab.Progress{Say: "beginning"}, version: 1, watching: 1,
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
