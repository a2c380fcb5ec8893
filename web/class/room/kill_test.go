package room

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/store"
)

// killDir is the name of an environment variable. If it is set, the test binary runs the
// class that the test kills.
const killDir = "VIZ_TEST_CLASS_DIR"

// pupils is the number of members who vote at the same time.
const pupils = 40

// voteUntilKilled teaches a class whose data is in the folder: it opens a poll, makes all
// members vote and change their votes, closes the poll, continues the run and restarts it. It
// prints everything that is confirmed: "room CODE SECRET", "stage LINK", "vote POLL MEMBER CHOICE
// N" and "name MEMBER NAME".
func voteUntilKilled() {
	dir := os.Getenv(killDir)
	if dir == "" {
		return
	}
	fail := func(err error) {
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	m, err := testmodel.Load()
	fail(err)
	course, err := classtest.Course()
	fail(err)
	db, err := store.Open(dir, nil)
	fail(err)
	ctx := context.Background()
	h, err := NewHub(ctx, Config{
		Logs: journal.For(db), Secrets: db, Course: course,
		Driver: &classtest.Driver{Model: m},
	})
	fail(err)
	r, secret, err := h.Create(ctx, classtest.Caller(classtest.Instructor), class.Options{Nicknames: true})
	fail(err)
	fmt.Println("room", r.Code(), secret)
	do := func(c class.Command) {
		v, err := classtest.Execute(ctx, r, classtest.Instructor, secret, c)
		fail(err)
		fmt.Println("stage", v.Link())
	}
	do(class.Drive{Do: session.Start{Prompt: "Once upon a time"}})
	for id := range pupils {
		_, err := r.Join(ctx, classtest.Caller(classtest.Learner(id+1)), "")
		fail(err)
	}
	for {
		do(class.AskNext{Where: class.Here})
		p := r.View().Poll
		var wg sync.WaitGroup
		for id := range pupils {
			wg.Go(func() {
				for n := int64(1); n <= 3; n++ {
					kept, err := r.Vote(
						ctx, classtest.Learner(id+1), class.Ballot{
							Poll:   p.ID,
							Choice: classtest.Keys(p)[(id+int(n))%len(classtest.Keys(p))], N: n,
						},
					)
					fail(err)
					fmt.Println("vote", kept.Poll, id+1, kept.Choice, kept.N) // a single write, so lines do not mix
				}
				m, err := r.Join(ctx, classtest.Caller(classtest.Learner(id+1)), fmt.Sprint("in-", p.ID))
				fail(err)
				r.Leave(classtest.Learner(id + 1))
				fmt.Println("name", id+1, m.Name)
			})
		}
		wg.Wait()
		do(class.Close{})
		do(class.Drive{Do: session.StepToken{}})
		if st := r.View().State; len(st.Steps) > 8 || st.Stopped != infer.StopNone {
			do(class.Drive{Do: session.Start{Prompt: "Once upon a time"}})
		}
	}
}

// confirmed contains everything that a class confirmed before it was killed.
type confirmed struct {
	code   string
	secret class.Secret
	stage  string
	votes  map[string]class.Receipt // by "POLL MEMBER", with the highest N
	names  map[string]string        // by member
	lines  int
}

// killed runs a class in a folder and kills it after it has printed the given number of
// lines.
func killed(t *testing.T, dir string, after int) confirmed {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), killDir+"="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	seen := confirmed{votes: map[string]class.Receipt{}, names: map[string]string{}}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if seen.lines++; seen.lines == after {
			if err := c.Process.Kill(); err != nil { // SIGKILL; output printed before it can still be read
				t.Fatal(err)
			}
		}
		seen.read(t, lines.Text())
	}
	_ = c.Wait()
	if seen.lines < after {
		t.Fatalf("the class ended after %d lines, want at least %d", seen.lines, after)
	}
	return seen
}

