package why

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/once"
	"github.com/tokenbytoken/viz/web/stage"
)

// habit describes one habit of heads in words.
type habit struct {
	Name, Say string
	Heads     []string
}

// finder measures a model's heads, once for all requests.
type finder struct {
	// measure is [why.Find]. wait is how long a request waits for the measurement.
	measure func(ctx context.Context, m *infer.Model, done func(share float64)) (*why.Findings, error)
	wait    time.Duration

	percent atomic.Int64 // how much of the measurement is done
	result  once.Values[findings]
}

func newFinder() finder { return finder{measure: why.Find, wait: findWait} }

// findings is the result of a measurement, which can be an error.
type findings struct {
	*why.Findings
	err error
}

const (
	// findWait is the maximum time that a request waits for a measurement. If the measurement takes
	// longer, the response shows its progress instead. The bundled model needs less than a second.
	findWait = 2 * time.Second
	// findTime is the time limit for a measurement, which must not keep a core busy for too long.
	findTime = 5 * time.Minute
)

// errMeasuring matches the refusal that is returned while a measurement is still running.
var errMeasuring = &terms.Refusal{Code: "measuring"}

// measureError means that a measurement failed.
type measureError struct{ cause error }

func (e *measureError) Error() string {
	return fmt.Sprintf("the heads of this model can't be measured: %v", e.cause)
}

// find returns the findings. While the measurement is running, the error matches [errMeasuring].
// After that, the error is the reason why there are no findings. A failed measurement is not
// repeated, because it would fail again.
func (f *finder) find(ctx context.Context, m *infer.Model, log *slog.Logger) (*why.Findings, error) {
	ctx, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	r, err := f.result.Get(ctx, "", func(ctx context.Context) (findings, error) { return f.run(ctx, m, log), nil })
	if err != nil {
		return nil, terms.Refuse(errMeasuring.Code, "explain.heads.measuring", "percent", int(f.percent.Load()))
	}
	return r.Findings, r.err
}

func (f *finder) run(ctx context.Context, m *infer.Model, log *slog.Logger) (r findings) {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	r.err = fault.Do(log, "looking for heads", func() (err error) {
		r.Findings, err = f.measure(ctx, m, func(share float64) { f.percent.Store(int64(100 * share)) })
		return err
	})
	switch {
	case r.err == nil:
	case errors.Is(r.err, context.DeadlineExceeded):
		r.err = terms.Refuse(terms.CodeBusy, "explain.heads.slow", "n", int(findTime.Minutes()))
	default:
		r.err = &measureError{r.err}
	}
	return r
}

// inWords describes the findings. If f is nil, the results are empty.
func inWords(w stage.Words, f *why.Findings) (how string, list []habit) {
	if f == nil {
		return "", nil
	}
	how = w.T(
		"explain.heads.measured", "rows", w.T("explain.heads.rows", "n", f.Texts),
		"tokens", w.T("explain.heads.tokens", "n", f.Row), "first", terms.Decimals(f.First, 2),
		"second", terms.Decimals(f.Second, 2),
	)
	for _, h := range f.Habits {
		one := habit{Name: w.T("explain.habit." + string(h.Habit))}
		if h.Pass == 0 {
			one.Say = w.T("explain.habit.none", "share", terms.Percent(why.Passing))
		} else {
			one.Say = w.T(
				"explain.habit.found", "n", h.Pass, "share", terms.Percent(why.Passing),
				"bits", terms.Decimals(h.Together, 2),
			)
		}
		for _, head := range h.Heads {
			one.Heads = append(one.Heads, w.T(
				"explain.habit.head", "head", nameOf(w, head.Part), "share", terms.Percent(head.Score),
				"bits", terms.Decimals(head.Off, 2),
			))
		}
		list = append(list, one)
	}
	return how, list
}
