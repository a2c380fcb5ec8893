package cluster

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// machine is a room on several servers under random faults. It records everything that was
// confirmed to the room's members.
type machine struct {
	u       *union
	t       *rapid.T
	l       *lesson
	posts   []*post // running servers
	started int
	number  int64
	sent    []ballot
	said    map[string]map[int]class.Receipt // the confirmed vote with the highest number, by poll and member
}

type ballot struct {
	id int
	class.Ballot
}

const voters = 3

func (m *machine) add() {
	m.started++
	m.posts = append(m.posts, m.u.server(fmt.Sprint("s", m.started)))
}

func (m *machine) any() *post { return rapid.SampledFrom(m.posts).Draw(m.t, "server") }

// vote sends a vote. The vote must be confirmed, or refused because the poll has closed or
// no server can be reached.
func (m *machine) vote(p *post, b ballot) {
	r, err := p.Enter(m.u.t.Context(), m.l.Code(), caller(learner(b.id)))
	var got class.Receipt
	if err == nil {
		got, err = r.Vote(m.u.t.Context(), learner(b.id), b.Ballot)
	}
	switch {
	case err == nil && got.N >= b.N:
		if got.N > m.said[b.Poll][b.id].N {
			if m.said[b.Poll] == nil {
				m.said[b.Poll] = map[int]class.Receipt{}
			}
			m.said[b.Poll][b.id] = got
		}
	case err == nil:
		m.t.Fatalf("vote %d was confirmed as %d", b.N, got.N)
	case !errors.Is(err, class.ErrClosed) && !errors.Is(err, class.ErrAway):
		m.t.Fatalf("voting as member %d: got error %v, want none or a known refusal", b.id, err)
	}
}

func (m *machine) does(p *post, c class.Command) {
	r, err := p.Instruct(m.u.t.Context(), m.l.Code(), m.l.secret, caller(instructor))
	if err == nil {
		_, err = classtest.Execute(m.u.t.Context(), r, instructor, m.l.secret, c)
	}
	for _, fine := range []error{class.ErrUnsure, class.ErrAway, class.ErrClosed, class.ErrOpen, class.ErrNoPoll} {
		if errors.Is(err, fine) {
			return
		}
	}
	if err != nil {
		m.t.Fatalf("%T: %v", c, err)
	}
}

func (m *machine) voteAnew() {
	p := m.any()
	r, err := p.Instruct(m.u.t.Context(), m.l.Code(), m.l.secret, caller(instructor))
	if err != nil {
		return // no server can be reached
	}
	q := r.View().Poll
	if q == nil {
		return
	}
	m.number++
	b := ballot{rapid.IntRange(1, voters).Draw(m.t, "member"), class.Ballot{
		Poll: q.ID, N: m.number, Choice: rapid.SampledFrom(q.Options).Draw(m.t, "choice").Key,
	}}
	m.sent = append(m.sent, b)
	m.vote(p, b)
}

// sendAgain resends an earlier vote, as a phone does after a lost reply.
func (m *machine) sendAgain() {
	if len(m.sent) > 0 {
		m.vote(m.any(), rapid.SampledFrom(m.sent).Draw(m.t, "vote"))
	}
}

// lose drops the next requests or replies of a server.
func (m *machine) lose(answers bool) {
	b := m.any().joined.bus
	var left atomic.Int64
	left.Store(2)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hinder = func(answered bool) error {
		if answered == answers && left.Add(-1) >= 0 {
			return errors.New("lost")
		}
		return nil
	}
}

// lapse ends the session of a server without the server knowing.
func (m *machine) lapse() {
	by, of := m.any(), m.any()
	if by != of {
		endSession(m.u.t, by.joined, of.joined)
	}
}

// kill stops a server the way kill -9 does, and starts another one.
func (m *machine) kill() {
	p := m.any()
	m.add()
	m.end(p)
}

