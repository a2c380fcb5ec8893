// Package load simulates classes on a server. It measures the time from the publication of a stage
// until a phone has received it, while the model continuously generates text for somebody else. It
// also checks that every vote is counted exactly once. Its phones have no screens, but use the
// server in the same way as pages do. The package does not depend on the server's internals.
package load

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Options configures a load test.
type Options struct {
	// URLs lists the URLs of one server, such as http://127.0.0.1:8080, or of several servers that
	// share their rooms. Phones and presenters alternate between them.
	URLs      []string
	From      string        // the IP address of this machine from which phones connect; "" for any
	Followers int           // number of phones in each room
	Rooms     int           // number of concurrent rooms
	Deaf      int           // number of phones in the first room that never read; less than Followers
	Time      time.Duration // duration of the measurement of stages
	Every     time.Duration // interval between the stages of a room
}

// Run creates the rooms, measures stages, makes all phones vote, and deletes the rooms. It calls
// say to report its progress, in the language of ctx. The returned report is complete if the error
// is nil.
func Run(ctx context.Context, o Options, say func(string)) (*Report, error) {
	r := &Report{
		Server: strings.Join(o.URLs, ", "), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(),
		Rooms: o.Rooms, Followers: o.Followers, Deaf: o.Deaf, Seconds: o.Time.Seconds(),
	}
	l := &loading{Options: o, words: terms.In(ctx), say: say}
	defer l.close()
	return r, l.run(ctx, r)
}

// loading is a load test in progress.
type loading struct {
	Options
	words   *terms.Language
	say     func(string)
	classes []*class
	busy    *busyRun
}

// run executes the parts of the test in order.
func (l *loading) run(ctx context.Context, r *Report) error {
	for i := range l.Rooms {
		c, err := newClass(ctx, l.URLs[i%len(l.URLs)])
		if err != nil {
			return err
		}
		l.classes = append(l.classes, c)
		deaf := 0
		if i == 0 {
			deaf = l.Deaf
		}
		err = c.gather(ctx, l.Options, deaf, func(done int) {
			l.say(l.words.T(
				"cmd.load.gathering", "room", strconv.Itoa(i+1), "rooms", strconv.Itoa(l.Rooms),
				"phones", strconv.Itoa(done), "all", strconv.Itoa(l.Followers),
			))
		})
		if err != nil {
			return err
		}
	}
	busy, err := newBusyRun(ctx, l.URLs[0])
	if err != nil {
		return err
	}
	l.busy = busy
	if err := l.measure(ctx, r); err != nil {
		return err
	}
	return l.vote(ctx, r)
}

// measure sends commands to the rooms for the configured duration and measures the stages.
func (l *loading) measure(ctx context.Context, r *Report) error {
	begin := time.Now()
	for _, c := range l.classes {
		c.listen(begin)
	}
	tokens := l.busy.tokens.Load()
	stages, err := each(l.classes, func(i int, c *class) (int, error) {
		return c.drive(ctx, l.Time, l.Every, time.Duration(i)*l.Every/time.Duration(l.Rooms), func() {
			if i == 0 {
				l.say(l.words.T(
					"cmd.load.measuring", "phones", strconv.Itoa(l.Rooms*l.Followers),
					"seconds", fmt.Sprintf("%.0f", time.Since(begin).Seconds()),
					"all", fmt.Sprintf("%.0f", l.Time.Seconds()),
				))
			}
		})
	})
	if err != nil {
		return err
	}
	r.TokensPerSecond = float64(l.busy.tokens.Load()-tokens) / time.Since(begin).Seconds()
	for _, n := range stages {
		r.Stages += n
	}
	for _, c := range l.classes {
		if err := c.settle(ctx); err != nil {
			return err
		}
		c.tell(r)
	}
	r.Publish, r.Larger = quantilesOf(r.took), quantilesOf(r.tookLarger)
	r.Press, r.Phone = quantilesOf(r.presses), quantilesOf(r.pressed)
	return nil
}

// vote runs a vote in all classes at the same time.
func (l *loading) vote(ctx context.Context, r *Report) error {
	l.say(l.words.T("cmd.load.voting"))
	polls, err := each(l.classes, func(_ int, c *class) (Votes, error) { return c.vote(ctx) })
	if err != nil {
		return err
	}
	var receipts []time.Duration
	for _, p := range polls {
		r.Votes.Voters += p.Voters
		r.Votes.Sent += p.Sent
		r.Votes.Counted += p.Counted
		r.Votes.Wrong += p.Wrong
		receipts = append(receipts, p.receipts...)
	}
	r.Votes.Receipts = quantilesOf(receipts)
	for _, c := range l.classes {
		r.DeafCut += c.deafCut()
	}
	return nil
}

// close closes the phones and deletes the rooms.
func (l *loading) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if l.busy != nil {
		l.busy.close()
	}
	for _, c := range l.classes {
		c.close(ctx)
	}
}

// each calls f for all classes concurrently and waits until all calls have returned. The error
// joins the errors of all calls.
func each[T any](classes []*class, f func(int, *class) (T, error)) ([]T, error) {
	list, failed := make([]T, len(classes)), make(chan error, len(classes))
	for i, c := range classes {
		go func() {
			var err error
			list[i], err = f(i, c)
			failed <- err
		}()
	}
	var errs []error
	for range classes {
		errs = append(errs, <-failed)
	}
	return list, errors.Join(errs...)
}

// Prompts lists the prompts that instructors use, one after another, to start texts.
var Prompts = []string{
	"Once upon a time there was a", "The little dog ran to the", "One day, a girl named Lily found a",
	"Tom and Sam went to the park and",
}
