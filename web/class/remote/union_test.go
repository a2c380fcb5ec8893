package remote

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/journal"
)

// union is the shared infrastructure of several servers in one process: logs, secrets,
// leases and a bus. Its methods simulate faults. Each server has a separate post, which it
// uses as its Fence, Leases and Bus.
type union struct {
	t     *testing.T
	logs  *journal.Memory
	clock *classtest.Clock

	mu     sync.Mutex
	leases map[string]*unionLease // by room
	terms  uint64
	posts  map[string]*post
	subs   map[string]map[*subscription]bool // by room
	acts   []string                          // servers that became owners, in order
}

type unionLease struct {
	server string
	term   uint64
	lost   chan struct{}
}

// post is one server of a union.
type post struct {
	*room.Hub
	directory *shared
	u         *union
	name      string
	driver    *classtest.Driver
	serve     func(context.Context, []byte) []byte
	dead      bool // as after kill -9: the server's actions have no effect
	cut       bool // disconnected from the others
	away      bool // the server knows that it has been disconnected for a long time

	loseRequests, loseAnswers int // the number of messages to lose next
}

// subscription delivers the messages of a room in the order in which they were sent, unless
// they are swapped.
type subscription struct {
	post     *post
	messages chan []byte
	swap     bool
	held     []byte
}

func newUnion(t *testing.T) *union {
	return &union{
		t: t, logs: journal.NewMemory(), clock: classtest.NewClock(),
		leases: map[string]*unionLease{}, posts: map[string]*post{},
		subs: map[string]map[*subscription]bool{},
	}
}

// quick contains short intervals, for tests that wait until a server counts as silent.
var quick = Paces{Beat: 20 * time.Millisecond, Gone: 200 * time.Millisecond, Idle: 300 * time.Millisecond}

// server starts a server that is stopped when the test ends.
func (u *union) server(name string) *post {
	u.t.Helper()
	course, err := classtest.Course()
	if err != nil {
		u.t.Fatal(err)
	}
	p := &post{u: u, name: name, driver: &classtest.Driver{Model: testmodel.Target(u.t)}}
	u.mu.Lock()
	u.posts[name] = p
	u.mu.Unlock()
	p.Hub, p.directory, err = joinCluster(room.Config{
		Logs: u.logs, Secrets: u, Course: course, Driver: p.driver, Now: u.clock.Now,
		NewRooms: admission.NewMeter(admission.Pace{}, nil),
	}, Cluster{
		Server: name, Leases: p, Bus: p, Fence: p, Secret: u.Secret, Paces: quick,
		Away: func() bool { return p.is(func() bool { return p.away }) },
	})
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil && !p.is(func() bool { return p.dead }) {
			u.t.Error(err)
		}
	})
	return p
}

// is evaluates f under the union's lock.
func (p *post) is(f func() bool) bool {
	p.u.mu.Lock()
	defer p.u.mu.Unlock()
	return f()
}

// kill stops a server the way kill -9 does. Its leases end immediately.
func (p *post) kill() {
	p.u.mu.Lock()
	defer p.u.mu.Unlock()
	p.dead = true
	for room, l := range p.u.leases {
		if l.server == p.name {
			delete(p.u.leases, room)
		}
	}
}

// pause ends the leases of a server without the server noticing.
func (p *post) pause() {
	p.u.mu.Lock()
	defer p.u.mu.Unlock()
	for room, l := range p.u.leases {
		if l.server == p.name {
			delete(p.u.leases, room)
		}
	}
}

// Secret implements [Cluster.Secret].
func (u *union) Secret(ctx context.Context, room string) ([]byte, error) {
	return records.SecretIn(ctx, u.logs, room)
}

// The following methods are only for single servers: in a cluster, the logs contain the
// hashes of the secrets.
func (u *union) KeepSecret(context.Context, string, []byte) error {
	return errors.New("not used in a cluster")
}

func (u *union) Secrets(context.Context) (map[string][]byte, error) { return nil, nil }

func (u *union) DropSecret(context.Context, string) error { return nil }

var errCut = errors.New("the network is cut")

// Take implements [Leases].
func (p *post) Take(_ context.Context, room string) (Lease, error) {
	u := p.u
	u.mu.Lock()
	defer u.mu.Unlock()
	if p.dead || p.cut {
		return Lease{}, errCut
	}
	if l := u.leases[room]; l != nil {
		return Lease{Server: l.server, Term: l.term}, nil
	}
	u.terms++
	l := &unionLease{p.name, u.terms, make(chan struct{})}
	u.leases[room] = l
	u.acts = append(u.acts, p.name)
	return Lease{Server: p.name, Term: l.term, Lost: l.lost, Release: func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.leases[room] == l {
			delete(u.leases, room)
		}
	}}, nil
}

// lapse ends the lease of a room and lets the owner notice.
func (u *union) lapse(room string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if l := u.leases[room]; l != nil {
		delete(u.leases, room)
		close(l.lost)
	}
}

