package remote

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
)

// machine is a room on several servers under random faults, with everything that was
// confirmed to its members.
type machine struct {
	u       *union
	t       *rapid.T
	l       *classtest.Lesson
	posts   []*post
	started int
	ballots map[string]map[int][]class.Ballot // all ballots that were sent, by poll and member
	said    map[string]map[int]class.Receipt  // the confirmed vote with the highest number
	number  int64
	seen    map[*post]*class.View
}

const voters = 3

func (m *machine) add() {
	m.started++
	p := m.u.server(fmt.Sprint("s", m.started))
	m.posts = append(m.posts, p)
}

// alive returns a running server.
func (m *machine) alive() *post {
	var list []*post
	for _, p := range m.posts {
		if p.is(func() bool { return !p.dead && !p.cut }) {
			list = append(list, p)
		}
	}
	return rapid.SampledFrom(list).Draw(m.t, "server")
}

// poll returns the poll on the stage as a server's pages show it once they have caught up.
func (m *machine) poll(p *post) *class.Poll {
	l := p.teaches(m.l)
	if _, err := l.CanPresent(m.u.t.Context(), classtest.Instructor); err != nil {
		m.t.Fatal(err)
	}
	return l.View().Poll
}

func (m *machine) vote(p *post, id int, b class.Ballot) {
	r, err := p.Enter(m.u.t.Context(), m.l.Code(), classtest.Caller(classtest.Learner(id)))
	if err != nil {
		m.t.Fatalf("member %d enters on %s: %v", id, p.name, err)
	}
	if m.ballots[b.Poll] == nil {
		m.ballots[b.Poll], m.said[b.Poll] = map[int][]class.Ballot{}, map[int]class.Receipt{}
	}
	m.ballots[b.Poll][id] = append(m.ballots[b.Poll][id], b)
	got, err := r.Vote(m.u.t.Context(), classtest.Learner(id), b)
	switch {
	case err == nil && got.N >= b.N:
		if got.N > m.said[b.Poll][id].N {
			m.said[b.Poll][id] = got
		}
	case err == nil:
		m.t.Fatalf("vote %d was confirmed as %d", b.N, got.N)
	case !errors.Is(err, class.ErrClosed) && !errors.Is(err, class.ErrAway):
		m.t.Fatalf("voting as member %d on %s: got error %v, want none or a known refusal", id, p.name, err)
	}
}

// does executes a command as the instructor on a server. The command may be refused.
func (m *machine) does(p *post, c class.Command) {
	l := p.teaches(m.l)
	if _, err := l.Do(m.u.t.Context(), c); err != nil &&
		!errors.Is(err, class.ErrUnsure) &&
		!errors.Is(err, class.ErrClosed) && !errors.Is(err, class.ErrOpen) && !errors.Is(err, class.ErrNoPoll) {
		m.t.Fatalf("%T on %s: got error %v, want none or a known refusal", c, p.name, err)
	}
}

// look checks that no server has gone back to an earlier view.
func (m *machine) look() {
	for _, p := range m.posts {
		f := p.shared().relayOf(m.l.Code())
		if f == nil {
			continue
		}
		v := f.View()
		if last := m.seen[p]; last != nil && last.After(v) {
			m.t.Fatalf(
				"%s shows view %d.%d after %d.%d, want newer ones only", p.name, v.Epoch, v.Seq, last.Epoch, last.Seq,
			)
		}
		m.seen[p] = v
	}
}

// check compares the votes that count according to a new server with the confirmed votes.
func (m *machine) check() {
	m.add()
	p := m.posts[len(m.posts)-1]
	for _, x := range m.posts[:len(m.posts)-1] {
		x.kill()
	}
	sheet, err := p.teaches(m.l).Summary(m.u.t.Context(), m.l.Secret)
	if err != nil {
		m.t.Fatal(err)
	}
	f, _, err := p.shared().relayOf(m.l.Code()).locate(m.u.t.Context(), time.Time{})
	if err != nil || f == nil {
		m.t.Fatalf("the last server is not the owner: got %v, want no error, f not nil", err)
	}
	log, err := journal.Load(m.u.t.Context(), m.u.logs,
		journal.Owner{Kind: journal.Room, Name: m.l.Code()}, records.Folding)
	if err != nil {
		m.t.Fatal(err)
	}
	m.compare(log.State.Votes, sheet)
}

