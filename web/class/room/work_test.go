package room

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
)

func (l *lesson) hands(id int, name string, done, slips []string) {
	l.t.Helper()
	if err := l.HandIn(l.t.Context(), caller(learner(id)), name, class.Work{Done: done, Slips: slips}); err != nil {
		l.t.Fatalf("member %d could not hand in results: %v", id, err)
	}
}

func (l *lesson) work() *class.AssignedSummary {
	l.t.Helper()
	s, err := l.Summary(l.t.Context(), l.secret)
	if err != nil {
		l.t.Fatal(err)
	}
	return s.Assigned
}

const (
	taskA, taskB = "learn/temperature", "practice/five"
	slipA, slipB = "practice/five:largest", "practice/five:base-10"
)

// TestWorkIsCountedOnce: each learner counts only once, with their latest results, no matter how
// often they hand in, even after a restart.
// Promise: Each learner counts once in an assignment, with what they handed in last.
func TestWorkIsCountedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	l := s.room(class.Options{Nicknames: true})
	if l.work() != nil {
		t.Error("tasks are already assigned")
	}
	l.does(class.Assign{Tasks: []string{taskA, taskB}})
	l.class(2)
	l.hands(1, "Ada", []string{taskA}, []string{slipA})
	l.hands(1, "Ada", []string{taskA, taskB}, []string{slipA, slipB})
	l.hands(1, "Ada", []string{taskA, taskB}, []string{slipA, slipB})
	l.hands(2, "", nil, []string{slipA, slipA})
	l.hands(3, "", []string{taskA}, nil) // joins using only the link
	check := func(a *class.AssignedSummary) {
		t.Helper()
		same(t, "finished", a.Tasks, class.TaskSummary{Task: taskA, Done: 2}, class.TaskSummary{Task: taskB, Done: 1})
		same(t, "mistakes", a.Slips, class.SlipSummary{Task: taskB, Slip: "largest", Members: 2},
			class.SlipSummary{Task: taskB, Slip: "base-10", Members: 1})
		if a.HandedIn != 3 || len(a.People) != 0 {
			t.Errorf("got %d handed in; names: %v; want 3, 0 elements", a.HandedIn, a.People)
		}
	}
	check(l.work())
	code, secret := l.Code(), l.secret
	s.end()
	again := begun(t, dir)
	r, err := again.Instruct(t.Context(), code, secret, caller(instructor))
	if err != nil {
		t.Fatal(err)
	}
	check((&lesson{r, t, secret}).work())
}

// TestWorkNamesNeedPermission: names are in the summary only if the instructor asked for
// them. They disappear when the member is removed or forgotten.
// Promise: Names are in the results of an assignment only if the instructor asked for them.
func TestWorkNamesNeedPermission(t *testing.T) {
	t.Parallel()
	l := begun(t, "").room(class.Options{})
	l.does(class.Assign{Tasks: []string{taskA}, Names: true})
	for i, name := range []string{"Ada", "Grace", "Alan"} {
		l.hands(i+1, name, []string{taskA}, nil)
	}
	same(t, "who", l.work().People, class.PersonSummary{Name: "Ada", Done: 1},
		class.PersonSummary{Name: "Alan", Done: 1}, class.PersonSummary{Name: "Grace", Done: 1})
	l.does(class.Remove{Member: 1})
	if err := l.ask(t.Context(), func(c *core) error { return c.forget(learner(2)) }); err != nil {
		t.Fatal(err)
	}
	a := l.work()
	same(t, "people left", a.People, class.PersonSummary{Name: "Alan", Done: 1})
	if a.HandedIn != 1 || a.Tasks[0].Done != 1 {
		t.Errorf("the summary afterwards: got %+v, want HandedIn = 1, Tasks[0].Done = 1", a)
	}
	if err := l.HandIn(t.Context(), caller(learner(1)), "Ada", class.Work{}); !errors.Is(err, class.ErrRemoved) {
		t.Errorf("a removed member: got error %v, want %v", err, class.ErrRemoved)
	}
	l.does(class.Assign{Tasks: []string{taskA}})
	if a := l.work(); len(a.People) != 0 || a.HandedIn != 1 {
		t.Errorf("not asked for names: got %+v, want len(People) = 0, HandedIn = 1", a)
	}
}

