package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/load"
)

// stayer is a phone that reconnects whenever its connection ends, as the page
// does, and remembers everything it received.
type stayer struct {
	load.Phone
	name     string
	restarts bool // the server may restart, which also restarts a text, so positions may go back
	stop     context.CancelFunc
	done     chan struct{}

	mu          sync.Mutex
	news        chan struct{} // closed when a message has been handled, then replaced
	connections int
	shots       []shot
	votes       []yourVote // in the order received
	ack         uint64     // the last command answered on the current connection
	refusal     string     // the last refusal
	problems    []string
}

// shot is a received snapshot.
type shot struct {
	connection int
	seq        uint64
	arrived    time.Time
	load.Shared
}

// yourVote is a vote that the server has confirmed.
type yourVote struct {
	Poll   string `json:"poll"`
	Round  int    `json:"round"`
	Choice string `json:"choice"`
	Number int64  `json:"number"`

	connection int
}

// round returns the poll and round of a vote.
func (v yourVote) round() string { return fmt.Sprint(v.Poll, " ", v.Round) }

// newStayer returns a phone that starts following a room, through the proxy at via if via is not
// "".
func newStayer(t *testing.T, name, url, code, via string, restarts bool) *stayer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &stayer{
		Phone: load.Phone{URL: url, Code: code, Via: via}, name: name, restarts: restarts, stop: cancel,
		done: make(chan struct{}), news: make(chan struct{}),
	}
	go func() {
		defer close(s.done)
		s.stay(ctx)
	}()
	t.Cleanup(s.end)
	return s
}

func (s *stayer) end() {
	s.stop()
	s.HangUp()
	<-s.done
}

// The delays before a phone reconnects are the same as in the page's script. The maximum delay
// doubles from first to last. Each delay is a random time up to the maximum, so phones that lost a
// server do not all reconnect at the same moment.
const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = 10 * time.Second
)

// stay reconnects repeatedly until ctx ends, with full jitter.
func (s *stayer) stay(ctx context.Context) {
	for tries := 0; ctx.Err() == nil; tries++ {
		if tries > 0 {
			ceiling := min(lastRetry, firstRetry<<(tries-1))
			select {
			case <-time.After(rand.N(ceiling)):
			case <-ctx.Done():
				return
			}
		}
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := s.Dial(short)
		cancel()
		if err != nil {
			continue
		}
		if ctx.Err() != nil {
			s.HangUp()
			return
		}
		s.mu.Lock()
		s.connections++
		s.ack = 0
		s.mu.Unlock()
		_ = s.Follow(func(f load.Frame) error {
			tries = 0
			return s.receive(f)
		})
		s.HangUp()
	}
}

func (s *stayer) receive(f load.Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		close(s.news)
		s.news = make(chan struct{})
	}()
	if f.At.IsZero() {
		return s.receiveOwn(f)
	}
	var m struct{ Data load.Shared }
	if err := json.Unmarshal(f.Body, &m); err != nil {
		s.problem("a snapshot that cannot be parsed: %v", err)
		return err
	}
	now := shot{s.connections, f.Seq, time.Now(), m.Data}
	if n := len(s.shots); n > 0 {
		last := s.shots[n-1]
		switch {
		case now.seq < last.seq:
			s.problem("snapshot %d came after %d", now.seq, last.seq)
		case now.seq == last.seq && now.connection == last.connection:
			s.problem("snapshot %d came twice on one connection", now.seq)
		case !s.restarts && now.before(last):
			s.problem(
				"text %d step %d stage %d came after text %d step %d stage %d", now.Text, now.Step, now.Stage,
				last.Text, last.Step, last.Stage,
			)
		}
	}
	s.shots = append(s.shots, now)
	return nil
}

// at returns the position of a snapshot, in stages from the prompt.
func (s shot) at() int { return (s.Step-1)*7 + s.Stage }

// before reports whether s precedes other in a class that only moves forward.
func (s shot) before(other shot) bool {
	return cmp.Or(
		cmp.Compare(s.Text, other.Text), cmp.Compare(s.Step, other.Step), cmp.Compare(s.Stage, other.Stage),
	) < 0
}

func (s *stayer) receiveOwn(f load.Frame) error {
	var m struct {
		Ack   uint64
		Error *struct{ Message string }
		Data  *struct {
			You *struct{ Vote *yourVote }
		}
	}
	if err := json.Unmarshal(f.Body, &m); err != nil {
		s.problem("a message that cannot be parsed: %v", err)
		return err
	}
	s.ack = max(s.ack, m.Ack)
	if m.Error != nil {
		s.refusal = m.Error.Message
	}
	if m.Data != nil && m.Data.You != nil && m.Data.You.Vote != nil {
		v := *m.Data.You.Vote
		v.connection = s.connections
		s.votes = append(s.votes, v)
	}
	return nil
}

func (s *stayer) problem(format string, args ...any) {
	s.problems = append(s.problems, s.name+": "+fmt.Sprintf(format, args...))
}

// last returns the newest snapshot.
func (s *stayer) last() (sh shot) {
	if n := len(s.shots); n > 0 {
		sh = s.shots[n-1]
	}
	return sh
}

