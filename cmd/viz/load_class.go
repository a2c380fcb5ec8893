package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// loadClass is a room with its teacher and its phones.
type loadClass struct {
	*teacher
	phones  []*listener // those that listen
	deaf    []*phone
	presses []time.Duration // how long each of the teacher's commands took
}

// listener is a phone that listens, and notes what it receives and when.
type listener struct {
	phone
	from  atomic.Int64 // what was published before, in microseconds since 1970, is not measured
	ended chan struct{}

	mu        sync.Mutex
	snapshots []arrival
	last      uint64     // the newest snapshot's number
	data      sharedData // of the newest snapshot, where someone wants to know
	scout     bool       // wants to know
	ack       uint64     // the last own command that was answered
	err       error      // why it ended, or what it was refused
	news      chan struct{}
}

// arrival is a snapshot that has arrived.
type arrival struct {
	took time.Duration
	size int
}

// sharedData is what a snapshot tells programs.
type sharedData struct {
	Text  uint64 `json:"text"` // which one
	Step  int    `json:"step"`
	Stage int    `json:"stage"`
	Alone bool   `json:"alone"` // members may go on alone
	Poll  *struct {
		ID      string `json:"id"`
		Round   int    `json:"round"`
		Kind    string `json:"kind"`
		Phase   string `json:"phase"`
		Votes   int    `json:"votes"`
		Options []struct {
			Key   string `json:"key"`
			Count int    `json:"count"`
		} `json:"options"`
	} `json:"poll"`
}

func newLoadClass(ctx context.Context, server string) (*loadClass, error) {
	t, err := newTeacher(ctx, server)
	if err != nil {
		return nil, err
	}
	return &loadClass{teacher: t}, nil
}

// dialing is how many phones connect at the same time.
const dialing = 32

// gather connects so many phones, the first of which never read. It returns
// when all are there.
func (c *loadClass) gather(ctx context.Context, followers, deaf int, say func(int)) error {
	for i := range followers {
		if i < deaf {
			c.deaf = append(c.deaf, &phone{url: c.url, code: c.code, deaf: true})
			continue
		}
		c.phones = append(
			c.phones,
			&listener{phone: phone{url: c.url, code: c.code}, ended: make(chan struct{}), news: make(chan struct{}, 1)},
		)
	}
	c.phones[0].scout = true
	free, failed := make(chan struct{}, dialing), make(chan error, followers)
	for _, p := range c.deaf {
		go func() {
			free <- struct{}{}
			defer func() { <-free }()
			failed <- p.dial(ctx)
		}()
	}
	for _, p := range c.phones {
		go func() {
			free <- struct{}{}
			defer func() { <-free }()
			failed <- p.begin(ctx)
		}()
	}
	var errs []error
	for i := range followers {
		if err := <-failed; err != nil && len(errs) < 3 { // the others will say the same
			errs = append(errs, err)
		}
		say(i + 1)
	}
	return errors.Join(errs...)
}

// begin connects and waits for the first snapshot.
func (p *listener) begin(ctx context.Context) error {
	if err := p.dial(ctx); err != nil {
		close(p.ended)
		return err
	}
	go func() {
		defer close(p.ended)
		err := p.follow(p.receive)
		p.mu.Lock()
		p.err = cmp.Or(p.err, err)
		p.mu.Unlock()
		p.wake()
	}()
	return p.until(ctx, "for the first snapshot", func() bool { return p.last > 0 })
}

func (p *listener) wake() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// receive handles one message.
func (p *listener) receive(f frame) error {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.wake()
	if f.at.IsZero() {
		return p.receiveOwn(f)
	}
	if f.seq <= p.last {
		return fmt.Errorf("snapshot %d came after snapshot %d", f.seq, p.last)
	}
	p.last = f.seq
	if from := p.from.Load(); from > 0 && f.at.UnixMicro() >= from {
		p.snapshots = append(p.snapshots, arrival{now.Sub(f.at), len(f.body)})
	}
	if p.scout {
		var m struct{ Data sharedData }
		if err := json.Unmarshal(f.body, &m); err != nil {
			return err
		}
		p.data = m.Data
	}
	return nil
}

