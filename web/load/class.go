package load

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

// class is a room with its instructor and its phones.
type class struct {
	*Instructor
	phones  []*listener // the phones that read messages
	deaf    []*Phone
	presses []press // the instructor's commands that advanced the run
}

// press is a command sent by the instructor.
type press struct {
	begin time.Time
	took  time.Duration // time until the reply
}

// listener is a phone that records the messages that it receives, with their times.
type listener struct {
	Phone
	from  atomic.Int64 // messages before this time are not measured; in microseconds since 1970
	ended chan struct{}

	mu        sync.Mutex
	snapshots []arrival
	last      uint64 // number of the newest snapshot
	data      Shared // data of the newest snapshot, if scout is set
	scout     bool   // whether to record data
	ack       uint64 // number of the phone's last acknowledged command
	err       error  // the reason why the connection ended, or the last refusal
	news      chan struct{}
}

// arrival is a received snapshot.
type arrival struct {
	made time.Time     // when the snapshot's view was made
	took time.Duration // time from then until the phone received it
	size int
}

// Shared is the part of a snapshot that is meant for programs.
type Shared struct {
	Text  uint64 `json:"text"` // number of the text
	Step  int    `json:"step"`
	Stage int    `json:"stage"`
	Alone bool   `json:"alone"` // members can continue alone
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

func newClass(ctx context.Context, server string) (*class, error) {
	t, err := NewInstructor(ctx, server)
	if err != nil {
		return nil, err
	}
	return &class{Instructor: t}, nil
}

// dialing is the number of phones that connect concurrently.
const dialing = 32

// gather connects the phones of a room, alternating between the servers, and returns when all of
// them are connected. The parameter deaf is the number of phones that never read; these connect
// first.
func (c *class) gather(ctx context.Context, o Options, deaf int, say func(int)) error {
	for i := range o.Followers {
		url := o.URLs[i%len(o.URLs)]
		if i < deaf {
			c.deaf = append(c.deaf, &Phone{URL: url, Code: c.Code, From: o.From, Deaf: true})
			continue
		}
		c.phones = append(
			c.phones,
			&listener{
				Phone: Phone{URL: url, Code: c.Code, From: o.From},
				ended: make(chan struct{}), news: make(chan struct{}, 1),
			},
		)
	}
	c.phones[0].scout = true
	free, failed := make(chan struct{}, dialing), make(chan error, o.Followers)
	for _, p := range c.deaf {
		go func() {
			free <- struct{}{}
			defer func() { <-free }()
			failed <- p.Dial(ctx)
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
	for i := range o.Followers {
		if err := <-failed; err != nil && len(errs) < 3 { // other phones will fail in the same way
			errs = append(errs, err)
		}
		say(i + 1)
	}
	return errors.Join(errs...)
}

// begin connects the phone and waits for the first snapshot.
func (p *listener) begin(ctx context.Context) error {
	if err := p.Dial(ctx); err != nil {
		close(p.ended)
		return err
	}
	go func() {
		defer close(p.ended)
		err := p.Follow(p.receive)
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
func (p *listener) receive(f Frame) error {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.wake()
	if f.At.IsZero() {
		return p.receiveOwn(f)
	}
	if f.Seq <= p.last {
		return fmt.Errorf("snapshot %d arrived after snapshot %d", f.Seq, p.last)
	}
	p.last = f.Seq
	if from := p.from.Load(); from > 0 && f.At.UnixMicro() >= from {
		p.snapshots = append(p.snapshots, arrival{f.At, now.Sub(f.At), len(f.Body)})
	}
	if p.scout {
		var m struct{ Data Shared }
		if err := json.Unmarshal(f.Body, &m); err != nil {
			return err
		}
		p.data = m.Data
	}
	return nil
}

// receiveOwn handles a message that is only for this phone.
func (p *listener) receiveOwn(f Frame) error {
	var m struct {
		Ack   uint64
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(f.Body, &m); err != nil {
		return err
	}
	p.ack = max(p.ack, m.Ack)
	if m.Error != nil {
		return errors.New(m.Error.Message)
	}
	return nil
}

// patience is how long the load test waits before it gives up.
const patience = time.Minute

// until waits for a condition on data guarded by p.mu.
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
			return fmt.Errorf("a phone failed while waiting %s: %w", what, err)
		}
		select {
		case <-p.news:
		case <-late.C:
			return fmt.Errorf("a phone timed out after waiting %v %s", patience, what)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// listen starts measuring.
func (c *class) listen(from time.Time) {
	for _, p := range c.phones {
		p.from.Store(from.UnixMicro())
	}
}

// lesson lists the commands that an instructor repeats: first the seven stages of one token, one by
// one, and then some whole tokens.
var lesson = []string{
	"forward", "forward", "forward", "forward", "forward", "forward", "forward", "token", "token", "token",
}

// drive starts a text and then sends commands for the time long: the first after the delay after,
// and the others at the interval every. It returns the number of stages that the commands produced.
func (c *class) drive(ctx context.Context, long, every, after time.Duration, say func()) (stages int, err error) {
	if err := c.Do(ctx, "start", "prompt", Prompts[0]); err != nil {
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
		err := c.Do(ctx, lesson[stages%len(lesson)])
		var r *Refused
		if errors.As(err, &r) { // the text has ended: start another one
			err = c.Do(ctx, "start", "prompt", Prompts[stages%len(Prompts)])
		}
		if err != nil {
			return stages, err
		}
		c.presses = append(c.presses, press{begin, time.Since(begin)})
	}
	return stages, nil
}

// settle waits until all phones have the newest snapshot that any phone has received.
func (c *class) settle(ctx context.Context) error {
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

// small is the maximum size of a small snapshot, in bytes. Larger snapshots are reported
// separately.
const small = 16 << 10

// tell adds the phones' measurements to a report.
func (c *class) tell(r *Report) {
	for _, p := range c.presses {
		r.presses = append(r.presses, p.took)
	}
	for _, p := range c.phones {
		p.from.Store(0)
		p.mu.Lock()
		r.pressed = append(r.pressed, afterPress(c.presses, p.snapshots)...)
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

// afterPress returns, for each press, the time until a phone had received the first view that was
// made after the press. It omits presses whose view the phone never received because a newer one
// was available. Both lists are in chronological order.
func afterPress(presses []press, got []arrival) (took []time.Duration) {
	next := 0 // the first press without a view so far
	for _, a := range got {
		last := next
		for last < len(presses) && !presses[last].begin.After(a.made) {
			last++
		}
		if last > next {
			took = append(took, a.made.Add(a.took).Sub(presses[last-1].begin))
			next = last
		}
	}
	return took
}

// close closes the phones and deletes the room.
func (c *class) close(ctx context.Context) {
	for _, p := range c.deaf {
		p.HangUp()
	}
	for _, p := range c.phones {
		p.HangUp()
		<-p.ended
	}
	_ = c.Do(ctx, "delete") // fails if the server is gone, and the room with it
	c.http.CloseIdleConnections()
}
