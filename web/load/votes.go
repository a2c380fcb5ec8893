package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	voting    = 2 * time.Second // all votes are sent within this time
	eachSends = 3               // how often a phone sends its vote
)

// Votes is the result of a vote.
type Votes struct {
	Voters   int       `json:"voters"`
	Sent     int       `json:"sent"`
	Counted  int       `json:"counted"`
	Wrong    int       `json:"wrong"` // number of options whose count differs from the choices
	Receipts Quantiles `json:"receipts"`

	receipts []time.Duration
}

// vote opens a poll on the next token, makes every phone send its vote three times with the same
// number, closes the poll, and compares the counts with the choices.
func (c *class) vote(ctx context.Context) (r Votes, err error) {
	if err := c.Do(ctx, "start", "prompt", Prompts[0]); err != nil {
		return r, err
	}
	if err := c.Do(ctx, "ask-next", "n", "5", "where", "here"); err != nil {
		return r, err
	}
	scout := c.phones[0]
	if err := scout.until(ctx, "for the question", func() bool {
		return scout.data.Poll != nil && scout.data.Poll.Phase == "open" && len(scout.data.Poll.Options) > 0
	}); err != nil {
		return r, err
	}
	scout.mu.Lock()
	poll := scout.data.Poll
	scout.mu.Unlock()
	chosen := map[string]int{}
	type answer struct {
		took time.Duration
		err  error
	}
	answers := make(chan answer, len(c.phones))
	for _, p := range c.phones {
		key := poll.Options[rand.IntN(len(poll.Options))].Key
		chosen[key]++
		go func() {
			took, err := p.castVote(ctx, poll.ID, key)
			answers <- answer{took, err}
		}()
	}
	var errs []error
	for range c.phones {
		a := <-answers
		if a.err != nil && len(errs) < 3 {
			errs = append(errs, a.err)
		}
		r.receipts = append(r.receipts, a.took)
	}
	if err := errors.Join(errs...); err != nil {
		return r, err
	}
	r.Voters, r.Sent = len(c.phones), eachSends*len(c.phones)
	return r, c.count(ctx, poll.ID, chosen, &r)
}

// castVote waits for a random time of up to two seconds, sends a vote three times, and returns how
// long it took to get the first confirmation.
func (p *listener) castVote(ctx context.Context, poll, choice string) (took time.Duration, err error) {
	select {
	case <-time.After(rand.N(voting)):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	begin := time.Now()
	fields := map[string]any{"poll": poll, "choice": choice, "number": begin.UnixMilli()}
	first, err := p.Say("vote", fields)
	last := first
	for range eachSends - 1 {
		if err == nil {
			last, err = p.Say("vote", fields)
		}
	}
	if err != nil {
		return 0, err
	}
	if err := p.until(ctx, "for the confirmation of its vote", func() bool { return p.ack >= first }); err != nil {
		return 0, err
	}
	took = time.Since(begin)
	return took, p.until(ctx, "for the confirmations of its repeated votes", func() bool { return p.ack >= last })
}

// count closes the poll, shows the votes and reads the counts.
func (c *class) count(ctx context.Context, poll string, chosen map[string]int, r *Votes) error {
	for _, cmd := range []string{"close", "spread"} {
		if err := c.Do(ctx, cmd); err != nil {
			return err
		}
	}
	scout := c.phones[0]
	if err := scout.until(ctx, "for the results", func() bool {
		return scout.data.Poll != nil && scout.data.Poll.ID == poll && scout.data.Poll.Phase == "spread"
	}); err != nil {
		return err
	}
	scout.mu.Lock()
	defer scout.mu.Unlock()
	r.Counted = scout.data.Poll.Votes
	for _, o := range scout.data.Poll.Options {
		if o.Count != chosen[o.Key] {
			r.Wrong++
		}
		delete(chosen, o.Key)
	}
	r.Wrong += len(chosen)
	if r.Counted != r.Voters || r.Wrong > 0 {
		return fmt.Errorf(
			"%d phones voted, but %d votes were counted; %d options have a wrong count",
			r.Voters,
			r.Counted, r.Wrong,
		)
	}
	return nil
}

// deafCut returns the number of deaf phones that the server has disconnected.
func (c *class) deafCut() (cut int) {
	ends := make(chan bool, len(c.deaf))
	for _, p := range c.deaf {
		go func() { ends <- p.ended() }()
	}
	for range c.deaf {
		if <-ends {
			cut++
		}
	}
	return cut
}

// ended reports whether the server has ended the connection of a phone that never reads. If
// it has, sending fails as soon as the reset has arrived.
func (p *Phone) ended() bool {
	for range 5 {
		if _, err := p.Say("ping", nil); err != nil {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}
