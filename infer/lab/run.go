package lab

import (
	"context"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
)

// running is the state of a run in progress: its report, and the function that receives progress.
type running struct {
	ctx      context.Context
	env      Env
	report   *Report // without Result and Tables
	progress func(Progress)
	start    time.Time
	told     time.Time
	done, of int
	// fill copies everything measured so far to a report. It leaves Result nil if nothing was
	// measured yet.
	fill func(*Report)
}

// exact is the [Report.Noise] text of a lab that does not measure times.
var exact = Text("lab.noise.exact")

// partialEvery is the interval at which a run sends its results so far. The first rows are sent
// immediately.
const partialEvery = 100 * time.Millisecond

func start(ctx context.Context, name string, env Env, v terms.Values, progress func(Progress)) *running {
	return &running{ctx: ctx, env: env, report: begin(name, env, v), progress: progress, start: time.Now()}
}

// tell reports that n more parts of the run are done, and what comes next (say).
func (r *running) tell(n int, say Phrase) {
	r.done += n
	if r.progress == nil {
		return
	}
	p := Progress{Done: min(r.done, r.of), Of: r.of, Say: say}
	if now := time.Now(); now.Sub(r.told) >= partialEvery {
		if part := r.snapshot(); part.Result != nil {
			p.Partial, r.told = part, now
		}
	}
	r.progress(p)
}

func (r *running) snapshot() *Report {
	part := *r.report
	part.Took = time.Since(r.start)
	r.fill(&part)
	if part.Noise.IsZero() && part.Result != nil {
		part.Noise = exact
	}
	if found, ok := part.Result.(outcome); ok {
		part.Findings, part.Tables = found.findings(), found.tables()
	}
	return &part
}

// end returns the results of Run. err is nil if the run succeeded.
func (r *running) end(err error) (*Report, error) {
	if err != nil && !canceled(r.ctx, err) {
		return nil, err
	}
	r.report.Canceled = err != nil
	whole := r.snapshot()
	if r.progress != nil && err == nil {
		r.progress(Progress{Done: r.of, Of: r.of, Say: Text("lab.run.done"), Partial: whole})
	}
	return whole, nil
}
