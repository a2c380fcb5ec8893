package cluster

import (
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

func TestClockDifference(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		at, want time.Duration // at is relative to noon; the renewal was sent at noon and confirmed a second later
	}{
		{"in between", 500 * time.Millisecond, 0},
		{"a little before", -2 * time.Second, 0},
		{"a little after", 3 * time.Second, 0},
		{"an hour behind", time.Hour, time.Hour - time.Second}, // if the renewal was stored at the end of that second
		{"an hour ahead", -time.Hour, -time.Hour},              // if it was stored at the beginning of that second
	} {
		if got := difference(noon, noon.Add(time.Second), noon.Add(c.at)); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestPollSurvivesClocksAnHourApart: a poll of ten minutes stays open when a server whose
// clock is an hour ahead takes over the class, followed by a server whose clock is an hour
// behind.
// Promise: A poll lasts as long as it should even if a server's clock is an hour wrong.
func TestPollSurvivesClocksAnHourApart(t *testing.T) {
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	a := u.server("a")
	u.ahead = time.Hour
	ahead := u.server("ahead")
	u.ahead = -time.Hour
	behind := u.server("behind")
	for _, p := range []*post{a, ahead, behind} {
		sharedTime(t, p.joined)
	}
	l := a.teach(class.Options{})
	onAhead, onBehind := ahead.enters(l, 1), behind.enters(l, 2)
	p := l.does(class.AskQuestion{ID: "q-order", For: 10 * time.Minute}).Poll
	a.end()
	onAhead.votes(1, class.Ballot{Poll: p.ID, Choice: p.Options[0].Key, N: 1})
	ahead.end()
	onBehind.votes(2, class.Ballot{Poll: p.ID, Choice: p.Options[0].Key, N: 1})
	if s := behind.joined.Stats(); s.Held != 1 || s.Clock < time.Hour-time.Minute {
		t.Errorf(
			"the last server has %d rooms and reports that its clock is behind by %v; want 1, at least %v", s.Held,
			s.Clock, time.Hour-time.Minute,
		)
	}
}

// sharedTime waits until a server uses the NATS time, which is the time of this machine.
func sharedTime(t *testing.T, c *Cluster) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.After(patience); time.Until(c.Now()).Abs() > time.Minute; {
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("the cluster's time is off by %v at %s, want 0", time.Until(c.Now()), c.Server())
		}
	}
}
