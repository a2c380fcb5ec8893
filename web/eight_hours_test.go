package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/load"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestEightHoursOfClasses holds one class after another on one server, as fast as possible: phones
// join, follow to the last stage and leave, and the room is deleted. Afterwards, the server has
// about as many goroutines and open files as after the first classes, and the heap is about as
// large. The test runs through as many stages (100,000), joins and leaves (2,000 each) as eight
// hours of teaching would.
// Promise: A server that has held classes for eight hours uses no more memory or open files than before.
func TestEightHoursOfClasses(t *testing.T) {
	fixture.Long(t)
	const classes, phones, tokens = 40, 50, 360 // 40 × 50 joins, 40 × 360 × 7 stages
	limits := admission.DefaultLimits()
	limits.Requests, limits.NewRooms = admission.Pace{}, admission.Pace{} // no rate limits, for speed
	server := webtest.Serve(t, webtest.Options{Admission: &limits})
	ctx, cancel := context.WithTimeout(t.Context(), 10*browser.Patience)
	defer cancel()
	var first use
	for n := range classes {
		holdClass(ctx, t, server, phones, tokens)
		if n == classes/4 {
			first = settledUse(t, use{goroutines: 1 << 30, files: 1 << 30, heap: 1 << 40})
			t.Logf("after %d classes: %v", n+1, first)
		}
	}
	// Database connections and the client's idle connections can stay open.
	last := settledUse(t, use{first.goroutines + 5, first.files + 5, first.heap + first.heap/10 + 4<<20})
	t.Logf(
		"after %d classes with %d joins, %d leaves and %d stages: %v", classes, classes*phones, classes*phones,
		classes*tokens*terms.Stages, last,
	)
}

// use is a process's resource usage.
type use struct {
	goroutines, files int
	heap              uint64
}

func (u use) String() string {
	return fmt.Sprintf(
		"%d goroutines, %d open files, %s of heap", u.goroutines, u.files, terms.BytesFull(int64(u.heap)),
	)
}

// settledUse waits until the process uses no more than the given maximum. Resources that have just
// been closed take a moment to be released.
func settledUse(t *testing.T, most use) use {
	t.Helper()
	late, look := time.After(browser.Patience), time.NewTicker(50*time.Millisecond)
	defer look.Stop()
	for {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		files, _ := os.ReadDir("/proc/self/fd") // empty on other systems
		u := use{runtime.NumGoroutine(), len(files), m.HeapAlloc}
		if u.goroutines <= most.goroutines && u.files <= most.files && u.heap <= most.heap {
			return u
		}
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("the process uses %v, want at most %v", u, most)
		}
	}
}

// A follower is a phone and the newest stage that it has received.
type follower struct {
	load.Phone
	stages chan load.Shared // has capacity 1
	ended  chan struct{}
}

// join connects a phone and starts reading its messages.
func join(ctx context.Context, t *testing.T, url, code string) *follower {
	t.Helper()
	f := &follower{
		Phone: load.Phone{URL: url, Code: code}, stages: make(chan load.Shared, 1), ended: make(chan struct{}),
	}
	if err := f.Dial(ctx); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(f.ended)
		_ = f.Follow(func(frame load.Frame) error { // until the server closes the connection
			if frame.At.IsZero() {
				return nil
			}
			var m struct{ Data load.Shared }
			if err := json.Unmarshal(frame.Body, &m); err != nil {
				return err
			}
			select {
			case <-f.stages:
			default:
			}
			f.stages <- m.Data
			return nil
		})
	}()
	return f
}

// until waits until the phone has received the given stage.
func (f *follower) until(ctx context.Context, t *testing.T, text uint64, step int) {
	t.Helper()
	for {
		select {
		case at := <-f.stages:
			if at.Text == text && at.Step == step && at.Stage == terms.Stages {
				return
			}
		case <-f.ended:
			t.Fatal("a phone was disconnected")
		case <-ctx.Done():
			t.Fatalf("a phone never reached step %d of text %d", step, text)
		}
	}
}

// holdClass holds one class in which the given number of tokens is generated.
func holdClass(ctx context.Context, t *testing.T, server string, phones, tokens int) {
	t.Helper()
	instructor, err := load.NewInstructor(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	var list []*follower
	for range phones {
		list = append(list, join(ctx, t, server, instructor.Code))
	}
	text, step := uint64(0), 0
	for range tokens {
		err := error(nil)
		if text > 0 {
			err = instructor.Do(ctx, "token")
		}
		var ended *load.Refused
		if text == 0 || errors.As(err, &ended) { // start a text, or another one if the last has ended
			text, step = text+1, 0
			prompt := load.Prompts[int(text)%len(load.Prompts)]
			if err = instructor.Do(ctx, "start", "prompt", prompt); err == nil {
				err = instructor.Do(ctx, "token")
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		step++
	}
	for _, f := range list {
		f.until(ctx, t, text, step)
	}
	for _, f := range list {
		f.HangUp()
		<-f.ended
	}
	if err := instructor.Do(ctx, "delete"); err != nil {
		t.Fatal(err)
	}
	instructor.HangUp()
}
