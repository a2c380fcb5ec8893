package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/web/load"
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

// loadOptions are the flags of viz load.
type loadOptions struct {
	load.Options
	json bool
}

// The limits of a load: what a room and a machine's ports allow.
const (
	mostFollowers = 1000
	mostRooms     = 20
)

func (o *loadOptions) flags() *flags {
	o.Followers, o.Rooms, o.Time, o.Every = 500, 1, 20*time.Second, 250*time.Millisecond
	f := newFlags(loadUsage)
	f.value("url", "URL", "a running server (default: one in this process)", func(s string) error {
		u, err := parsePublic(s)
		if err == nil && u.Scheme != "http" {
			err = errors.New("it must be http://HOST:PORT")
		}
		if err == nil {
			o.URL = u.String()
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
	whole("followers", "phones in each room (default 500)", 1, mostFollowers, &o.Followers)
	whole("rooms", "rooms at the same time (default 1)", 1, mostRooms, &o.Rooms)
	whole("deaf", "phones of the first room that never read what they are sent (default 0)", 0, mostFollowers, &o.Deaf)
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
	duration("time", "how long stages are measured (default 20s)", time.Second, time.Hour, &o.Time)
	duration(
		"every", "from one stage of a room to its next (default 250ms)", 10*time.Millisecond, time.Minute, &o.Every,
	)
	f.toggle("json", "print JSON instead of lines", &o.json)
	return f
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
			fmt.Errorf("%s %d: it must be less than the %d phones of a room", f.called("deaf"), o.Deaf, o.Followers),
		}
	}
	server := o.URL
	if o.URL == "" {
		stop, url, err := ownServer()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		o.URL, server = url, "in this process"
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
		_, err = io.WriteString(stdout, r.Text())
	}
	return errors.Join(err, r.Check())
}
