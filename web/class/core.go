package class

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/web/session"
)

// gather is how long a vote may wait for others to be kept with it.
const gather = 20 * time.Millisecond

// together is how many of them are kept at once.
const together = 512

// linkEvery is how often the stage of a run that plays by itself is kept.
const linkEvery = 250 * time.Millisecond

// crowdEvery is how often a growing crowd, or votes, make a new view: each goes
// to everybody. stageEvery bounds the views of a run that plays.
const (
	crowdEvery = 150 * time.Millisecond
	stageEvery = 30 * time.Millisecond
)

// afterRestart is how far sequence numbers jump: further than they can have run
// ahead of what was kept.
const afterRestart = 1 << 20

// core is what a room knows. Only the room's goroutine touches it.
type core struct {
	cfg    *Config
	room   *Room
	code   string
	secret [sha256.Size]byte
	begun  time.Time
	used   time.Time // last time that someone did something
	seq    uint64    // of the newest view

	book     book      // which records of the log count
	place    int64     // of the newest one
	since    int       // how many there are since the last snapshot
	keptUsed time.Time // used, link and numbers of views as they are kept
	keptSeq  uint64
	owed     bool      // something is to be erased
	untidy   time.Time // until then the log is left as long as it is

	data      roomData
	members   []*member // by ID − 1
	byLearner map[string]*member
	polls     []*poll // by ID − 1
	votes     votes
	texts     []Text // before the one on the stage
	link      string // of the stage as it is kept

	here    int            // pages of members that are open
	seat    string         // who presents, "" for nobody
	sitters map[string]int // pages of presenters that are open

	run     Run // nil while it rests
	unwatch func()
	state   *session.State
	deleted bool
	held    bool // the run is being moved by many commands: only where it ends is shown
	stale   bool // link is not that of state
	linkDue bool // it will be kept soon
	notice  string

	pending []pending
	due     *time.Timer // for pending votes
	later   *time.Timer // for the stage's link
	alarm   *time.Timer // for the poll's end
	news    *time.Timer // for a view that may wait
	waits   bool        // one does
}

// roomData is what is kept of a room in one piece.
type roomData struct {
	Title                                        string    `json:"title"`
	Walk                                         string    `json:"walk,omitempty"`
	Step                                         int       `json:"step,omitempty"` // of the walkthrough, from 1
	Left                                         bool      `json:"left,omitempty"` // the presenter has left the script
	Poll                                         int       `json:"poll,omitempty"` // ID of the poll on the stage
	Timer                                        time.Time `json:"timer,omitzero"`
	Seed                                         uint64    `json:"seed"` // of what is shuffled and drawn here
	Nicknames, Alone, Locked, NamesHidden, Ended bool
}

// newSeed is random, below 2^53 so that any reader of the JSON gets it right.
func newSeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:]) >> 11
}

// member is one who follows. What is kept of a member is exported.
type member struct {
	Member
	Learner           string
	Nameless, Removed bool
	pages             int
}

// pending are changes that wait to be kept with others. done is called once
// they are kept or could not be.
type pending struct {
	changes []entry
	done    func(error)
}

// empty makes the maps and timers of a core.
func (c *core) empty() {
	c.byLearner, c.votes, c.sitters = map[string]*member{}, votes{}, map[string]int{}
	c.book.Newest = map[string]string{}
	for _, t := range []**time.Timer{&c.due, &c.later, &c.alarm, &c.news} {
		*t = time.NewTimer(time.Hour)
		(*t).Stop()
	}
}

// loop owns c until ctx ends.
func (c *core) loop(ctx context.Context) {
	defer close(c.room.done)
	defer c.put(nil)
	c.setAlarm()
	for {
		select {
		case <-ctx.Done():
			c.flush()
			c.tidy(snapshotAtEnd)
			return
		case f := <-c.room.requests:
			if f(c); c.deleted {
				return
			}
		case <-c.room.woken:
			c.look()
		case <-c.due.C:
			c.flush()
		case <-c.later.C:
			c.linkDue = false
			_ = c.commit() // logged; the next one makes up for it
		case <-c.alarm.C:
			c.timeUp()
		case <-c.news.C:
			c.publish()
		}
		c.tidy(snapshotEvery)
	}
}

// put gives the room another run, or none.
func (c *core) put(run Run) {
	if c.run != nil {
		c.unwatch()
		c.run.Close()
	}
	c.run, c.unwatch, c.stale = run, nil, false
	if run == nil {
		c.state = nil
		return
	}
	c.unwatch = run.Watch(c.room.wakeUp)
}

// take makes a run the room's own.
func (c *core) take(run Run, st *session.State, notice string) {
	c.put(run)
	c.state, c.notice = st, notice
	if c.seq >= c.keptSeq+seqEvery { // after a restart: another one goes on from here
		_ = c.commit() // logged; the next one makes up for it
	}
	if notice != "" { // the stage that a poll is about is gone
		if p := c.onStage(); p != nil && p.aboutToken() {
			next := c.data
			next.Poll = 0
			_ = c.change(next, nil) // logged; it stays on a stage that is empty
		}
	}
	c.publish()
}

// look sees what the run has become.
func (c *core) look() {
	if c.run == nil || c.held {
		return
	}
	if st := c.run.State(); c.see(st) {
		if !c.linkDue {
			c.linkDue = true
			c.later.Reset(linkEvery)
		}
		c.publishSoon(stageEvery)
	}
}

