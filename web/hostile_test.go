package web_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/load"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/webtest"
)

// hostileLimits returns the default limits with a tenth of the places, so that an attack from this
// machine soon occupies all of them.
func hostileLimits() *admission.Limits {
	l := admission.DefaultLimits()
	l.Sockets = admission.Share{Most: 600, Newcomers: 450, PerAddress: 300, PerLearner: 40}
	l.Runs = admission.Share{Most: 200, Newcomers: 150, PerAddress: 120, PerLearner: 20}
	l.Members = admission.Share{Most: 800, Newcomers: 700, PerAddress: 200}
	l.NewLearners = admission.Pace{PerAddress: admission.Rate{PerSecond: 100, Burst: 300}}
	return &l
}

// flooded are the addresses from which the hostile client attacks.
var flooded = []string{"127.0.0.2", "127.0.0.3", "127.0.0.4"}

// A battle is a server that is attacked while others use it.
type battle struct {
	testing.TB
	server   string
	learners shell.Learners
	victim   target
	short    string // a link to a short text
}

func newBattle(t testing.TB) *battle {
	t.Helper()
	secret := []byte("a secret that the test shares")
	b := &battle{
		TB: t, server: webtest.Serve(t, webtest.Options{Secret: secret, Admission: hostileLimits()}),
		learners: shell.NewLearners(secret, nil),
	}
	instructor, err := load.NewInstructor(t.Context(), b.server)
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range [][]string{
		{"start", "prompt", "The capital of France is"}, {"forward"}, {"ask-next", "n", "5", "where", "here"},
	} {
		if err := instructor.Do(t.Context(), do[0], do[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	_, page, err := newClient(b.server, "127.0.0.1", "").get(t.Context(), "/class/"+instructor.Code)
	if err != nil {
		t.Fatal(err)
	}
	value := func(name string) string {
		found := regexp.MustCompile(`name="` + name + `"[^>]* value="([^"]*)"`).FindStringSubmatch(page)
		if found == nil {
			t.Fatalf("the class page has no field %s", name)
		}
		return found[1]
	}
	b.victim = target{instructor.Code, value("poll"), value("choice"), link(t, 200)}
	b.short = link(t, 8)
	return b
}

// known returns a client whose learner the server has known for a long time.
func (b *battle) known(id, from string) *client {
	return newClient(b.server, from, knownCookie(b.learners, b.server, id))
}

// attempts is the number of times that each attack is tried before the test checks on the other
// clients. An attempt that the client gives up on because the server delays it counts as givenUp
// attempts.
const (
	attempts = 300
	givenUp  = 10
)

// attack starts the named attacks from all flooded addresses at the same time, and returns once
// each attack has been tried many times.
func (b *battle) attack(names ...string) (stop func()) {
	b.Helper()
	return attack(b.server, b.victim, names)
}

func attack(server string, victim target, names []string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	var begun []<-chan struct{}
	for _, name := range names {
		var tried atomic.Int64
		reached, once := make(chan struct{}), sync.Once{}
		begun = append(begun, reached)
		for _, from := range flooded {
			all.Go(func() {
				c := newClient(server, from, "")
				defer c.close()
				for ctx.Err() == nil {
					// The client gives up on requests that the server delays.
					one, done := context.WithTimeout(ctx, time.Second)
					attacks[name](one, c, victim)
					n := int64(1)
					if one.Err() != nil {
						n = givenUp
					}
					done()
					if tried.Add(n) >= attempts/int64(len(names)) {
						once.Do(func() { close(reached) })
					}
				}
			})
		}
	}
	for _, reached := range begun {
		<-reached
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// headline returns the beginning of a page's text.
func headline(page string) string {
	_, rest, _ := strings.Cut(page, "<main")
	text := regexp.MustCompile(`<[^>]*>|\s+`).ReplaceAllString(cmp.Or(rest, page), " ")
	return fmt.Sprintf("%.200s", text)
}

// learns uses pages and a connection as a learner would.
func (b *battle) learns(c *client) error {
	for _, path := range []string{
		"/loop", "/", "/learn", "/labs/draw?draws=200&run=1&sure=1&guess=none", "/loop?log=" + b.short,
		"/why?prompt=The+capital+of+France+is&off=L1.H1&with=The+capital+of+Italy+is",
	} {
		if status, text, err := c.get(b.Context(), path); err != nil || status != http.StatusOK {
			return fmt.Errorf("%.30s: %d %s, %v", path, status, headline(text), err)
		}
	}
	v, answer, err := visit(nil, b.server, c.from, c.cookie)
	if err != nil {
		return fmt.Errorf("connecting: %v, %v", err, answer)
	}
	defer v.conn.Close()
	if err := v.learn(); err != nil {
		return fmt.Errorf("a run: %w", err)
	}
	_, file, err := c.get(b.Context(), "/progress/export")
	if err != nil {
		return err
	}
	if status, text, err := c.upload(b.Context(), []byte(file)); err != nil || status != http.StatusSeeOther {
		return fmt.Errorf("an import: %d %s, %v", status, headline(text), err)
	}
	return nil
}

// joins joins the attacked class and follows it.
func (b *battle) joins(c *client) error {
	status, text, err := c.get(b.Context(), "/join?code="+b.victim.Room)
	if err != nil || status != http.StatusSeeOther {
		return fmt.Errorf("a valid code: %d %s, %v", status, headline(text), err)
	}
	phone := load.Phone{URL: b.server, Code: b.victim.Room, From: c.from, Cookie: c.cookie}
	if err := phone.Dial(b.Context()); err != nil {
		return err
	}
	defer phone.HangUp()
	err = phone.Follow(func(f load.Frame) error {
		var m struct {
			Error *struct{ Message string }
			Data  struct{ You *struct{ Member int } }
		}
		switch err := json.Unmarshal(f.Body, &m); {
		case err != nil:
			return err
		case m.Error != nil:
			return errors.New(m.Error.Message)
		case m.Data.You != nil:
			return io.EOF
		}
		return nil
	})
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("joining: %w", err)
	}
	return nil
}

// others checks that everyone else is served. Known learners, at the flooded addresses and
// elsewhere, and newcomers elsewhere are never refused. A newcomer at a flooded address gets in
// after several attempts.
func (b *battle) others(round string) {
	b.Helper()
	var all sync.WaitGroup
	serve := func(who string, c *client, do ...func(*client) error) {
		all.Go(func() {
			defer c.close()
			for _, f := range do {
				if err := f(c); err != nil {
					b.Errorf("%s: %v", who, err)
				}
			}
		})
	}
	for i := range 10 {
		from := flooded[i%len(flooded)]
		if i%2 == 0 {
			from = fmt.Sprint("127.0.1.", i)
		}
		who := fmt.Sprintf("a known learner at %s", from)
		serve(who, b.known(fmt.Sprint("known-", i), from), b.learns, b.joins)
	}
	instructor := b.known("teacher-"+strings.ReplaceAll(round, " ", "-"), flooded[0])
	serve("a known instructor", instructor, func(c *client) error {
		status, text, err := c.post(b.Context(), "/teach", url.Values{"title": {"Ours"}})
		if err != nil || status != http.StatusSeeOther {
			return fmt.Errorf("a new class: %d %s, %v", status, headline(text), err)
		}
		return nil
	})
	for i := range 5 {
		from := fmt.Sprint("127.0.2.", i)
		serve("a newcomer at "+from, newClient(b.server, from, ""), b.learns, b.joins)
	}
	serve("a newcomer at the flooder's address", newClient(b.server, flooded[1], ""), b.getsIn)
	all.Wait()
}

// getsIn behaves like a browser: it reloads a refused page, and reconnects, until it has both a
// page and a run.
func (b *battle) getsIn(c *client) error {
	late, cancel := context.WithTimeout(b.Context(), browser.Patience)
	defer cancel()
	var why error
	for late.Err() == nil {
		status, _, err := c.get(late, "/loop")
		if err != nil || status != http.StatusOK {
			why = fmt.Errorf("a page: %d, %v", status, err)
			continue
		}
		v, answer, err := visit(nil, b.server, c.from, c.cookie)
		if err != nil {
			why = fmt.Errorf("connecting: %v, %v", err, answer)
			continue
		}
		err = v.learn()
		v.conn.Close()
		if err == nil {
			return nil
		}
		why = fmt.Errorf("a run: %w", err)
	}
	return why
}

// TestHostileClient: one client that attacks a server, first with each attack alone and then with
// all at once, disturbs nobody else.
// Promise: One hostile client disturbs nobody else.
func TestHostileClient(t *testing.T) {
	fixture.Long(t)
	names := slices.Sorted(maps.Keys(attacks))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			b := newBattle(t)
			defer b.attack(name)()
			b.others(name)
		})
	}
	t.Run("together", func(t *testing.T) {
		b := newBattle(t)
		defer b.attack(names...)()
		var class sync.WaitGroup
		defer class.Wait()
		class.Go(func() {
			o := load.Options{
				URLs: []string{b.server}, From: "127.0.3.1", Followers: 100, Rooms: 1,
				Time: 10 * time.Second, Every: 500 * time.Millisecond,
			}
			report, err := load.Run(t.Context(), o, func(string) {})
			if err != nil {
				t.Errorf("a class of %d: %v", o.Followers, err)
			} else if v := report.Votes; v.Counted != o.Followers || v.Wrong != 0 {
				t.Errorf("a class of %d: got %+v; want Counted = %d, Wrong = 0", o.Followers, v, o.Followers)
			}
		})
		b.others("together")
	})
}

// hostileProcess is the environment variable that makes the test binary act as a hostile client.
const hostileProcess = "VIZ_TEST_ATTACKS"

// orders are the instructions for an attacking process.
type orders struct {
	Server string
	Victim target
	Names  []string // of attacks
}

// attackFromHere decodes orders from text and starts the attacks that they name. It reports on
// standard output that they have started, and continues until standard input is closed.
func attackFromHere(text string) {
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	stop := attack(o.Server, o.Victim, o.Names)
	fmt.Println("attacking")
	_, _ = io.Copy(io.Discard, os.Stdin)
	stop()
}

// attackFromOutside starts attacks in a separate process and returns once each has been tried.
func (b *battle) attackFromOutside(names ...string) (stop func()) {
	b.Helper()
	text, err := json.Marshal(orders{b.server, b.victim, names})
	if err != nil {
		b.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env, c.Stderr = append(os.Environ(), hostileProcess+"="+string(text)), os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		b.Fatal(err)
	}
	return func() {
		in.Close()
		_ = c.Wait()
	}
}

// thinking is how long a learner waits before requesting the next stage.
const thinking = 250 * time.Millisecond

// BenchmarkHostileClient measures how long ten known learners, who look at each stage for a moment,
// wait for the next stage: without an attack, while a hostile client runs all attacks at once, and
// while it only sends unusable grammars. Client and server share the machine.
func BenchmarkHostileClient(b *testing.B) {
	b.Run("alone", func(b *testing.B) { newBattle(b).waits(b) })
	b.Run("attacked", func(b *testing.B) {
		x := newBattle(b)
		defer x.attackFromOutside(slices.Sorted(maps.Keys(attacks))...)()
		x.waits(b)
	})
	b.Run("grammars", func(b *testing.B) {
		x := newBattle(b)
		defer x.attackFromOutside("grammars")()
		x.waits(b)
	})
}

// waits measures how long known learners wait for a stage, and reports the result.
func (b *battle) waits(bench *testing.B) {
	var mu sync.Mutex
	var took []time.Duration
	for bench.Loop() {
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				c := b.known(fmt.Sprint("known-", i), flooded[i%len(flooded)])
				v, answer, err := visit(nil, b.server, c.from, c.cookie)
				if err != nil {
					bench.Errorf("%v, %v", err, answer)
					return
				}
				defer v.conn.Close()
				if err := v.ask(1, `{"cmd":"start","n":%d,"prompt":"Once upon a time"}`); err != nil {
					bench.Error(err)
					return
				}
				pace := time.NewTicker(thinking)
				defer pace.Stop()
				for n := range 70 {
					<-pace.C
					began := time.Now()
					if err := v.ask(n+2, `{"cmd":"step","n":%d}`); err != nil {
						bench.Error(err)
						return
					}
					mu.Lock()
					took = append(took, time.Since(began))
					mu.Unlock()
				}
			})
		}
		all.Wait()
	}
	slices.Sort(took)
	for _, q := range []int{50, 99} {
		bench.ReportMetric(float64(took[(len(took)-1)*q/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", q))
	}
}
