package class

import (
	"cmp"
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

// gather is how long a vote waits so that other votes can be saved in the same commit.
const gather = 20 * time.Millisecond

// together is the maximum number of changes that wait for a commit.
const together = 512

// linkEvery is the interval at which the stage of a playing run is saved.
const linkEvery = 250 * time.Millisecond

// crowdEvery is the shortest interval between views that only add people or votes: each view
// is sent to everyone. stageEvery is the shortest interval between views of a playing run.
const (
	crowdEvery = 150 * time.Millisecond
	stageEvery = 30 * time.Millisecond
)

// afterRestart is the amount by which sequence numbers jump after a restart. It is more than
// the newest number can be ahead of the saved one.
const afterRestart = 1 << 20

// core is the state of a room. Only the room's goroutine uses it.
type core struct {
	cfg    *Config
	room   *Room
	code   string
	secret [sha256.Size]byte
	begun  time.Time
	used   time.Time // when someone last did something
	seq    uint64    // number of the newest view

	book     book      // which records of the log count
	place    int64     // sequence number of the newest record
	since    int       // records since the last snapshot
	keptUsed time.Time // the last saved value of used
	keptSeq  uint64    // the last saved value of seq
	owed     bool      // some data must still be erased from the disk
	untidy   time.Time // the log is not compacted before this time

	data      roomData
	members   []*member // by ID − 1
	byLearner map[string]*member
	polls     []*poll // by ID − 1
	votes     votes
	texts     []Text // texts before the one on the stage
	link      string // the link of the stage, as last saved

	here           int            // open pages of members
	presenter      string         // who holds the controls, "" for no one
	presenterPages map[string]int // open pages of presenters

	run     Run // nil while it is suspended
	unwatch func()
	lost    bool // a fault ended the run: the class is notified once there is a new one
	state   *session.State
	deleted bool

	relay   *relay                  // in a cluster, see [Cluster]
	epoch   uint64                  // in a cluster: the epoch of this owner
	servers map[string]*serverPages // in a cluster: the pages open on each server

	held    bool // the run is executing several commands, of which only the result will be shown
	stale   bool // link is not the link of state
	linkDue bool // link will be saved soon
	notice  string
	offer   *Offer         // an offer to the instructor
	offerAt *session.State // the state that the offer applies to
	loss    string         // a message to the instructor about data that could not be read

	pending []pending
	saving  []pending   // changes of a commit in progress
	due     *time.Timer // fires when pending votes must be saved
	later   *time.Timer // fires when the stage's link must be saved
	alarm   *time.Timer // fires when the poll ends
	news    *time.Timer // fires when a delayed view must be made
	waits   bool        // a view is delayed
}

// roomData is the part of a room that is saved as one record.
type roomData struct {
	Title                                        string    `json:"title"`
	Walk                                         string    `json:"walk,omitempty"`
	Step                                         int       `json:"step,omitempty"` // of the walkthrough, starting at 1
	Left                                         bool      `json:"left,omitempty"` // the presenter has left the script
	Poll                                         int       `json:"poll,omitempty"` // ID of the poll on the stage
	Timer                                        time.Time `json:"timer,omitzero"`
	Seed                                         uint64    `json:"seed"` // for shuffling and drawing in this room
	Nicknames, Alone, Locked, NamesHidden, Ended bool
	NamesFall                                    bool `json:",omitempty"`

	Tasks    string `json:"tasks,omitempty"` // assigned tasks, separated by spaces
	AskNames bool   `json:"ask_names,omitempty"`
}

// newSeed returns a random number below 2^53, which every JSON reader can represent.
func newSeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:]) >> 11
}

// pending holds changes that wait for a commit. done is called once they have been saved or
// could not be saved.
type pending struct {
	changes []entry
	done    func(error)
}

// empty initializes the maps and timers of a core.
func (c *core) empty() {
	c.byLearner, c.votes, c.presenterPages = map[string]*member{}, votes{}, map[string]int{}
	c.book.Newest = map[string]string{}
	for _, t := range []**time.Timer{&c.due, &c.later, &c.alarm, &c.news} {
		*t = time.NewTimer(time.Hour)
		(*t).Stop()
	}
}

