package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/load"
)

const loadUsage = `Usage: viz load [flags]

Simulates classes whose phones follow a server, and measures how long a stage
takes to reach a phone while the model continuously generates text for another
learner. Then all phones vote within two seconds, each sending its vote three
times, to check that every vote is counted once. The phones are connections over
this machine's loopback interface, without screens.

With -url, the server must allow classes: the command creates -rooms classes and
deletes them at the end. If you list several servers of a cluster, separated by
commas, the phones alternate between them.
`

// loadOptions are the flags of viz load.
type loadOptions struct {
	load.Options
	json bool
}

// The limits of a simulated load. They depend on the maximum size of a room and the number of ports
// of a machine.
const (
	mostFollowers = 20_000
	mostRooms     = 20
	mostServers   = 100
)

func (o *loadOptions) flags() *flags {
	o.Followers, o.Rooms, o.Time, o.Every = 500, 1, 20*time.Second, 250*time.Millisecond
	f := newFlags(loadUsage)
	f.value("url", "URLS", "a running server, http://HOST:PORT, or several of one cluster, separated by commas "+
		"(default: a server in this process)", o.parseServers)
	whole := func(name, help string, least, most int, to *int) {
		f.value(name, "N", fmt.Sprintf("%s (default %d)", help, *to), func(s string) error {
			n, err := strconv.Atoi(s)
			if err != nil || n < least || n > most {
				return fmt.Errorf("must be between %d and %d", least, most)
			}
			*to = n
			return nil
		})
	}
	whole("followers", "phones in each room; each needs a connection and thus an open file (ulimit -n)",
		1, mostFollowers, &o.Followers)
	whole("rooms", "simultaneous rooms", 1, mostRooms, &o.Rooms)
	whole("deaf", "phones in the first room that never read their messages", 0, mostFollowers, &o.Deaf)
	duration := func(name, help string, least, most time.Duration, to *time.Duration) {
		f.value(name, "T", fmt.Sprintf("%s (default %v)", help, *to), func(s string) error {
			d, err := time.ParseDuration(s)
			if err != nil || d < least || d > most {
				return fmt.Errorf("must be a duration between %v and %v", least, most)
			}
			*to = d
			return nil
		})
	}
	duration("time", "how long to measure stages", time.Second, time.Hour, &o.Time)
	duration("every", "time between stages in a room", 10*time.Millisecond, time.Minute, &o.Every)
	f.toggle("json", "print one JSON object", &o.json)
	return f
}

// parseServers parses comma-separated server addresses.
func (o *loadOptions) parseServers(s string) error {
	o.URLs = nil
	for one := range strings.SplitSeq(s, ",") {
		u, err := parsePublic(strings.TrimSpace(one))
		if err == nil && u.Scheme != "http" {
			err = errors.New("must be http://HOST:PORT")
		}
		if err != nil {
			return err
		}
		o.URLs = append(o.URLs, u.String())
	}
	if len(o.URLs) > mostServers {
		return fmt.Errorf("too many addresses; want at most %d", mostServers)
	}
	return nil
}

// spareFiles is the maximum number of files that a load test has open in addition to its phones'
// connections.
const spareFiles = 100

// checkFiles checks that this process may open a connection for each phone and, if the server is in
// this process, also the other end of each connection.
func (o *loadOptions) checkFiles() error {
	need := o.Rooms*o.Followers + spareFiles
	if len(o.URLs) == 0 {
		need += o.Rooms * o.Followers
	}
	if may := mostFiles(); may < need {
		return fmt.Errorf(
			"%s phones need %s open files, but this process may open only %s: raise the limit (ulimit -n %d), "+
				"or use fewer phones", terms.Count(o.Rooms*o.Followers), terms.Count(need), terms.Count(may), need,
		)
	}
	return nil
}

// runLoad runs viz load.
func runLoad(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) (err error) {
	o := loadOptions{}
	f := o.flags()
	if err := f.parse(args, env, stdout); err != nil {
		return err
	}
	if o.Deaf >= o.Followers {
		return usageError{
			fmt.Errorf(
				"%s %d must be less than the number of phones in a room (%d)", f.called("deaf"), o.Deaf, o.Followers,
			),
		}
	}
	if err := o.checkFiles(); err != nil {
		return err
	}
	w, server := terms.In(ctx), strings.Join(o.URLs, ", ")
	if len(o.URLs) == 0 {
		stop, url, err := ownServer(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		o.URLs, server = []string{url}, "in this process"
		if !o.json {
			server = w.T("cmd.load.here")
		}
	}
	line := newProgressLine(stderr)
	r, err := load.Run(ctx, o.Options, line.say)
	line.say("")
	if err != nil {
		return err
	}
	r.Server = server
	if o.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		err = e.Encode(r)
	} else {
		_, err = io.WriteString(stdout, r.Text(w))
	}
	return errors.Join(err, r.Check())
}