func (m *machine) compare(all polls.Votes, sheet *class.Summary) {
	for i, p := range sheet.Polls {
		at := polls.Round{Poll: i + 1, N: 1}
		id := fmt.Sprintf("%d-1", i+1)
		sum, by := 0, map[string]int{}
		for _, v := range all[at] {
			by[v.Choice]++
		}
		for k, n := range p.Rounds[0].Counts {
			sum += n
			if o := p.Rounds[0].Options[k]; !o.Rest && n != by[o.Key] {
				m.t.Errorf("poll %s: %d votes for %s, want %d", id, n, o.Key, by[o.Key])
			}
		}
		if sum != len(all[at]) || sum > voters {
			m.t.Errorf(
				"poll %s: got %d votes of %d members; want %d, at most %d", id, sum, len(all[at]), len(all[at]), voters,
			)
		}
		for member, said := range m.said[id] {
			if v, ok := all[at][member]; !ok || v.N < said.N || v.N == said.N && v.Choice != said.Choice {
				m.t.Errorf("poll %s: member %d got receipt %+v, but %+v counts", id, member, said, v)
			}
		}
		for member, v := range all[at] {
			sent := false
			for _, b := range m.ballots[id][member] {
				sent = sent || b.N == v.N && b.Choice == v.Choice
			}
			if !sent {
				m.t.Errorf("poll %s: member %d never sent %+v", id, member, v)
			}
		}
	}
}

// TestConfirmedActionsCountOnceUnderFaults: whatever happens to owners, leases and messages,
// in whatever order, confirmed actions count exactly once, and no page goes back to an
// earlier view.
func TestConfirmedActionsCountOnceUnderFaults(t *testing.T) {
	t.Parallel()
	checks := flag.Lookup("rapid.checks")
	defer func(was string) { _ = checks.Value.Set(was) }(checks.Value.String())
	_ = checks.Value.Set("4") // each takes a tenth of a second
	if fixture.LongTier() {
		_ = checks.Value.Set("600")
	}
	rapid.Check(t, func(rt *rapid.T) {
		u := newUnion(t)
		m := &machine{
			u: u, t: rt, ballots: map[string]map[int][]class.Ballot{}, said: map[string]map[int]class.Receipt{},
			seen: map[*post]*class.View{},
		}
		for range 3 {
			m.add()
		}
		defer func() {
			for _, p := range m.posts {
				p.kill()
				_ = p.Close(u.t.Context()) // a dead server may be unable to save everything
			}
		}()
		m.l = m.posts[0].teach(class.Options{})
		for id := range voters {
			m.posts[id%3].enters(m.l, id+1)
		}
		m.does(m.posts[0], class.AskQuestion{ID: "q-order"})
		rt.Repeat(map[string]func(*rapid.T){
			"":             func(*rapid.T) { m.look() },
			"vote":         func(*rapid.T) { m.voteRandomly() },
			"send again":   func(*rapid.T) { m.sendAgain() },
			"close":        func(*rapid.T) { m.does(m.alive(), class.Close{}) },
			"ask":          func(*rapid.T) { m.does(m.alive(), class.AskQuestion{ID: "q-order"}) },
			"lose request": func(*rapid.T) { p := m.alive(); p.is(func() bool { p.loseRequests++; return true }) },
			"lose answer":  func(*rapid.T) { p := m.alive(); p.is(func() bool { p.loseAnswers++; return true }) },
			"swap":         func(*rapid.T) { m.alive().swap() },
			"lapse":        func(*rapid.T) { u.lapse(m.l.Code()) },
			"pause":        func(*rapid.T) { m.pause() },
			"kill":         func(*rapid.T) { m.kill() },
		})
		m.look()
		m.check()
	})
}

func (m *machine) voteRandomly() {
	p := m.alive()
	q := m.poll(p)
	if q == nil {
		return
	}
	m.number++
	choice := rapid.SampledFrom(q.Options).Draw(m.t, "choice").Key
	m.vote(p, rapid.IntRange(1, voters).Draw(m.t, "member"), class.Ballot{Poll: q.ID, Choice: choice, N: m.number})
}

// sendAgain resends an earlier vote, as a phone does after a lost reply.
func (m *machine) sendAgain() {
	var list []string
	for poll, all := range m.ballots {
		for id, ballots := range all {
			for i := range ballots {
				list = append(list, fmt.Sprint(poll, " ", id, " ", i))
			}
		}
	}
	if len(list) == 0 {
		return
	}
	slices.Sort(list) // so that runs can be reproduced
	poll, id, i := "", 0, 0
	least := rapid.SampledFrom(list).Draw(m.t, "vote")
	if _, err := fmt.Sscan(least, &poll, &id, &i); err != nil {
		m.t.Fatal(err)
	}
	m.vote(m.alive(), id, m.ballots[poll][id][i])
}

// pause ends a server's leases without the server noticing, so the server continues.
func (m *machine) pause() {
	p := m.alive()
	p.pause()
	for _, x := range m.posts {
		if f := x.shared().relayOf(m.l.Code()); f != nil && x != p {
			f.mu.Lock()
			lease := f.lease
			f.mu.Unlock()
			f.lose(lease)
		}
	}
}

// kill stops a server the way kill -9 does, and starts another one.
func (m *machine) kill() {
	m.alive().kill()
	m.add()
}
