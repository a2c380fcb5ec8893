//go:build linux

package main

import (
	"context"
	"syscall"
	"testing"
	"time"
)

// clusterFault is a fault during a poll. strike is called when voting begins, and returns once the
// fault has happened; undo ends the fault. cut is the server that strike cuts off, or none. Phones
// connected to that server cannot continue until undo is called.
type clusterFault struct {
	name   string
	strike func(ctx context.Context, c *clusterClass) (undo func(), cut int)

	seconds string                            // duration of polls, "" for no limit
	clocks  [3]time.Duration                  // how far each server's clock is ahead
	stores  func(t *testing.T) map[int]string // storage folders of nodes, instead of the usual ones
}

// none is the value of cut if no server is cut off.
const none = -1

// clusterFaults are the faults that the test causes in parts of the cluster.
var clusterFaults = []clusterFault{
	{name: "the owner killed", strike: func(ctx context.Context, c *clusterClass) (func(), int) {
		owner := c.servers.owner(ctx)
		c.someVotes(ctx)
		return c.killServer(owner), none
	}},
	{
		name: "a server killed before it confirmed a vote",
		strike: func(ctx context.Context, c *clusterClass) (func(), int) {
			i := c.rng.IntN(len(c.phones))
			if sh := c.newest(); sh.Poll != nil {
				// Like the phone's page, send the vote now and repeat it later.
				_, _ = c.phones[i].Say("vote", map[string]any{
					"poll": sh.Poll.ID, "choice": sh.Poll.Options[0].Key, "number": 1,
				})
			}
			return c.killServer(c.servers.ways[i].server()), none
		},
	},
	{
		name: "a server killed after it confirmed a vote",
		strike: func(ctx context.Context, c *clusterClass) (func(), int) {
			i := c.rng.IntN(len(c.phones))
			more(c.phones[i:i+1], receipts)(ctx, 1)
			return c.killServer(c.servers.ways[i].server()), none
		},
	},
	{name: "the owner stopped for a while", strike: func(ctx context.Context, c *clusterClass) (func(), int) {
		owner := c.servers.owner(ctx)
		c.someVotes(ctx)
		p := c.servers.running[owner].Process
		_ = p.Signal(syscall.SIGSTOP)
		return func() { _ = p.Signal(syscall.SIGCONT) }, owner
	}},
	{name: "the owner cut off from NATS", strike: func(ctx context.Context, c *clusterClass) (func(), int) {
		owner := c.servers.owner(ctx)
		c.someVotes(ctx)
		c.servers.apart(owner, true)
		return func() { c.servers.apart(owner, false) }, owner
	}},
	{name: "a node killed", strike: func(ctx context.Context, c *clusterClass) (func(), int) {
		i := c.rng.IntN(3)
		c.someVotes(ctx)
		c.nodes.kill(i)
		return func() { c.nodes.start(i) }, none
	}},
	{name: "a node apart from the other two", strike: func(ctx context.Context, c *clusterClass) (func(), int) {
		i := c.rng.IntN(3)
		c.someVotes(ctx)
		c.nodes.isolate(i)
		return func() { c.nodes.join(i) }, none
	}},
	{
		name: "the owner killed where a clock is an hour off", strike: ownerBesideAWrongClock, seconds: "600",
		clocks: [3]time.Duration{wrongServer: time.Hour},
	},
	{name: "a slow owner", strike: func(ctx context.Context, c *clusterClass) (func(), int) {
		owner := c.servers.owner(ctx)
		c.someVotes(ctx)
		return slow(c.t, c.servers.running[owner].Process), none
	}},
	{name: "a slow node", strike: func(ctx context.Context, c *clusterClass) (func(), int) {
		i := c.rng.IntN(3)
		c.someVotes(ctx)
		return slow(c.t, c.nodes.running[i].Process), none
	}},
	{name: "a slow node that leads", strike: func(ctx context.Context, c *clusterClass) (func(), int) {
		i := c.nodes.leader(ctx)
		c.someVotes(ctx)
		return slow(c.t, c.nodes.running[i].Process), none
	}},
	{
		name: "a full disk at a node", stores: smallDisk,
		strike: func(ctx context.Context, c *clusterClass) (func(), int) {
			c.someVotes(ctx)
			c.nodes.fill(onSmallDisk)
			return func() { c.nodes.makeRoom(onSmallDisk) }, none
		},
	},
}

// someVotes waits until a random number of votes have been confirmed.
func (c *clusterClass) someVotes(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // all phones may have voted already
	defer cancel()
	more(c.phones, receipts)(ctx, c.rng.IntN(2*len(c.phones)))
}

func (c *clusterClass) killServer(i int) (undo func()) {
	c.servers.kill(i)
	return func() { c.servers.start(i) }
}
