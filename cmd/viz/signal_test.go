//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// If the variable asViz is set, the test binary acts as viz, so signals and pipes are tested on a
// real process.
const asViz = "VIZ_TEST_AS_VIZ"

// wrongClock is the variable that sets how far the process's clock is ahead, in the format of
// time.ParseDuration.
const wrongClock = "VIZ_TEST_CLOCK"

// once returns a function that calls f only once for each argument.
func once[K comparable, V any](f func(K) (V, error)) func(K) (V, error) {
	var calls sync.Map // maps each K to a func() (V, error)
	return func(k K) (V, error) {
		call, _ := calls.LoadOrStore(k, sync.OnceValues(func() (V, error) { return f(k) }))
		return call.(func() (V, error))()
	}
}

func TestMain(m *testing.M) {
	if os.Getenv(asViz) == "1" {
		if ahead, err := time.ParseDuration(os.Getenv(wrongClock)); err == nil {
			clock = func() time.Time { return time.Now().Add(ahead) }
		}
		main()
	}
	loadTarget, loadDraft, loadCourse = once(loadTarget), once(loadDraft), sync.OnceValues(loadCourse)
	clusterTimes.life = 6 * time.Second // for servers in this process
	browser.Main(m)
}

// process starts viz. It returns the command, its standard output, and its standard
// error, which is complete once the command has ended.
func process(t testing.TB, args ...string) (*exec.Cmd, io.ReadCloser, *strings.Builder) {
	t.Helper()
	return processIn(t, nil, args...)
}

// processIn is like process, but sets the given environment variables. The environment is otherwise
// empty.
func processIn(t testing.TB, env []string, args ...string) (*exec.Cmd, io.ReadCloser, *strings.Builder) {
	t.Helper()
	fixture.Spend(fixture.Servers, 1)
	c := exec.Command(os.Args[0], args...)
	c.Env = append(env, asViz+"=1")
	errors := &strings.Builder{}
	c.Stderr = errors
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	return c, out, errors
}

func TestSignalsEndTheProgram(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		args   []string
		signal os.Signal
		want   int
	}{
		{"serve, SIGTERM", []string{"serve", "-addr", "127.0.0.1:0"}, syscall.SIGTERM, 0},
		{"serve, SIGINT", []string{"serve", "-addr", "127.0.0.1:0"}, os.Interrupt, 0},
		{
			"trace, SIGINT",
			[]string{"trace", "-prompt", "Once", "-temp", "5", "-top-p", "1", "-rows", "0", "-n", "500"},
			os.Interrupt,
			130,
		},
		{
			"trace, SIGTERM",
			[]string{"trace", "-prompt", "Once", "-temp", "5", "-top-p", "1", "-rows", "0", "-n", "500"},
			syscall.SIGTERM, 143,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			viz, pipe, errors := process(t, c.args...)
			out := bufio.NewReader(pipe)
			if _, err := out.ReadString('\n'); err != nil {
				t.Fatalf("nothing printed: %v, %s", err, errors)
			}
			if err := viz.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, out); err != nil {
				t.Fatal(err)
			}
			viz.Wait()
			if code := viz.ProcessState.ExitCode(); code != c.want || errors.Len() > 0 {
				t.Errorf("exit %d, stderr %q; want %d and no output", code, errors, c.want)
			}
		})
	}
}

// TestPipeClosedByReader runs the equivalent of `viz trace | head -1`.
func TestPipeClosedByReader(t *testing.T) {
	viz, pipe, errors := process(t, "trace", "-prompt", "Once", "-n", "400", "-temp", "5", "-top-p", "1")
	if line, err := bufio.NewReader(pipe).ReadString('\n'); err != nil || !strings.HasPrefix(line, "model") {
		t.Fatalf("first line %q, %v; want a line beginning with %q, <nil>", line, err, "model")
	}
	pipe.Close() // viz writes far more than a pipe's buffer holds
	viz.Wait()
	if errors.Len() > 0 {
		t.Errorf("stderr %q, want no output", errors)
	}
}
