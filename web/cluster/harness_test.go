package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/remote"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(fixture.Suite{M: m}) }

// patience is the longest time to wait for a state. Only failing tests wait that long.
const patience = 2 * time.Minute

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// network is a server's connection to NATS, which can be cut.
type network struct {
	to    atomic.Pointer[server.Server]
	mu    sync.Mutex
	conns []net.Conn
}

func (n *network) InProcessConn() (net.Conn, error) {
	s := n.to.Load()
	if s == nil {
		return nil, errors.New("the network is cut")
	}
	c, err := s.InProcessConn()
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns = append(n.conns, c)
	return c, nil
}

// cut closes the connection immediately, even in the middle of a message.
func (n *network) cut() {
	n.to.Store(nil)
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		_ = c.Close()
	}
	n.conns = nil
}

var prefixes atomic.Int64

// union is a group of servers that share one NATS server.
type union struct {
	t      *testing.T
	nats   *server.Server
	prefix string
	life   time.Duration
	answer time.Duration // the servers' [Config.Answer]; 0 for the default
	ahead  time.Duration // how far the clocks of new servers are ahead
	paces  remote.Paces
	course *lessons.Course
}

func newUnion(t *testing.T, s *server.Server) *union {
	t.Helper()
	course, err := wholeCourse()
	must(t, err)
	return &union{
		t: t, nats: s, prefix: fmt.Sprint("test", prefixes.Add(1)), life: 6 * time.Second, course: course, paces: quick,
	}
}

var wholeCourse = sync.OnceValues(lessons.Load)

// post is one server.
type post struct {
	*room.Hub
	u      *union
	net    *network
	joined *Cluster
	ended  sync.Once
}

// quick contains short intervals, for tests that wait until a server is considered silent.
var quick = remote.Paces{Beat: 20 * time.Millisecond, Gone: 200 * time.Millisecond, Idle: 300 * time.Millisecond}

func (u *union) config(n *network) Config {
	ahead := u.ahead
	return Config{
		Now:    func() time.Time { return time.Now().Add(ahead) },
		Prefix: u.prefix, Life: u.life, Patience: patience, Answer: u.answer,
		Options: []nats.Option{nats.InProcessServer(n), nats.ReconnectWait(time.Millisecond)},
	}
}

// server starts a server that is stopped when the test ends.
func (u *union) server(name string) *post {
	u.t.Helper()
	p := &post{u: u, net: &network{}}
	p.net.to.Store(u.nats)
	cfg := u.config(p.net)
	cfg.Server = name
	var err error
	p.joined, err = Open(u.t.Context(), cfg)
	must(u.t, err)
	rooms := p.joined.Rooms()
	rooms.Paces = u.paces
	p.Hub, err = remote.NewHub(room.Config{
		Logs: p.joined.Journal(), Secrets: p.joined.Secrets(), Course: u.course, Now: p.joined.Now,
		Driver: &driver{testmodel.Target(u.t)}, NewRooms: admission.NewMeter(admission.Pace{}, nil),
	}, *rooms)
	must(u.t, err)
	u.t.Cleanup(p.end)
	return p
}

// end stops a server the way SIGTERM does.
func (p *post) end() {
	p.ended.Do(func() {
		if err := errors.Join(p.Close(context.Background()), p.joined.Close()); err != nil {
			p.u.t.Error(err)
		}
	})
}

// kill stops a server the way kill -9 does: from then on, its actions have no effect.
func (p *post) kill() {
	p.net.cut()
	p.ended.Do(func() {
		p.u.t.Cleanup(func() { // a dead server may be unable to save everything
			_ = p.Close(context.Background())
			_ = p.joined.Close()
		})
	})
}

// driver opens runs of the bundled model without a server.
type driver struct{ model *infer.Model }

func (d *driver) Open(ctx context.Context, _, text string) (class.Run, error) {
	r := &run{s: session.New(d.model, session.DefaultLimits()), watchers: map[int]func(){}, done: make(chan struct{})}
	if text == "" {
		return r, nil
	}
	link, err := session.ParseLink(d.model, text)
	if err != nil {
		return nil, err
	}
	_, err = r.Do(ctx, session.Open{Link: link})
	return r, err
}

type run struct {
	mu       sync.Mutex
	s        *session.Session
	watchers map[int]func()
	done     chan struct{}
}

func (r *run) Do(ctx context.Context, c session.Command) (*session.State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st, err := r.s.Apply(ctx, c)
	for _, f := range r.watchers {
		f()
	}
	return st, err
}

func (r *run) State() *session.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.s.State()
}

func (r *run) Watch(f func()) func() {
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

func (r *run) Done() <-chan struct{} { return r.done }
func (r *run) Close()                {}

// lesson is a room with its instructor, on one server.
type lesson struct {
	class.Room
	p      *post
	secret class.Secret
}

const instructor = "the-teacher"

func caller(learner string) admission.Caller { return admission.Caller{Learner: learner} }
func learner(id int) string                  { return fmt.Sprint("p", id) }

func (p *post) teach(o class.Options) *lesson {
	p.u.t.Helper()
	r, secret, err := p.Create(p.u.t.Context(), caller(instructor), o)
	must(p.u.t, err)
	return &lesson{r, p, secret}
}

// teaches returns the room as its instructor sees it on this server.
func (p *post) teaches(l *lesson) *lesson {
	p.u.t.Helper()
	r, err := p.Instruct(p.u.t.Context(), l.Code(), l.secret, caller(instructor))
	must(p.u.t, err)
	return &lesson{r, p, l.secret}
}

// enters makes members join a room on this server.
func (p *post) enters(l *lesson, ids ...int) *lesson {
	p.u.t.Helper()
	var r class.Room
	for _, id := range ids {
		var err error
		r, err = p.Enter(p.u.t.Context(), l.Code(), caller(learner(id)))
		must(p.u.t, err)
		_, err = r.Join(p.u.t.Context(), caller(learner(id)), fmt.Sprint("Pupil ", id))
		must(p.u.t, err)
	}
	return &lesson{r, p, l.secret}
}

// does executes commands as the instructor. They must succeed.
func (l *lesson) does(list ...class.Command) (v *class.View) {
	l.p.u.t.Helper()
	for _, c := range list {
		var err error
		if v, err = classtest.Execute(l.p.u.t.Context(), l.Room, instructor, l.secret, c); err != nil {
			l.p.u.t.Fatalf("%T: %v", c, err)
		}
	}
	return v
}

func (l *lesson) vote(id int, b class.Ballot) (class.Receipt, error) {
	return l.Vote(l.p.u.t.Context(), learner(id), b)
}

func (l *lesson) votes(id int, b class.Ballot) {
	l.p.u.t.Helper()
	r, err := l.vote(id, b)
	if err != nil || r.N != b.N || r.Choice != b.Choice {
		l.p.u.t.Fatalf(
			"the vote of member %d is confirmed as %+v, %v; want no error, N = %d, Choice = %q",
			id, r, err, b.N, b.Choice,
		)
	}
}

// settled waits until `is` returns true for the view, and returns the view.
func (l *lesson) settled(what string, is func(*class.View) bool) *class.View {
	l.p.u.t.Helper()
	notes, end := l.p.Broker().Subscribe(l.Code())
	defer end()
	for late := time.After(patience); ; {
		if v := l.View(); is(v) {
			return v
		}
		select {
		case <-notes:
		case <-late:
			l.p.u.t.Fatalf("the view never shows that %s: %+v", what, l.View())
		}
	}
}

func sum(p *class.Poll) (n int) {
	for _, o := range p.Options {
		n += o.Count
	}
	return n
}