// end stops a server the way kill -9 does. It also ends the server's session, so that the test does
// not have to wait for the session to expire.
func (m *machine) end(p *post) {
	p.kill()
	m.posts = slices.DeleteFunc(m.posts, func(x *post) bool { return x == p })
	endSession(m.u.t, m.posts[len(m.posts)-1].joined, p.joined)
}

// check compares the confirmed votes with the votes that a new server counts.
func (m *machine) check() {
	m.add()
	p := m.posts[len(m.posts)-1]
	for len(m.posts) > 1 {
		m.end(m.posts[0])
	}
	var sheet *class.Summary
	persist(m.u.t, func() (err error) {
		r, err := p.Instruct(m.u.t.Context(), m.l.Code(), m.l.secret, caller(instructor))
		if err == nil {
			sheet, err = r.Summary(m.u.t.Context(), m.l.secret)
		}
		return err
	})
	for i, q := range sheet.Polls {
		id, sum := fmt.Sprintf("%d-1", i+1), 0
		for _, n := range q.Rounds[0].Counts {
			sum += n
		}
		if sum < len(m.said[id]) || sum > voters {
			m.t.Errorf(
				"poll %s: got %d votes, with %d members confirmed; want at least %d and at most %d votes", id,
				sum, len(m.said[id]), len(m.said[id]), voters,
			)
		}
	}
	for member := 1; member <= voters; member++ {
		m.standing(p, member)
	}
}

// standing compares the vote that is counted for a member, in the poll on the stage, with the
// member's confirmed vote.
func (m *machine) standing(p *post, id int) {
	r, err := p.Enter(m.u.t.Context(), m.l.Code(), caller(learner(id)))
	must(m.u.t, err)
	s, err := r.Standing(m.u.t.Context(), learner(id))
	must(m.u.t, err)
	q := r.View().Poll
	if q == nil {
		return
	}
	said, told := m.said[q.ID][id]
	if told && (s.Vote == nil || s.Vote.N < said.N || s.Vote.N == said.N && s.Vote.Choice != said.Choice) {
		m.t.Errorf("member %d got receipt %+v, but %+v counts", id, said, s.Vote)
	}
}

// TestConfirmedActionsCountOnceUnderFaults: confirmed actions count exactly once, whatever faults
// hit servers, sessions and messages, and in whatever order.
func TestConfirmedActionsCountOnceUnderFaults(t *testing.T) {
	fixture.Long(t)
	for flagName, value := range map[string]string{"rapid.checks": "60", "rapid.steps": "40"} {
		f := flag.Lookup(flagName)
		defer func(was string) { _ = f.Value.Set(was) }(f.Value.String())
		_ = f.Value.Set(value)
	}
	s := streamtest.Node(t, t.TempDir())
	rapid.Check(t, func(rt *rapid.T) {
		u := newUnion(t, s)
		u.life, u.answer, u.paces.Call, u.paces.Try = patience, patience, patience, patience
		m := &machine{u: u, t: rt, said: map[string]map[int]class.Receipt{}}
		m.add()
		m.add()
		m.l = m.posts[0].teach(class.Options{})
		for id := range voters {
			m.posts[id%2].enters(m.l, id+1)
		}
		m.does(m.posts[0], class.AskQuestion{ID: "q-order"})
		rt.Repeat(map[string]func(*rapid.T){
			"vote":          func(*rapid.T) { m.voteAnew() },
			"send again":    func(*rapid.T) { m.sendAgain() },
			"close":         func(*rapid.T) { m.does(m.any(), class.Close{}) },
			"ask":           func(*rapid.T) { m.does(m.any(), class.AskQuestion{ID: "q-order"}) },
			"lose requests": func(*rapid.T) { m.lose(false) },
			"lose answers":  func(*rapid.T) { m.lose(true) },
			"lapse":         func(*rapid.T) { m.lapse() },
			"kill":          func(*rapid.T) { m.kill() },
		})
		m.check()
		for _, p := range m.posts {
			p.end()
		}
	})
}
