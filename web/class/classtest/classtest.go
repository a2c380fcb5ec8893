// Package classtest helps to test rooms: a driver of real runs, a clock that a test advances, and a
// room with its instructor and members.
package classtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// Course loads the course once.
var Course = sync.OnceValues(lessons.Load)

// Driver opens runs of the bundled model without a server.
type Driver struct {
	mu    sync.Mutex
	Model *infer.Model
	open  []*Run
	fails error // the error that Open returns, if not nil
}

// Open implements [class.Driver].
func (d *Driver) Open(ctx context.Context, _, text string) (class.Run, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails != nil {
		return nil, d.fails
	}
	r := &Run{
		s: session.New(d.Model, session.DefaultLimits()), watchers: map[int]func(){}, done: make(chan struct{}),
	}
	if text != "" {
		link, err := session.ParseLink(d.Model, text)
		if err != nil {
			return nil, err
		}
		if _, err := r.Do(ctx, session.Open{Link: link}); err != nil {
			return nil, err
		}
	}
	d.open = append(d.open, r)
	return r, nil
}

// Fail makes Open return err from now on, or succeed if err is nil.
func (d *Driver) Fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails = err
}

// Count returns the number of runs that were opened.
func (d *Driver) Count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open)
}

// Last returns the most recently opened run.
func (d *Driver) Last() *Run {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[len(d.open)-1]
}

// Run is a run of the bundled model. It implements [class.Run].
type Run struct {
	mu       sync.Mutex
	s        *session.Session
	watchers map[int]func()
	Closed   bool
	done     chan struct{} // closed by fail
	Broken   error         // the error that Do returns, if not nil
}

// Do implements [class.Run].
func (r *Run) Do(ctx context.Context, c session.Command) (*session.State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Broken != nil {
		return nil, r.Broken
	}
	st, err := r.s.Apply(ctx, c)
	r.tell()
	return st, err
}

// Fail ends the run as if it had failed.
func (r *Run) Fail() { close(r.done) }

// Tick plays one unit, as a server's ticker does.
func (r *Run) Tick(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.s.Tick(ctx)
	r.tell()
	return err
}

func (r *Run) tell() {
	for _, f := range r.watchers {
		f()
	}
}

// State implements [class.Run].
func (r *Run) State() *session.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.s.State()
}

// Watch implements [class.Run].
func (r *Run) Watch(f func()) func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.watchers)
	r.watchers[n] = f
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.watchers, n)
	}
}

// Done implements [class.Run].
func (r *Run) Done() <-chan struct{} { return r.done }

// Close implements [class.Run].
func (r *Run) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Closed = true
}

// Caller returns a caller that the server knows.
func Caller(learner string) admission.Caller { return admission.Caller{Learner: learner} }

// Clock advances only when a test advances it.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows the current time, in whole seconds.
func NewClock() *Clock { return ClockAt(time.Now().UTC().Truncate(time.Second)) }

// ClockAt returns a clock that shows the given time.
func ClockAt(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Pass advances the clock.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Lesson is a room with its instructor.
type Lesson struct {
	class.Room
	T      *testing.T
	Secret class.Secret
	Broker class.Broker // announces the room's views
}

// Instructor is the learner who teaches a [Lesson].
const Instructor = "the-teacher"

// Do executes a command as the instructor.
func (l *Lesson) Do(ctx context.Context, c class.Command) (*class.View, error) {
	return Execute(ctx, l.Room, Instructor, l.Secret, c)
}

// Does executes commands as the instructor. They must succeed.
func (l *Lesson) Does(list ...class.Command) *class.View {
	l.T.Helper()
	var v *class.View
	for _, c := range list {
		var err error
		if v, err = l.Do(l.T.Context(), c); err != nil {
			l.T.Fatalf("%T: %v", c, err)
		}
	}
	return v
}

// Refused executes a command as the instructor. It must fail and leave the stage and the
// poll unchanged.
func (l *Lesson) Refused(c class.Command, want error) string {
	l.T.Helper()
	before := l.View()
	_, err := l.Do(l.T.Context(), c)
	if !errors.Is(err, want) {
		l.T.Fatalf("%T: %v, want %v", c, err, want)
	}
	after := l.View()
	if before.Link() != after.Link() || (before.Poll == nil) != (after.Poll == nil) ||
		before.Poll != nil && before.Poll.Phase != after.Poll.Phase {
		l.T.Errorf("%T was refused but changed something", c)
	}
	return err.Error()
}

// Start starts a text.
func (l *Lesson) Start(prompt string) {
	l.T.Helper()
	l.Does(class.Drive{Do: session.Start{Prompt: prompt}})
}

// Enroll makes n learners join: "p1" to "pn", with nicknames if the room allows them.
func (l *Lesson) Enroll(n int) {
	l.T.Helper()
	for i := range n {
		if _, err := l.Join(l.T.Context(), Caller(Learner(i+1)), fmt.Sprint("Pupil ", i+1)); err != nil {
			l.T.Fatal(err)
		}
	}
}

// Learner returns the name of the learner with the given number.
func Learner(id int) string { return fmt.Sprint("p", id) }

// MustCast casts a vote that must count.
func (l *Lesson) MustCast(id int, b class.Ballot) class.Receipt {
	l.T.Helper()
	r, err := l.Cast(id, b)
	if err != nil {
		l.T.Fatalf("member %d's vote failed: %v", id, err)
	}
	return r
}

// Cast casts a vote. A ballot without a poll is for the poll on the stage.
func (l *Lesson) Cast(id int, b class.Ballot) (class.Receipt, error) {
	if b.Poll == "" {
		b.Poll = l.View().Poll.ID
	}
	return l.Vote(l.T.Context(), Learner(id), b)
}

// AllCast casts the votes of members 1 to n in parallel and returns their receipts.
func (l *Lesson) AllCast(n int, ballot func(id int) class.Ballot) []class.Receipt {
	l.T.Helper()
	list, errs := make([]class.Receipt, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { list[i], errs[i] = l.Cast(i+1, ballot(i+1)) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		l.T.Fatal(err)
	}
	return list
}

// Patience is the longest wait for a state. Only failing tests wait that long.
const Patience = 2 * time.Minute

// Settled waits until `is` returns true for the view, and returns the view.
func (l *Lesson) Settled(what string, is func(*class.View) bool) *class.View {
	l.T.Helper()
	notes, end := l.Broker.Subscribe(l.Code())
	defer end()
	for late := time.After(Patience); ; {
		if v := l.View(); is(v) {
			return v
		}
		select {
		case <-notes:
		case <-late:
			l.T.Fatalf("the view never shows that %s: %+v", what, l.View())
		}
	}
}

// Keys returns the options' keys.
func Keys(p *class.Poll) (list []string) {
	for _, o := range p.Options {
		if !o.Rest {
			list = append(list, o.Key)
		}
	}
	return list
}

// Counts returns the options' numbers of votes.
func Counts(p *class.Poll) (list []int) {
	for _, o := range p.Options {
		list = append(list, o.Count)
	}
	return list
}

// Same checks that two lists are equal.
func Same[T comparable](t *testing.T, what string, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Near checks that two numbers are equal except for rounding.
func Near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if d := got - want; !(d < 1e-9 && d > -1e-9) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