// loop handles the room's requests and timers until ctx ends. It owns c during that time.
func (c *core) loop(ctx context.Context) {
	defer c.replaceRun(nil)
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
			c.refresh()
		case <-c.runEnded():
			if ctx.Err() != nil {
				continue // the room is ending, and the run with it
			}
			c.loseRun()
			c.room.restoreRun()
		case <-c.due.C:
			c.flush()
		case <-c.later.C:
			c.linkDue = false
			_ = c.commit() // logged; the next commit saves it
		case <-c.alarm.C:
			c.timeUp()
		case <-c.news.C:
			c.publish()
		}
		c.tidy(snapshotEvery)
	}
}

// replaceRun closes the run and replaces it with another one, or nil.
func (c *core) replaceRun(run Run) {
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

// adoptRun makes run the room's run.
func (c *core) adoptRun(run Run, st *session.State, notice string) {
	c.replaceRun(run)
	c.state, c.notice = st, notice
	if c.lost && notice == "" {
		c.notice = brokenNotice
	}
	c.lost = false
	if c.seq >= c.keptSeq+seqEvery { // after a restart: the next restart continues from this number
		_ = c.commit() // logged; the next commit saves it
	}
	if notice != "" { // the stage of a poll about a token is gone
		if p := c.onStage(); p != nil && p.aboutToken() {
			next := c.data
			next.Poll = 0
			_ = c.change(next, nil) // logged; if it failed, the poll stays on an empty stage
		}
	}
	c.publish()
}

// refresh publishes the newest state of the run.
func (c *core) refresh() {
	if c.run == nil || c.held {
		return
	}
	if st := c.run.State(); c.update(st) {
		if !c.linkDue {
			c.linkDue = true
			c.later.Reset(linkEvery)
		}
		c.publishSoon(stageEvery)
	}
}

// update makes st the room's state, and reports whether it is new.
func (c *core) update(st *session.State) bool {
	if st == nil || c.state != nil && st.Version <= c.state.Version {
		return false
	}
	if old := c.state; old != nil && st.Text != old.Text {
		c.keepText(old)
	}
	c.state, c.stale, c.notice = st, true, ""
	return true
}

// publish makes a new view of the room and notifies all followers.
func (c *core) publish() {
	c.news.Stop()
	c.waits = false
	c.show()
	c.cfg.Broker.Publish(c.code, Note{c.seq})
}

// publishSoon publishes a view within the given time, a single one for all changes until
// then.
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
		NamesFall: d.NamesFall,
		Leading:   c.presenterPages[c.presenter],
		Notice:    cmp.Or(c.notice, c.loss),
	}
	if st != nil {
		v.link = sync.OnceValue(func() string { return session.LinkOf(st) })
	}
	if w := c.cfg.Course.Walk(d.Walk); w != nil {
		v.Walk = &WalkView{Walk: w, Step: d.Step, Left: d.Left}
	}
	if c.offer != nil && c.offerAt == st && d.Poll == 0 {
		v.Offer = c.offer
	}
	if d.Ended {
		v.End = c.ending()
	}
	if p := c.onStage(); p != nil {
		v.Poll = p.onScreen(c.votes, p.Phase)
		v.Poll.Falls = c.falls(p)
		v.Hidden = p.Kind == Next && p.Phase != Revealed
	}
	c.store(v)
}

// store makes a view the room's newest.
func (c *core) store(v *View) {
	v.epoch = c.epoch
	c.room.view.Store(v)
	if c.relay != nil {
		c.relay.shown(v)
	}
}

// ended reports whether the code no longer admits anyone.
func (c *core) ended() bool {
	return c.data.Ended || c.cfg.Now().Sub(c.used) > c.cfg.Limits.CodeLife
}

func (c *core) standing(learner string) (Standing, error) {
	m, err := c.memberOf(learner)
	if err != nil {
		return Standing{}, err
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

func (c *core) openPresenter(who string) {
	c.presenterPages[who]++
	if c.presenter == "" || c.presenterPages[c.presenter] == 0 {
		c.presenter = who
	}
	c.used = c.cfg.Now()
	c.publish()
}

func (c *core) closePresenter(who string) {
	if c.presenterPages[who]--; c.presenterPages[who] <= 0 {
		delete(c.presenterPages, who)
	}
	if c.presenter == who && c.presenterPages[who] == 0 {
		c.presenter = ""
	}
	c.publish()
}

// mayPresent returns an error if the given presenter cannot control the run now.
func (c *core) mayPresent(who string) error {
	if !c.canPresent(who) {
		return ErrSecond
	}
	c.presenter = who
	return nil
}

// canPresent reports whether the given presenter has the controls or can take them.
func (c *core) canPresent(who string) bool {
	return c.presenter == "" || c.presenter == who || c.presenterPages[c.presenter] == 0
}
