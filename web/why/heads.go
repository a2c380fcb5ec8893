package why

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
)

// habit describes one habit of heads in words.
type habit struct {
	Name, Say string
	Heads     []string
}

// habits describes each of the habits for which heads are measured.
var habits = map[why.Habit]string{
	why.HabitPrevious:  "Looks at the token before",
	why.HabitInduction: "Looks at what came after the same token before (an induction head)",
	why.HabitStart:     "Looks at the start of the text",
}

// finder measures a model's heads once, for all requests.
type finder struct {
	// measure is [why.Find]. wait is how long a request waits for the measurement.
	measure func(ctx context.Context, m *infer.Model, done func(share float64)) (*why.Findings, error)
	wait    time.Duration

	mu   sync.Mutex
	last *search
}

func newFinder() finder { return finder{measure: why.Find, wait: findWait} }

// search is a measurement. It has ended when done is closed.
type search struct {
	percent atomic.Int64
	done    chan struct{}
	found   *why.Findings
	err     error
}

const (
	// findWait is the longest that a request waits for a measurement. After that, the response
	// shows the progress instead. The bundled model needs less than a second.
	findWait = 2 * time.Second
	// findTime is the time limit for a measurement. There is a limit because a measurement must not
	// keep a core busy for too long.
	findTime = 5 * time.Minute
)

// measuringError means that a measurement is still running. Its message is for the user.
type measuringError struct{ percent int64 }

func (e *measuringError) Error() string {
	return fmt.Sprintf(
		"The heads of this model are being measured: %d%% is done. This is done once, and then kept.", e.percent,
	)
}

// find returns the findings. The error is a *measuringError while the measurement is running, or
// the reason why there are no findings. A failed measurement is not repeated, because it would fail
// again.
func (f *finder) find(ctx context.Context, m *infer.Model, log *slog.Logger) (*why.Findings, error) {
	f.mu.Lock()
	s := f.last
	if s == nil {
		s = &search{done: make(chan struct{})}
		f.last = s
		go f.run(s, m, log)
	}
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	select {
	case <-s.done:
	case <-ctx.Done():
	}
	select {
	case <-s.done:
		return s.found, s.err
	default:
		return nil, &measuringError{s.percent.Load()}
	}
}

func (f *finder) run(s *search, m *infer.Model, log *slog.Logger) {
	defer close(s.done)
	ctx, cancel := context.WithTimeout(context.Background(), findTime)
	defer cancel()
	s.err = fault.Do(log, "looking for heads", func() (err error) {
		s.found, err = f.measure(ctx, m, func(share float64) { s.percent.Store(int64(100 * share)) })
		return err
	})
	switch {
	case s.err == nil:
	case errors.Is(s.err, context.DeadlineExceeded):
		s.err = fmt.Errorf(
			"measuring the heads of this model takes more than %s on this machine, so it was stopped",
			terms.Counted(int(findTime.Minutes()), "minute"),
		)
	default:
		s.err = fmt.Errorf("the heads of this model can't be measured: %w", s.err)
	}
}

// inWords describes the findings. If f is nil, the results are empty.
func inWords(f *why.Findings) (how string, list []habit) {
	if f == nil {
		return "", nil
	}
	how = fmt.Sprintf(
		"Measured on %s of %s, each said twice. The second time only the first can give away what comes: the model's "+
			"surprise is %s bits a token in the first half and %s in the second.",
		terms.Counted(f.Texts, "row"), terms.Counted(f.Row, "random token"), terms.Decimals(f.First, 2),
		terms.Decimals(f.Second, 2),
	)
	for _, h := range f.Habits {
		w := habit{Name: habits[h.Habit]}
		switch h.Pass {
		case 0:
			w.Say = fmt.Sprintf(
				"No head of this model does, by this measure: none gives %s of its weight there.",
				terms.Percent(why.Passing),
			)
		default:
			w.Say = fmt.Sprintf(
				"%s of this model %s, by this measure: %s of the weight or more. Without them the surprise is %s.",
				terms.Counted(h.Pass, "head"), map[bool]string{true: "does", false: "do"}[h.Pass == 1],
				terms.Percent(why.Passing), terms.Decimals(h.Together, 2),
			)
		}
		for _, head := range h.Heads {
			w.Heads = append(w.Heads, fmt.Sprintf(
				"%s: %s of its weight. Without it the surprise is %s.", nameOf(head.Part), terms.Percent(head.Score),
				terms.Decimals(head.Off, 2),
			))
		}
		list = append(list, w)
	}
	return how, list
}