// see makes a state of the run the room's and reports whether it is another.
func (c *core) see(st *session.State) bool {
	if st == nil || c.state != nil && st.Version <= c.state.Version {
		return false
	}
	if old := c.state; old != nil && st.Text != old.Text {
		c.keepText(old)
	}
	c.state, c.stale, c.notice = st, true, ""
	return true
}

// publish makes a view of the room as it is and tells everybody.
func (c *core) publish() {
	c.news.Stop()
	c.waits = false
	c.show()
	c.cfg.Broker.Publish(c.code, Note{c.seq})
}

// publishSoon does so within a time, once for all that happens until then.
func (c *core) publishSoon(within time.Duration) {
	if !c.waits {
		c.waits = true
		c.news.Reset(within)
	}
}

// show makes the newest view.
func (c *core) show() {
	c.seq++
	d, st := c.data, c.state
	v := &View{
		Seq: c.seq, At: c.cfg.Now(), Code: c.code, Title: d.Title, State: st, Timer: d.Timer, Here: c.present(),
		Members:   c.active(),
		Nicknames: d.Nicknames, NamesHidden: d.NamesHidden, Locked: d.Locked, Alone: d.Alone, Ended: d.Ended,
		Presenting: c.sitters[c.seat] > 0, Notice: c.notice,
	}
	if st != nil {
		v.link = sync.OnceValue(func() string { return session.LinkOf(st) })
	}
	if w := c.cfg.Course.Walk(d.Walk); w != nil {
		v.Walk = &WalkView{Walk: w, Step: d.Step, Left: d.Left}
	}
	if p := c.onStage(); p != nil {
		v.Poll = p.view(c.votes, p.Phase)
		v.Hidden = p.Kind == Next && p.Phase != Revealed
	}
	c.room.view.Store(v)
}

// present counts the members who have a page open, active those not removed.
func (c *core) present() (n int) { return c.count(func(m *member) bool { return m.pages > 0 }) }
func (c *core) active() (n int)  { return c.count(func(*member) bool { return true }) }

func (c *core) count(is func(*member) bool) (n int) {
	for _, m := range c.members {
		if !m.Removed && is(m) {
			n++
		}
	}
	return n
}

// ended reports whether the code lets nobody in any more.
func (c *core) ended() bool {
	return c.data.Ended || c.cfg.Now().Sub(c.used) > c.cfg.Limits.CodeLife
}

// admit says why a learner cannot come in, or nil.
func (c *core) admit(learner string) error {
	m := c.byLearner[learner]
	switch {
	case m != nil && m.Removed:
		return ErrRemoved
	case c.ended():
		return ErrExpired
	case m != nil:
		return nil
	case c.data.Locked:
		return ErrLocked
	case c.active() >= c.cfg.Limits.Members:
		return ErrFull
	}
	return nil
}

// join makes a learner a member and counts a page. Who is new is kept with the
// next votes: before their own at the latest.
func (c *core) join(learner, name string) (Member, error) {
	if err := c.admit(learner); err != nil {
		return Member{}, err
	}
	m := c.byLearner[learner]
	fresh := m == nil
	if fresh {
		m = &member{Learner: learner}
		m.ID = len(c.members) + 1
		c.members = append(c.members, m)
		c.byLearner[learner] = m
	}
	renamed := c.data.Nicknames && !m.Nameless && name != "" && name != m.Name
	if renamed {
		m.Name = name
	}
	if fresh || renamed {
		c.used = c.cfg.Now()
		changes := []entry{c.memberEntry(*m)}
		if renamed {
			changes = append(changes, c.nameEntry(*m))
		}
		c.soon(nil, changes...)
	}
	m.pages++
	c.here++
	c.publishSoon(crowdEvery)
	return m.Member, nil
}

func (c *core) leave(learner string) {
	if m := c.byLearner[learner]; m != nil && m.pages > 0 {
		m.pages--
		c.here--
		c.publishSoon(crowdEvery)
	}
}

func (c *core) standing(learner string) (Standing, error) {
	m := c.byLearner[learner]
	if m == nil {
		return Standing{}, ErrStranger
	} else if m.Removed {
		return Standing{}, ErrRemoved
	}
	s := Standing{Member: m.Member}
	if p := c.onStage(); p != nil {
		if v, ok := c.votes[p.at()][m.ID]; ok {
			r := c.receipt(p, v)
			s.Vote = &r
		}
	}
	return s, nil
}

func (c *core) attendees() []Attendee {
	var list []Attendee
	p := c.onStage()
	for _, m := range c.members {
		if m.Removed {
			continue
		}
		a := Attendee{Member: m.Member, Here: m.pages > 0}
		if p != nil {
			if v, ok := c.votes[p.at()][m.ID]; ok {
				a.Voted = c.receipt(p, v).Text
			}
		}
		list = append(list, a)
	}
	slices.SortStableFunc(
		list, func(a, b Attendee) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) },
	)
	return list
}

func (c *core) sit(who string) {
	c.sitters[who]++
	if c.seat == "" || c.sitters[c.seat] == 0 {
		c.seat = who
	}
	c.used = c.cfg.Now()
	c.publish()
}

func (c *core) rise(who string) {
	if c.sitters[who]--; c.sitters[who] <= 0 {
		delete(c.sitters, who)
	}
	if c.seat == who && c.sitters[who] == 0 {
		c.seat = ""
	}
	c.publish()
}

// mayPresent says why someone cannot drive just now, or nil.
func (c *core) mayPresent(who string) error {
	if !c.free(who) {
		return ErrSecond
	}
	c.seat = who
	return nil
}

// free tells whether the seat is someone's, or could be.
func (c *core) free(who string) bool {
	return c.seat == "" || c.seat == who || c.sitters[c.seat] == 0
}
