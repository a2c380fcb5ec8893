//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// wrongServer is the server whose clock is wrong.
const wrongServer = 1

// ownerBesideAWrongClock kills the owner. Because one server's clock is an hour ahead or behind,
// the class sometimes moves to that server or away from it. The poll, which lasts ten minutes, must
// still be open.
func ownerBesideAWrongClock(ctx context.Context, c *clusterClass) (undo func(), cut int) {
	owner, asked := c.servers.owner(ctx), c.newest()
	c.someVotes(ctx)
	c.servers.kill(owner)
	voter := c.phones[c.rng.IntN(len(c.phones))]
	err := voter.cast(ctx, asked.Poll.ID, asked.Poll.Round, asked.Poll.Options[0].Key, 3)
	if sh := c.newest(); err != nil || sh.Poll == nil || sh.Poll.Phase != "open" {
		c.t.Errorf(
			"a poll of ten minutes after its owner was killed: got %v, %+v; want no error, sh.Poll not nil, Phase = %q",
			err, sh.Poll, "open",
		)
	}
	return func() {
		if owner == wrongServer {
			c.servers.clocks[wrongServer] = time.Hour
			if c.rng.IntN(2) == 0 {
				c.servers.clocks[wrongServer] = -time.Hour
			}
		}
		c.servers.start(owner)
	}, none
}

// leader returns the node that leads the lease stream. Without a leader, no room can change owners.
func (n *natsNodes) leader(ctx context.Context) (i int) {
	n.t.Helper()
	n.wait(ctx, "for a leader", func() bool {
		ctx, cancel := context.WithTimeout(ctx, asking)
		defer cancel()
		s, err := n.js.Stream(ctx, "KV_viz_leases")
		if err != nil || s.CachedInfo().Cluster == nil {
			return false
		}
		name := s.CachedInfo().Cluster.Leader
		i = strings.IndexByte("123", name[max(0, len(name)-1):][0])
		return i >= 0
	})
	return i
}

// slow limits a process to a tenth of the CPU time until undo is called.
func slow(t *testing.T, p *os.Process) (undo func()) {
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = p.Signal(syscall.SIGCONT) }()
		for stop := true; ; stop = !stop {
			signal, slice := syscall.SIGCONT, 10*time.Millisecond
			if stop {
				signal, slice = syscall.SIGSTOP, 90*time.Millisecond
			}
			_ = p.Signal(signal)
			select {
			case <-time.After(slice):
			case <-end:
				return
			}
		}
	}()
	undo = sync.OnceFunc(func() { close(end); <-done })
	t.Cleanup(undo)
	return undo
}

// onSmallDisk is the node that stores its data on a separate small disk.
const onSmallDisk = 0

// smallDisk mounts a small disk.
func smallDisk(t *testing.T) map[int]string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("viz-test", dir, "tmpfs", 0, "size=64m,mode=0700")
	if errors.Is(err, syscall.EPERM) {
		t.Skip("NOT TRIED: this test fills a small disk (tmpfs), which only root may mount")
	} else if err != nil {
		t.Fatal("mounting a small disk: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error("unmounting the small disk: ", err)
		}
	})
	return map[int]string{onSmallDisk: filepath.Join(dir, "store")}
}

// ballast returns the path of the file that fills a node's disk.
func (n *natsNodes) ballast(i int) string { return filepath.Join(filepath.Dir(n.stores[i]), "ballast") }

// fill fills a node's disk to the last byte.
func (n *natsNodes) fill(i int) {
	n.t.Helper()
	f, err := os.Create(n.ballast(i))
	if err != nil {
		n.t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 64<<10); len(block) > 0; {
		if _, err = f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		n.t.Fatal("filling a disk: ", err)
	}
}

// noSpace is the message in a node's log when its disk is full.
const noSpace = "no space left on device"

// makeRoom waits until a node has noticed that its disk is full, then frees space and restarts the
// node, as its operator would, since a node without space stops storing data.
func (n *natsNodes) makeRoom(i int) {
	n.t.Helper()
	n.wait(context.Background(), "for the node to notice its full disk", func() bool {
		b, err := os.ReadFile(filepath.Join(n.dirs[i], "log"))
		return err == nil && strings.Count(string(b), noSpace) > n.full
	})
	if err := os.Remove(n.ballast(i)); err != nil {
		n.t.Fatal(err)
	}
	n.kill(i)
	b, err := os.ReadFile(filepath.Join(n.dirs[i], "log"))
	if err != nil {
		n.t.Fatal(err)
	}
	n.full = strings.Count(string(b), noSpace)
	n.start(i)
}
