package room

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/store"
)

// TestMain allows many parallel tests, because the tests mostly wait for rooms to gather votes.
func TestMain(m *testing.M) {
	voteUntilKilled()
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(fixture.Suite{M: m})
}

var wholeCourse = sync.OnceValues(lessons.Load)

// realDriver opens runs of the bundled model without a server.
type realDriver struct {
	mu    sync.Mutex
	model *infer.Model
	open  []*realRun
	fails error // the error that Open returns, if not nil
}

func (d *realDriver) Open(ctx context.Context, _, text string) (class.Run, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails != nil {
		return nil, d.fails
	}
	r := &realRun{
		s: session.New(d.model, session.DefaultLimits()), watchers: map[int]func(){}, done: make(chan struct{}),
	}
	if text != "" {
		link, err := session.ParseLink(d.model, text)
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

// fail makes Open return err from now on, or succeed if err is nil.
func (d *realDriver) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails = err
}

// count returns the number of runs that were opened.
func (d *realDriver) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open)
}

// last returns the most recently opened run.
func (d *realDriver) last() *realRun {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[len(d.open)-1]
}

type realRun struct {
	mu       sync.Mutex
	s        *session.Session
	watchers map[int]func()
	closed   bool
	done     chan struct{} // closed by a test, as if the run had failed
	broken   error         // the error that Do returns, if not nil
}

func (r *realRun) Do(ctx context.Context, c session.Command) (*session.State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return nil, r.broken
	}
	st, err := r.s.Apply(ctx, c)
	r.tell()
	return st, err
}

// tick plays one unit, as a server's ticker does.
func (r *realRun) tick(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.s.Tick(ctx)
	r.tell()
	return err
}

func (r *realRun) tell() {
	for _, f := range r.watchers {
		f()
	}
}

func (r *realRun) State() *session.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.s.State()
}

func (r *realRun) Watch(f func()) func() {
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

func (r *realRun) Done() <-chan struct{} { return r.done }

func (r *realRun) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// caller returns a caller that the server knows.
func caller(learner string) admission.Caller { return admission.Caller{Learner: learner} }

// clock advances only when a test advances it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// school is a hub with its dependencies.
type school struct {
	*Hub
	t      *testing.T
	driver *realDriver
	clock  *clock
	db     *store.DB
	logs   journal.Journal
	dir    string
	ended  bool
}

// begun opens a hub on the folder dir, or in memory if dir is "". The hub is closed when the
// test ends.
func begun(t *testing.T, dir string, change ...func(*Config)) *school {
	t.Helper()
	m := testmodel.Target(t)
	course, err := wholeCourse()
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &school{
		t: t, dir: dir, driver: &realDriver{model: m}, clock: &clock{now: time.Now().UTC().Truncate(time.Second)},
		db: db,
	}
	s.logs = journal.For(db)
	cfg := Config{Logs: s.logs, Secrets: db, Course: course, Driver: s.driver, Now: s.clock.Now}
	cfg.NewRooms = admission.NewMeter(admission.Pace{}, nil)
	for _, f := range change {
		f(&cfg)
	}
	if s.Hub, err = NewHub(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	return s
}

// end closes the hub unless it is already closed.
func (s *school) end() {
	if s.ended {
		return
	}
	s.ended = true
	if err := errors.Join(s.Close(context.Background()), s.db.Close()); err != nil {
		s.t.Error(err)
	}
}

// lesson is a room with its instructor.
type lesson struct {
	class.Room
	t      *testing.T
	secret class.Secret
}

// ask runs f in the goroutine of a room that this server runs.
func (l *lesson) ask(ctx context.Context, f func(*core) error) error {
	return l.Room.(*local).ask(ctx, f)
}

// hub returns the hub that l's room belongs to.
func (l *lesson) hub() *Hub {
	if f, ok := l.Room.(*relay); ok {
		return f.hub
	}
	return l.Room.(*local).hub
}

const instructor = "the-teacher"

func (s *school) room(o class.Options) *lesson {
	s.t.Helper()
	r, secret, err := s.Create(s.t.Context(), caller(instructor), o)
	if err != nil {
		s.t.Fatal(err)
	}
	return &lesson{r, s.t, secret}
}

// does executes commands as the instructor. They must succeed.
func (l *lesson) does(list ...class.Command) *class.View {
	l.t.Helper()
	var v *class.View
	for _, c := range list {
		var err error
		if v, err = l.Present(l.t.Context(), instructor, l.secret, c); err != nil {
			l.t.Fatalf("%T: %v", c, err)
		}
	}
	return v
}

// refused executes a command as the instructor. It must fail and leave the stage and the
// poll unchanged.
func (l *lesson) refused(c class.Command, want error) string {
	l.t.Helper()
	before := l.View()
	_, err := l.Present(l.t.Context(), instructor, l.secret, c)
	if !errors.Is(err, want) {
		l.t.Fatalf("%T: %v, want %v", c, err, want)
	}
	after := l.View()
	if before.Link() != after.Link() || (before.Poll == nil) != (after.Poll == nil) ||
		before.Poll != nil && before.Poll.Phase != after.Poll.Phase {
		l.t.Errorf("%T was refused but changed something", c)
	}
	return err.Error()
}

func (l *lesson) start(prompt string) {
	l.t.Helper()
	l.does(class.Drive{Do: session.Start{Prompt: prompt}})
}

// class makes n learners join: "p1" to "pn", with nicknames if the room allows them.
func (l *lesson) class(n int) {
	l.t.Helper()
	for i := range n {
		if _, err := l.Join(l.t.Context(), caller(learner(i+1)), fmt.Sprint("Pupil ", i+1)); err != nil {
			l.t.Fatal(err)
		}
	}
}

func learner(id int) string { return fmt.Sprint("p", id) }

// votes casts a vote that must count.
func (l *lesson) votes(id int, b class.Ballot) class.Receipt {
	l.t.Helper()
	r, err := l.vote(id, b)
	if err != nil {
		l.t.Fatalf("the vote of member %d: %v", id, err)
	}
	return r
}

func (l *lesson) vote(id int, b class.Ballot) (class.Receipt, error) {
	if b.Poll == "" {
		b.Poll = l.View().Poll.ID
	}
	return l.Vote(l.t.Context(), learner(id), b)
}

// allVote casts the votes of members 1 to n in parallel and returns their receipts.
func (l *lesson) allVote(n int, ballot func(id int) class.Ballot) []class.Receipt {
	l.t.Helper()
	list, errs := make([]class.Receipt, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { list[i], errs[i] = l.vote(i+1, ballot(i+1)) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		l.t.Fatal(err)
	}
	return list
}

// patience is the longest wait for a state. Only failing tests wait that long.
const patience = 2 * time.Minute

// settled waits until `is` returns true for the view, and returns the view.
func (l *lesson) settled(what string, is func(*class.View) bool) *class.View {
	l.t.Helper()
	notes, end := l.hub().cfg.Broker.Subscribe(l.Code())
	defer end()
	for late := time.After(patience); ; {
		if v := l.View(); is(v) {
			return v
		}
		select {
		case <-notes:
		case <-late:
			l.t.Fatalf("the view never shows that %s: %+v", what, l.View())
		}
	}
}

// keys returns the options' keys.
func keys(p *class.Poll) (list []string) {
	for _, o := range p.Options {
		if !o.Rest {
			list = append(list, o.Key)
		}
	}
	return list
}

func counts(p *class.Poll) (list []int) {
	for _, o := range p.Options {
		list = append(list, o.Count)
	}
	return list
}

func same[T comparable](t *testing.T, what string, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if d := got - want; !(d < 1e-9 && d > -1e-9) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