func (seen *confirmed) read(t *testing.T, line string) {
	t.Helper()
	w := strings.Fields(line)
	switch {
	case len(w) == 3 && w[0] == "room":
		seen.code, seen.secret = w[1], class.ParseSecret(w[2])
	case len(w) == 2 && w[0] == "stage":
		seen.stage = w[1]
	case len(w) == 5 && w[0] == "vote":
		n, err := strconv.ParseInt(w[4], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if key := w[1] + " " + w[2]; n > seen.votes[key].N {
			seen.votes[key] = class.Receipt{Choice: w[3], N: n}
		}
	case len(w) == 3 && w[0] == "name":
		seen.names[w[1]] = w[2]
	case len(w) > 0 && (w[0] == "error" || w[0] == "panic:"):
		t.Fatalf("the class printed %q, want a known keyword", line)
	}
}

// TestKilledInMidClass: a class that is killed at any moment is restored with the same
// secret, with every confirmed vote or a newer one of the same member, and at the confirmed
// stage or a later one.
func TestKilledInMidClass(t *testing.T) {
	fixture.Long(t)
	const kills = 100
	random := rand.New(rand.NewPCG(3, 4))
	for range kills {
		dir := t.TempDir()
		is := killed(t, dir, 20+random.IntN(600))
		s := begun(t, dir)
		began := time.Now()
		r, err := s.Enter(t.Context(), is.code, classtest.Caller(classtest.Learner(1)))
		if err != nil {
			t.Fatalf("after %d lines: %v", is.lines, err)
		}
		if took := time.Since(began); took > 10*time.Second { // the documented limit, far above the usual time
			t.Errorf("the stage came back after %v, want at most %v", took, 10*time.Second)
		}
		stage(t, s, r, is)
		for id, want := range is.names {
			checkName(t, r, id, want)
		}
		kept, err := get(t.Context(), r.(*Local), func(c *core) (map[polls.Round]map[int]polls.Vote,
			error,
		) {
			return c.votes, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range is.votes {
			var at polls.Round
			var member int
			if _, err := fmt.Sscanf(key, "%d-%d %d", &at.Poll, &at.N, &member); err != nil {
				t.Fatal(err)
			}
			if got := kept[at][member]; got.N < want.N || got.N == want.N && got.Choice != want.Choice {
				t.Fatalf("after %d lines, the vote %s is %+v, want the confirmed %+v", is.lines, key, got, want)
			}
		}
		s.end()
	}
}

// checkName checks that a member has the confirmed nickname or a nickname with a higher
// number.
func checkName(t *testing.T, r class.Room, id, want string) {
	t.Helper()
	is, err := r.Standing(t.Context(), "p"+id)
	if err != nil {
		t.Fatal(err)
	}
	number := func(name string) (n int) {
		_, _ = fmt.Sscanf(name, "in-%d", &n) // n stays 0 if there is no name
		return n
	}
	if number(is.Name) < number(want) {
		t.Fatalf("member %s is called %q, want the confirmed %q", id, is.Name, want)
	}
}

// stage checks that a room is at the confirmed stage or one command further.
func stage(t *testing.T, s *school, r class.Room, seen confirmed) {
	t.Helper()
	if seen.stage == "" {
		return
	}
	want, err := session.ParseLink(s.driver.Model, seen.stage)
	if err != nil {
		t.Fatal(err)
	}
	got := r.View().State
	if r.View().Link() == seen.stage {
		return
	}
	far := len(got.Steps) - want.Log.Steps
	if got.Prompt != want.Log.Prompt || far < 0 && len(got.Steps) > 1 || far > 1 {
		t.Errorf("the stage is step %d, want the confirmed %d", len(got.Steps), want.Log.Steps)
	}
	lock := class.Lock{On: true}
	if _, err := classtest.Execute(t.Context(), r, classtest.Instructor, seen.secret, lock); err != nil {
		t.Errorf("the instructor: %v", err)
	}
}