// until waits for a condition on fields that mu guards, and returns the latest snapshot.
func (s *stayer) until(ctx context.Context, is func() bool) (shot, error) {
	for {
		s.mu.Lock()
		done, last, news := is(), s.last(), s.news
		s.mu.Unlock()
		if done {
			return last, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return last, fmt.Errorf("%s is still waiting: %w; its last snapshot is %+v", s.name, ctx.Err(), last)
		}
	}
}

// confirmed returns the newest vote that the server has confirmed in a round.
func (s *stayer) confirmed(poll string, round int) (v yourVote) {
	for _, one := range s.votes {
		if one.Poll == poll && one.Round == round && one.Number >= v.Number {
			v = one
		}
	}
	return v
}

var errPollOver = errors.New("the vote is over")

// cast sends a vote until it is confirmed or the poll is over, reconnecting as often as necessary.
func (s *stayer) cast(ctx context.Context, poll string, round int, choice string, number int64) error {
	for {
		s.mu.Lock()
		last, connection := s.last(), s.connections
		s.mu.Unlock()
		if p := last.Poll; p == nil || p.ID != poll || p.Round != round || p.Phase != "open" {
			return errPollOver
		}
		_, err := s.Say("vote", map[string]any{"poll": poll, "choice": choice, "number": number})
		wait, cancel := context.WithTimeout(ctx, 2*time.Second)
		if err == nil {
			_, err = s.until(wait, func() bool {
				return s.connections != connection || s.confirmed(poll, round).Number >= number || s.over(poll, round)
			})
		} else {
			_, err = s.until(wait, func() bool { return s.connections != connection }) // wait until it has reconnected
		}
		cancel()
		s.mu.Lock()
		ok := s.confirmed(poll, round).Number >= number
		s.mu.Unlock()
		if ok {
			return nil
		}
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// over reports whether the stayer has learned that a round accepts no more
// votes.
func (s *stayer) over(poll string, round int) bool {
	p := s.last().Poll
	return p == nil || p.ID != poll || p.Round != round || p.Phase != "open"
}

// checkTogether checks that every phone received everything in the right order, and that snapshots
// with the same number are the same on all phones.
func checkTogether(t *testing.T, list []*stayer) {
	t.Helper()
	type place struct {
		text        uint64
		step, stage int
	}
	places := map[uint64]place{}
	for _, s := range list {
		s.mu.Lock()
		for _, p := range s.problems {
			t.Error(p)
		}
		for _, sh := range s.shots {
			here := place{sh.Text, sh.Step, sh.Stage}
			if other, known := places[sh.seq]; known && other != here {
				t.Errorf("%s: snapshot %d is %v, but on another phone it was %v", s.name, sh.seq, here, other)
			}
			places[sh.seq] = here
		}
		s.mu.Unlock()
	}
}

// roundCounts returns the nonzero vote counts of a round's options in a snapshot, keyed by option.
func roundCounts(d load.Shared) map[string]int {
	counts := map[string]int{}
	for _, o := range d.Poll.Options {
		if o.Count > 0 {
			counts[o.Key] = o.Count
		}
	}
	return counts
}

// standing returns the vote that the server counts for the stayer. It requests that vote over a
// good network, as another page of the same learner would.
func (s *stayer) standing(ctx context.Context, poll string, round int) (yourVote, error) {
	again := load.Phone{URL: s.URL, Code: s.Code, Cookie: s.Learner()}
	if err := again.Dial(ctx); err != nil {
		return yourVote{}, err
	}
	defer again.HangUp()
	defer context.AfterFunc(ctx, again.HangUp)()
	fresh := &stayer{name: s.name, news: make(chan struct{})}
	err := again.Follow(func(f load.Frame) error {
		if f.At.IsZero() {
			if err := fresh.receiveOwn(f); err != nil {
				return err
			}
			return errAnswered
		}
		return nil
	})
	if !errors.Is(err, errAnswered) {
		return yourVote{}, err
	}
	return fresh.confirmed(poll, round), nil
}

var errAnswered = errors.New("answered")

// snapshots and receipts return how many snapshots and how many confirmed votes a stayer has
// received. The caller must hold the stayer's lock.
func snapshots(s *stayer) int { return len(s.shots) }
func receipts(s *stayer) int  { return len(s.votes) }

// more returns a function that waits until the stayers together have received n items after the
// call to more, or until ctx ends.
func more(list []*stayer, count func(*stayer) int) func(ctx context.Context, n int) {
	total := func(s *stayer) int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return count(s)
	}
	var seen []int
	for _, s := range list {
		seen = append(seen, total(s))
	}
	return func(ctx context.Context, n int) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		arrived := make(chan struct{})
		for i, s := range list {
			go func() {
				for seen := seen[i]; ; seen++ {
					if _, err := s.until(ctx, func() bool { return count(s) > seen }); err != nil {
						return
					}
					select {
					case arrived <- struct{}{}:
					case <-ctx.Done():
						return
					}
				}
			}()
		}
		for range n {
			select {
			case <-arrived:
			case <-ctx.Done():
				return
			}
		}
	}
}