// AppendAs implements [Fence].
func (p *post) AppendAs(ctx context.Context, b journal.Batch, epoch uint64) ([]int64, error) {
	u := p.u
	u.mu.Lock()
	defer u.mu.Unlock()
	if p.dead || p.cut {
		return nil, errCut
	}
	newest := uint64(0)
	note := func(r journal.Record) error {
		if n, err := strconv.ParseUint(r.ID, 10, 64); r.Type == records.EpochType && err == nil {
			newest = max(newest, n)
		}
		return nil
	}
	if err := u.logs.Read(ctx, b.Owner, 0, note); err != nil {
		return nil, err
	}
	if newest == epoch && len(b.Records) > 0 && b.Records[0].Type == records.EpochType {
		return nil, ErrFenced // two owners cannot use the same epoch
	}
	if newest > epoch {
		return nil, ErrFenced
	}
	for _, r := range b.Records {
		_ = note(r)
	}
	if newest != epoch {
		return nil, ErrFenced
	}
	return u.logs.Append(ctx, b)
}

// Publish implements [Bus].
func (p *post) Publish(room string, message []byte) {
	p.u.mu.Lock()
	defer p.u.mu.Unlock()
	if p.dead || p.cut {
		return
	}
	for s := range p.u.subs[room] {
		if s.post.cut || s.post.dead {
			continue
		}
		send := [][]byte{message}
		if s.swap { // the previous message arrives after this one
			if s.held == nil {
				s.held = message
				continue
			}
			send, s.held = append(send, s.held), nil
		}
		for _, m := range send {
			select {
			case s.messages <- m:
			default: // lost
			}
		}
	}
}

// Subscribe implements [Bus].
func (p *post) Subscribe(room string, f func([]byte)) (func(), error) {
	s := &subscription{post: p, messages: make(chan []byte, 64)}
	p.u.mu.Lock()
	defer p.u.mu.Unlock()
	if p.u.subs[room] == nil {
		p.u.subs[room] = map[*subscription]bool{}
	}
	p.u.subs[room][s] = true
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case m := <-s.messages:
				f(m)
			case <-ended:
				return
			}
		}
	}()
	return func() {
		p.u.mu.Lock()
		delete(p.u.subs[room], s)
		p.u.mu.Unlock()
		close(ended)
		<-done
	}, nil
}

// swap swaps each pair of messages to a server, so that the two arrive in the wrong order.
func (p *post) swap() {
	p.u.mu.Lock()
	defer p.u.mu.Unlock()
	for _, all := range p.u.subs {
		for s := range all {
			s.swap = s.swap || s.post == p
		}
	}
}

// Request implements [Bus].
func (p *post) Request(ctx context.Context, server string, request []byte) ([]byte, error) {
	p.u.mu.Lock()
	to := p.u.posts[server]
	if to == nil || to.dead {
		p.u.mu.Unlock()
		return nil, ErrNoServer
	}
	cut := p.dead || p.cut || to.cut
	if p.loseRequests > 0 {
		p.loseRequests--
		cut = true
	}
	late := p.loseAnswers > 0
	if late {
		p.loseAnswers--
	}
	serve := to.serve
	p.u.mu.Unlock()
	if cut {
		return nil, errCut
	}
	answers := make(chan []byte, 1)
	go func() { answers <- serve(context.WithoutCancel(ctx), request) }()
	if late {
		<-answers
		return nil, errCut
	}
	select {
	case a := <-answers:
		if p.is(func() bool { return to.dead || to.cut }) {
			return nil, errCut // it died while answering
		}
		return a, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Serve implements [Bus].
func (p *post) Serve(server string, f func(context.Context, []byte) []byte) (func(), error) {
	p.u.mu.Lock()
	defer p.u.mu.Unlock()
	p.serve = f
	return func() {}, nil
}

// shared returns the server's directory.
func (p *post) shared() *shared { return p.directory }

// teach creates a room on the server.
func (p *post) teach(o class.Options) *classtest.Lesson {
	p.u.t.Helper()
	r, secret, err := p.Create(p.u.t.Context(), classtest.Caller(classtest.Instructor), o)
	if err != nil {
		p.u.t.Fatal(err)
	}
	return &classtest.Lesson{Room: r, T: p.u.t, Secret: secret, Broker: p.Broker()}
}

// teaches returns the room as its instructor sees it on this server.
func (p *post) teaches(l *classtest.Lesson) *classtest.Lesson {
	p.u.t.Helper()
	r, err := p.Instruct(p.u.t.Context(), l.Code(), l.Secret, classtest.Caller(classtest.Instructor))
	if err != nil {
		p.u.t.Fatalf("the instructor on %s: %v", p.name, err)
	}
	return &classtest.Lesson{Room: r, T: p.u.t, Secret: l.Secret, Broker: p.Broker()}
}

// enters makes members join a room on the server.
func (p *post) enters(l *classtest.Lesson, ids ...int) *classtest.Lesson {
	p.u.t.Helper()
	var r class.Room
	for _, id := range ids {
		var err error
		if r, err = p.Enter(p.u.t.Context(), l.Code(), classtest.Caller(classtest.Learner(id))); err != nil {
			p.u.t.Fatalf("member %d enters on %s: %v", id, p.name, err)
		}
		if _, err := r.Join(p.u.t.Context(), classtest.Caller(classtest.Learner(id)),
			"Pupil "+strconv.Itoa(id)); err != nil {
			p.u.t.Fatalf("member %d joins on %s: %v", id, p.name, err)
		}
	}
	return &classtest.Lesson{Room: r, T: p.u.t, Secret: l.Secret, Broker: p.Broker()}
}
