//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/load"
)

// TestShutdownWithDeafFollowers: followers that never read do not prevent a server from saving its
// rooms and stopping. After a restart, the class is at the same stage.
func TestShutdownWithDeafFollowers(t *testing.T) {
	fixture.Long(t)
	ctx, cancel := context.WithTimeout(context.Background(), browser.Patience)
	defer cancel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	free.Close()
	args := []string{"serve", "-no-open", "-addr", addr, "-data", t.TempDir()}
	viz, pipe, errors := process(t, args...)
	out := bufio.NewReader(pipe)
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatalf("nothing printed: %v, %s", err, errors)
	}
	instructor, err := load.NewInstructor(ctx, "http://"+addr)
	if err != nil {
		t.Fatal(err)
	}
	deaf := func() {
		p := &load.Phone{URL: instructor.URL, Code: instructor.Code, Deaf: true}
		if err := p.Dial(ctx); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.HangUp)
	}
	for range 6 {
		deaf()
	}
	do := func(cmd string, fields ...string) {
		t.Helper()
		if err := instructor.Do(ctx, cmd, fields...); err != nil {
			t.Fatal(err)
		}
	}
	listening := newStayer(t, "before", instructor.URL, instructor.Code, "", false)
	until := func(p *stayer, is func() bool) shot {
		t.Helper()
		sh, err := p.until(ctx, is)
		if err != nil {
			t.Fatal(err)
		}
		return sh
	}
	until(listening, func() bool { return len(listening.shots) > 0 })
	// The snapshots exceed the kernel's buffers, so the server waits for some of the followers. On
	// a slow machine, it has already cut off the first of them.
	do("speed", "speed", "max")
	for range 14 {
		deaf()
		do("start", "prompt", "Once upon a time there was a")
		do("play")
		until(listening, func() bool { return listening.last().Step == 64 })
		do("reset")
		until(listening, func() bool { return listening.last().Step == 1 })
	}
	do("token")
	before := until(listening, func() bool { return listening.last().Stage == 7 })
	if err := viz.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	viz.Wait()
	if code := viz.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit %d, want 0: %s", code, errors)
	}
	if !strings.Contains(errors.String(), "clients that stopped reading") {
		t.Errorf("no follower was cut off: got %q, want it to contain %q", errors, "clients that stopped reading")
	}
	_, pipe, errors = process(t, args...)
	if _, err := bufio.NewReader(pipe).ReadString('\n'); err != nil {
		t.Fatalf("nothing printed: %v, %s", err, errors)
	}
	back := newStayer(t, "after", instructor.URL, instructor.Code, "", false)
	if after := until(back, func() bool { return len(back.shots) > 0 }); before.at() != after.at() {
		t.Errorf("before, the class was at step %d, stage %d; now it is at step %d, stage %d",
			before.Step, before.Stage, after.Step, after.Stage)
	}
}
