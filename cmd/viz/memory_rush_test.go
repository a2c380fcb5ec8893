//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/memory"
)

// TestMemoryStaysBoundedInARush: no matter how many runs are open, the process stays within its
// limit plus 15% for the garbage collector. All runs continue to the end of their texts, and none
// is refused. After the pages of all 1,100 runs have been closed, the process uses at most a fifth
// more memory than just before they were opened, after a hundred similar learners had come and
// gone. The increase consists of a little memory for each run, which is still available at its
// address, and the memory that the Go runtime keeps for the peak number of goroutines.
// Promise: With 1,100 open runs, the server stays near its memory limit, refuses no run, and frees memory later.
func TestMemoryStaysBoundedInARush(t *testing.T) {
	fixture.Long(t)
	memoryInARush(t, 1100, 20, 512<<20)
}

// BenchmarkMemoryInARush does the same as the test with 1,100 runs of 490 tokens, which would take
// 10 GiB without a limit.
func BenchmarkMemoryInARush(b *testing.B) {
	for b.Loop() {
		memoryInARush(b, 1100, 490, 1<<30)
	}
}

// memoryInARush opens runs with the given number of tokens on a server with a memory limit, closes
// their pages, and monitors the server's memory throughout.
func memoryInARush(t testing.TB, runs, tokens int, limit int64) {
	viz, pipe, errors := process(
		t, "serve", "-no-open", "-addr", "127.0.0.1:0", "-data", t.TempDir(), "-memory", fmt.Sprint(limit>>20, "MiB"),
	)
	out := bufio.NewReader(pipe)
	first, err := out.ReadString('\n')
	if err != nil {
		_ = viz.Wait() // wait for the complete error output
		t.Fatalf("nothing printed: %v, %s", err, errors)
	}
	go io.Copy(io.Discard, out)
	url := "ws" + address1.FindString(first)[len("http"):] + "/ws"
	resident := func() int64 {
		n, ok := memory.ResidentOf(viz.Process.Pid)
		if !ok {
			_ = viz.Wait()
			t.Fatalf("the server has ended, want it to run: %s", errors)
		}
		return n
	}
	before, most := resident(), int64(0)
	if runs >= 1000 {
		rush(t, url, 100, tokens, func() int64 { return 0 })()
		before = least(resident)
	}
	leave := rush(t, url, runs, tokens, func() int64 {
		most = max(most, resident())
		return most
	})
	if most > limit/100*115 {
		t.Errorf(
			"the process uses %s, want at most 115%% of its limit, %s", terms.BytesFull(most), terms.BytesFull(limit),
		)
	}
	leave()
	t.Logf(
		"%d runs: %s before, %s at most, %s afterwards", runs, terms.BytesFull(before), terms.BytesFull(most),
		terms.BytesFull(resident()),
	)
	if runs < 1000 {
		return // it would take longer than the rest of the short tier
	}
	late, look := time.After(browser.Patience), time.NewTicker(time.Second)
	defer look.Stop()
	defer func() { t.Logf("%s in the end", terms.BytesFull(resident())) }()
	for begin := time.Now(); resident() > before/10*12; {
		select {
		case <-look.C:
		case <-late:
			t.Fatalf(
				"%s before, and %s %v after", terms.BytesFull(before), terms.BytesFull(resident()), time.Since(begin),
			)
		}
	}
}

// least waits until a process has freed its abandoned runs, which takes at most 45 seconds, and
// until its memory use has not reached a new low for ten seconds. It returns the lowest memory use.
func least(resident func() int64) int64 {
	n, look := resident(), time.NewTicker(time.Second)
	defer look.Stop()
	for seconds, last := 0, 0; seconds < max(45, last+10); seconds++ {
		<-look.C
		if now := resident(); now < n {
			n, last = now, seconds
		}
	}
	return n
}

// rush makes the given number of learners generate one text each, eight at a time, and repeatedly
// calls look in the meantime. It returns when all texts are complete; the pages stay open until
// leave is called.
func rush(t testing.TB, url string, learners, tokens int, look func() int64) (leave func()) {
	t.Helper()
	var mu sync.Mutex
	var open []*websocket.Conn
	leave = sync.OnceFunc(func() {
		for _, c := range open {
			c.Close()
		}
	})
	t.Cleanup(leave)
	ctx, cancel := context.WithTimeout(t.Context(), 20*browser.Patience)
	defer cancel()
	var writing sync.WaitGroup
	next := make(chan int)
	for range 8 {
		writing.Go(func() {
			for range next {
				c, err := writeText(ctx, url, tokens)
				if err != nil {
					t.Error(err)
					continue
				}
				mu.Lock()
				open = append(open, c)
				mu.Unlock()
				go discard(c)
			}
		})
	}
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for sent := 0; sent < learners; {
		select {
		case next <- sent:
			sent++
		case <-every.C:
			look()
		}
	}
	close(next)
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	for {
		select {
		case <-every.C:
			look()
		case <-done:
			return leave
		}
	}
}

// discard reads and discards the messages sent to an open but idle page.
func discard(c *websocket.Conn) {
	for {
		if _, _, err := c.ReadMessage(); err != nil {
			return
		}
	}
}

// writeText opens a run as a page does and continues it until the text has the given number of
// tokens. If the run pauses because memory is used up, or ends early, it presses Play again.
func writeText(ctx context.Context, url string, tokens int) (*websocket.Conn, error) {
	d := websocket.Dialer{
		Subprotocols: []string{"viz.html.v1"},
		NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			if tcp, ok := conn.(*net.TCPConn); ok {
				err = tcp.SetReadBuffer(64 << 10)
			}
			return conn, err
		},
	}
	c, _, err := d.DialContext(ctx, url, nil)
	if err != nil {
		return nil, err
	}
	n := 0
	say := func(command string) {
		n++
		_ = c.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"n":%d,"cmd":%s}`, n, command))
	}
	say(fmt.Sprintf(`"stop","max_tokens":%d`, tokens))
	say(`"start","prompt":"Once upon a time"`)
	say(`"finish"`)
	for {
		var m struct {
			Ack   int
			Error *terms.Refusal
			Data  *struct {
				Playing bool
				Scrub   struct{ Max int }
			}
		}
		_ = c.SetReadDeadline(time.Now().Add(browser.Patience))
		_, b, err := c.ReadMessage()
		if err == nil {
			err = json.Unmarshal(b, &m)
		}
		switch {
		case err != nil:
			return c, err
		case m.Error != nil && m.Error.Code == terms.CodeFull:
			return c, m.Error
		case m.Ack < n || m.Data == nil || m.Data.Playing: // the answer is on its way
		case m.Data.Scrub.Max >= tokens*len(infer.Kinds):
			return c, c.SetReadDeadline(time.Time{})
		default:
			say(`"goon"`) // refused if the run has only paused
			say(`"finish"`)
		}
	}
}
