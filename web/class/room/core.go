package room

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/session"
)

// core is the state of a room. Only the room's goroutine uses it.
type core struct {
	cfg     *Config
	face    *Face
	host    Host
	signals signals
	code    string
	secret  [sha256.Size]byte
	begun   time.Time
	used    time.Time // when someone last did something
	deleted bool
	data    records.Data

	people
	questions
	raised
	scene
	logbook
	display
}

// signals are the ways in which a core reaches the other goroutines of its room. They are nil until
// the room starts.
type signals struct {
	wake    func()      // the run has a new state
	abandon func()      // another server runs the room, so nothing more may be confirmed
	left    func() bool // whether another server runs the room or soon will
}

// newSeed returns a random number below 2^53, so that every JSON reader can represent it exactly.
func newSeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:]) >> 11
}

// empty initializes the maps and timers of a core.
func (c *core) empty() {
	c.byLearner, c.votes, c.presenterPages = map[string]*member{}, polls.Votes{}, map[string]int{}
	c.servers, c.askers = map[string]*serverPages{}, map[int]string{}
	c.book.Newest = map[string]string{}
	for _, t := range []**time.Timer{&c.due, &c.later, &c.alarm, &c.news} {
		*t = time.NewTimer(time.Hour)
		(*t).Stop()
	}
}

// people are the members and presenters of a room.
type people struct {
	members   []*member // by ID − 1
	byLearner map[string]*member
	here      int // open pages of members

	presenter      string         // who holds the controls, "" for no one
	presenterPages map[string]int // open pages of presenters

	servers map[string]*serverPages // in a cluster: the pages on each server
}

// member is a follower. The exported fields are saved.
type member struct {
	class.Member
	Learner           string
	Nameless, Removed bool
	Work              *class.Work // the results they handed in, or nil
	pages             int
	renaming          int // the number of their nicknames that are being saved
	voted             bool
	asked             int          // the number of their questions, including erased ones; 0 after a restart
	known             bool         // whether they were a known caller when they joined; false after a restart
	address           netip.Prefix // the address from which they joined; zero after a restart
}

// questions are the polls of a room.
type questions struct {
	polls []*polls.Poll // by ID − 1
	votes polls.Votes
	alarm *time.Timer // fires when the poll ends
}

// raised are the members' questions to the instructor.
type raised struct {
	asked    []*records.Raised // by ID − 1; nil if it could not be read
	askers   map[int]string    // the learners who asked open questions, by question; never saved
	raisedAt uint64            // number of the first view with the newest change
}

// scene is the text on a room's stage, and the run that generates it.
type scene struct {
	run     class.Run // nil while it is suspended
	unwatch func()
	state   *session.State
	lost    bool // a fault ended the run: the class is notified once there is a new one
	held    bool // the run is executing several commands, of which only the result will be shown

	texts   []class.Text // texts that were on the stage before
	link    string       // the link of the stage, as last saved
	stale   bool         // link is not the link of state
	linkDue bool         // link will be saved soon
	later   *time.Timer  // fires when the stage's link must be saved
}

// logbook tracks the state of a room's log.
type logbook struct {
	epoch    uint64       // number of the newest epoch in the log; see [records.EpochType]
	book     records.Book // which records are current
	place    int64        // sequence number of the newest record
	since    int          // records since the last snapshot
	keptUsed time.Time    // the last saved value of used
	keptSeq  uint64       // the last saved value of seq
	owed     bool         // some data must still be erased from the disk
	untidy   time.Time    // the log is not compacted before this time

	pending []pending
	saving  []pending   // changes in the commit in progress
	due     *time.Timer // fires when pending votes must be saved
}

// pending holds changes that are waiting for a commit. done is called once they have been saved or
// saving them has failed.
type pending struct {
	changes []records.Entry
	done    func(error)
}

// display is what a room shows to its followers.
type display struct {
	seq     uint64 // number of the newest view
	notice  *terms.Refusal
	loss    *terms.Refusal // a message to the instructor about data that could not be read
	offer   *class.Offer   // an offer to the instructor
	offerAt *session.State // the state that the offer applies to
	news    *time.Timer    // fires when a delayed view is due
	waits   bool           // a view is delayed
}
