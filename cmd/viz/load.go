package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const loadUsage = `Usage: viz load [flags]

Lets classes follow a server and measures how long a stage takes from the
moment it is published until a phone has it, while the model writes for
someone else all the time. Then everybody votes within two seconds, sends the
vote three times, and the votes are counted. The phones are connections over
this machine's loopback, without screens.

With -url the server must be one on which classes may be made: it gets -rooms of
them, and they are deleted at the end.
`

// loadOptions are what the flags of viz load say.
type loadOptions struct {
	url       string
	followers int
	rooms     int
	deaf      int
	time      time.Duration
	every     time.Duration
	json      bool
}

// The bounds of what a load may be: what a room and a machine's ports hold.
const (
	mostFollowers = 1000
	mostRooms     = 20
)

func (o *loadOptions) flags() *flags {
	o.followers, o.rooms, o.time, o.every = 500, 1, 20*time.Second, 250*time.Millisecond
	f := newFlags(loadUsage)
	f.value("url", "URL", "a server that runs (default: one in this process)", func(s string) error {
		u, err := parsePublic(s)
		if err == nil && u.Scheme != "http" {
			err = errors.New("it must be http://HOST:PORT")
		}
		if err == nil {
			o.url = u.String()
		}
		return err
	})
	whole := func(name, help string, least, most int, to *int) {
		f.value(name, "N", help, func(s string) error {
			n, err := strconv.Atoi(s)
			if err != nil || n < least || n > most {
				return fmt.Errorf("it must be %d to %d", least, most)
			}
			*to = n
			return nil
		})
	}
	whole("followers", "phones in each room (default 500)", 1, mostFollowers, &o.followers)
	whole("rooms", "rooms at the same time (default 1)", 1, mostRooms, &o.rooms)
	whole("deaf", "phones of the first room that never read what they are sent (default 0)", 0, mostFollowers, &o.deaf)
	duration := func(name, help string, least, most time.Duration, to *time.Duration) {
		f.value(name, "T", help, func(s string) error {
			d, err := time.ParseDuration(s)
			if err != nil || d < least || d > most {
				return fmt.Errorf("it must be a time from %v to %v", least, most)
			}
			*to = d
			return nil
		})
	}
	duration("time", "how long stages are measured (default 20s)", time.Second, time.Hour, &o.time)
	duration(
		"every", "from one stage of a room to its next (default 250ms)", 10*time.Millisecond, time.Minute, &o.every,
	)
	f.toggle("json", "print JSON instead of lines", &o.json)
	return f
}

// runLoad carries out viz load.
func runLoad(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) (err error) {
	o := loadOptions{}
	f := o.flags()
	if err := f.parse(args, env, stdout); err != nil {
		return err
	}
	if o.deaf >= o.followers {
		return usageError{
			fmt.Errorf("%s %d: it must be less than the %d phones of a room", f.called("deaf"), o.deaf, o.followers),
		}
	}
	r := loadReport{
		Server: o.url, Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(),
		Rooms: o.rooms, Followers: o.followers, Deaf: o.deaf, Seconds: o.time.Seconds(),
	}
	if o.url == "" {
		stop, url, err := ownServer()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		o.url, r.Server = url, "in this process"
	}
	l := &loading{loadOptions: o, line: progressLine{to: stderr, shown: isTerminal(stderr)}}
	defer l.close()
	err = l.run(ctx, &r)
	l.line.say("")
	if err != nil {
		return err
	}
	if o.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		err = e.Encode(r)
	} else {
		_, err = io.WriteString(stdout, r.text())
	}
	return errors.Join(err, r.wrong())
}

// loading is a load under way.
type loading struct {
	loadOptions
	line    progressLine
	classes []*loadClass
	busy    *busyRun
}

// run does the parts one after another.
func (l *loading) run(ctx context.Context, r *loadReport) error {
	for i := range l.rooms {
		c, err := newLoadClass(ctx, l.url)
		if err != nil {
			return err
		}
		l.classes = append(l.classes, c)
		deaf := 0
		if i == 0 {
			deaf = l.deaf
		}
		err = c.gather(ctx, l.followers, deaf, func(done int) {
			l.line.say(fmt.Sprintf("room %d of %d: %d phones of %d", i+1, l.rooms, done, l.followers))
		})
		if err != nil {
			return err
		}
	}
	busy, err := newBusyRun(ctx, l.url)
	if err != nil {
		return err
	}
	l.busy = busy
	if err := l.measure(ctx, r); err != nil {
		return err
	}
	return l.vote(ctx, r)
}

// measure lets the teachers drive for a while.
func (l *loading) measure(ctx context.Context, r *loadReport) error {
	begin := time.Now()
	for _, c := range l.classes {
		c.listen(begin)
	}
	tokens := l.busy.tokens.Load()
	stages, err := each(l.classes, func(i int, c *loadClass) (int, error) {
		return c.drive(ctx, l.time, l.every, time.Duration(i)*l.every/time.Duration(l.rooms), func() {
			if i == 0 {
				l.line.say(
					fmt.Sprintf(
						"stages for %d phones: %.0f s of %.0f", l.rooms*l.followers, time.Since(begin).Seconds(),
						l.time.Seconds(),
					),
				)
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
	r.Press = quantilesOf(r.presses)
	return nil
}

// vote has every class vote, all at the same time.
func (l *loading) vote(ctx context.Context, r *loadReport) error {
	l.line.say("everybody votes")
	polls, err := each(l.classes, func(_ int, c *loadClass) (votesReport, error) { return c.vote(ctx) })
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

// close ends the phones and deletes the rooms.
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

// each does the same for all classes at once and waits for all. The error is
// that of the first that failed.
func each[T any](classes []*loadClass, f func(int, *loadClass) (T, error)) ([]T, error) {
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

// prompts are what teachers begin with, in turn.
var loadPrompts = strings.Split(
	"Once upon a time there was a|The little dog ran to the|One day, a girl named Lily found a|Tom and "+
		"Sam went to the park and",
	"|",
)