// receiveOwn handles a message meant for this phone alone.
func (p *listener) receiveOwn(f frame) error {
	var m struct {
		Ack   uint64
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(f.body, &m); err != nil {
		return err
	}
	p.ack = max(p.ack, m.Ack)
	if m.Error != nil {
		return errors.New(m.Error.Message)
	}
	return nil
}

// patience is how long anything may take before a load gives up.
const patience = time.Minute

// until waits for something that p.mu guards.
func (p *listener) until(ctx context.Context, what string, is func() bool) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		p.mu.Lock()
		done, err := is(), p.err
		p.mu.Unlock()
		switch {
		case done:
			return nil
		case err != nil:
			return fmt.Errorf("a phone that waited %s: %w", what, err)
		}
		select {
		case <-p.news:
		case <-late.C:
			return fmt.Errorf("a phone has waited %v %s", patience, what)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// listen begins to measure.
func (c *loadClass) listen(from time.Time) {
	for _, p := range c.phones {
		p.from.Store(from.UnixMicro())
	}
}

// lesson is what a teacher presses, over and over: the seven stages of a token
// one by one, then some whole tokens.
var lesson = []string{
	"forward", "forward", "forward", "forward", "forward", "forward", "forward", "token", "token", "token",
}

// drive presses a key every so often, for so long, after waiting a little. It
// returns how many stages that made.
func (c *loadClass) drive(ctx context.Context, long, every, after time.Duration, say func()) (stages int, err error) {
	if err := c.do(ctx, "start", "prompt", loadPrompts[0]); err != nil {
		return 0, err
	}
	tick := time.NewTimer(after)
	defer tick.Stop()
	for end := time.Now().Add(long); time.Now().Before(end); stages++ {
		select {
		case <-ctx.Done():
			return stages, ctx.Err()
		case <-tick.C:
			tick.Reset(every)
		}
		say()
		begin := time.Now()
		err := c.do(ctx, lesson[stages%len(lesson)])
		var r *refused
		if errors.As(err, &r) { // the text has ended: another
			err = c.do(ctx, "start", "prompt", loadPrompts[stages%len(loadPrompts)])
		}
		if err != nil {
			return stages, err
		}
		c.presses = append(c.presses, time.Since(begin))
	}
	return stages, nil
}

// settle waits until every phone has the newest snapshot, and all the same.
func (c *loadClass) settle(ctx context.Context) error {
	var newest uint64
	for _, p := range c.phones {
		p.mu.Lock()
		newest = max(newest, p.last)
		p.mu.Unlock()
	}
	for _, p := range c.phones {
		if err := p.until(
			ctx, fmt.Sprintf("for snapshot %d", newest), func() bool { return p.last >= newest },
		); err != nil {
			return err
		}
	}
	return nil
}

// small is the size up to which stages are measured on their own, in bytes.
const small = 16 << 10

// tell adds what the phones have measured to a report.
func (c *loadClass) tell(r *loadReport) {
	r.presses = append(r.presses, c.presses...)
	for _, p := range c.phones {
		p.from.Store(0)
		p.mu.Lock()
		for _, h := range p.snapshots {
			r.Received++
			r.Largest = max(r.Largest, h.size)
			if h.size <= small {
				r.took = append(r.took, h.took)
			} else {
				r.tookLarger = append(r.tookLarger, h.took)
			}
		}
		p.mu.Unlock()
	}
}

// close ends the phones and the room.
func (c *loadClass) close(ctx context.Context) {
	for _, p := range c.deaf {
		p.hangUp()
	}
	for _, p := range c.phones {
		p.hangUp()
		<-p.ended
	}
	_ = c.do(ctx, "delete") // a server that has gone has no room
	c.http.CloseIdleConnections()
}