// TestWorkNeedsTheLinksKey: an assignment opens only with the key in its link. A locked or
// full room admits no new members, and learners who have handed in are not replaced. The
// class's code remains invalid.
func TestWorkNeedsTheLinksKey(t *testing.T) {
	t.Parallel()
	s := begun(t, "", func(c *Config) { c.Limits.Members = admission.Share{Most: 2} })
	l := s.room(class.Options{})
	if err := l.HandIn(t.Context(), caller("p1"), "", class.Work{}); err == nil {
		t.Error("results were accepted although nothing is assigned")
	}
	l.does(class.Assign{Tasks: []string{taskA}})
	for _, key := range []string{"", l.ReplayKey(), l.secret.String(), l.WorkKey() + "A"} {
		if _, err := s.Assigned(l.Code(), key, caller("someone")); !errors.Is(err, class.ErrNoRoom) {
			t.Errorf("with key %q: got error %v, want %v", key, err, class.ErrNoRoom)
		}
	}
	if r, err := s.Assigned(l.Code(), l.WorkKey(), caller("p1")); r != l.Room || err != nil {
		t.Fatalf("got %v, want r = %v, no error", err, l.Room)
	}
	l.does(class.End{})
	s.clock.pass(25 * time.Hour)
	l.hands(1, "", []string{taskA}, nil)
	l.hands(2, "", nil, nil)
	if err := l.HandIn(t.Context(), caller("p3"), "", class.Work{}); !errors.Is(err, class.ErrFull) {
		t.Errorf("a third in a room for two: got error %v, want %v", err, class.ErrFull)
	}
	l.does(class.Reopen{}, class.Lock{On: true})
	if err := l.HandIn(t.Context(), caller("p4"), "", class.Work{}); !errors.Is(err, class.ErrLocked) {
		t.Errorf("a stranger in a locked room: got error %v, want %v", err, class.ErrLocked)
	}
	l.hands(2, "", []string{taskA}, nil) // existing members can still hand in
	if a := l.work(); a.HandedIn != 2 || a.Tasks[0].Done != 2 {
		t.Errorf("got %+v, want HandedIn = 2, Tasks[0].Done = 2", a)
	}
}

// TestWorkIsLimited: results beyond the tasks and the limits are dropped, and an assignment
// that is too long or not a list of slugs is refused.
func TestWorkIsLimited(t *testing.T) {
	t.Parallel()
	l := begun(t, "").room(class.Options{})
	l.does(class.Assign{Tasks: []string{taskB}})
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("%s:slip-%d", taskB, i))
	}
	l.hands(1, "", []string{taskA, taskB, taskB}, append([]string{"learn/other:x", taskB, taskB + ":"}, many...))
	a := l.work()
	if len(a.Slips) != records.MaxSlips || slices.ContainsFunc(a.Slips,
		func(s class.SlipSummary) bool { return s.Task != taskB }) {
		t.Errorf("%d mistakes are left, want %d, all in the other task", len(a.Slips), records.MaxSlips)
	}
	same(t, "finished", a.Tasks, class.TaskSummary{Task: taskB, Done: 1})
	for _, tasks := range [][]string{
		make([]string, records.MaxTasks+1),
		{"a b"},
		{""},
		{"a:b"},
		{string(make([]byte, 100))},
	} {
		if _, err := l.Present(t.Context(), instructor, l.secret, class.Assign{Tasks: tasks}); err == nil {
			t.Errorf("%.20q was assigned, want it refused", tasks)
		}
	}
	before := changes(t, l)
	for range 5 {
		l.hands(1, "", []string{taskB}, many)
	}
	if n := changes(t, l); n > before+1 { // the first of the five may be a change
		t.Errorf("handing in the same five times made %d records, want at most 1", n-before)
	}
	l.does(class.Assign{})
	if l.work() != nil {
		t.Error("an assignment cannot be withdrawn")
	}
}

// changes returns the number of records in the room's log.
func changes(t *testing.T, l *lesson) int {
	t.Helper()
	n, err := get(context.Background(), l.Room.(*local), func(c *core) (int, error) { return c.book.Last, nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}
