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
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/records"
)

func hands(l *classtest.Lesson, id int, name string, done, slips []string) {
	l.T.Helper()
	if err := l.HandIn(l.T.Context(), classtest.Caller(classtest.Learner(id)), name,
		class.Work{Done: done, Slips: slips}); err != nil {
		l.T.Fatalf("member %d could not hand in results: %v", id, err)
	}
}

func workOf(l *classtest.Lesson) *class.AssignedSummary {
	l.T.Helper()
	s, err := l.Summary(l.T.Context(), l.Secret)
	if err != nil {
		l.T.Fatal(err)
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
	if workOf(l) != nil {
		t.Error("tasks are already assigned")
	}
	l.Does(class.Assign{Tasks: []string{taskA, taskB}})
	l.Enroll(2)
	hands(l, 1, "Ada", []string{taskA}, []string{slipA})
	hands(l, 1, "Ada", []string{taskA, taskB}, []string{slipA, slipB})
	hands(l, 1, "Ada", []string{taskA, taskB}, []string{slipA, slipB})
	hands(l, 2, "", nil, []string{slipA, slipA})
	hands(l, 3, "", []string{taskA}, nil) // joins using only the link
	check := func(a *class.AssignedSummary) {
		t.Helper()
		classtest.Same(
			t, "finished", a.Tasks, class.TaskSummary{Task: taskA, Done: 2}, class.TaskSummary{Task: taskB, Done: 1},
		)
		classtest.Same(t, "mistakes", a.Slips, class.SlipSummary{Task: taskB, Slip: "largest", Members: 2},
			class.SlipSummary{Task: taskB, Slip: "base-10", Members: 1})
		if a.HandedIn != 3 || len(a.People) != 0 {
			t.Errorf("got %d handed in; names: %v; want 3, 0 elements", a.HandedIn, a.People)
		}
	}
	check(workOf(l))
	code, secret := l.Code(), l.Secret
	s.end()
	again := begun(t, dir)
	r, err := again.Instruct(t.Context(), code, secret, classtest.Caller(classtest.Instructor))
	if err != nil {
		t.Fatal(err)
	}
	check(workOf(&classtest.Lesson{Room: r, T: t, Secret: secret, Broker: nil}))
}

// TestWorkNamesNeedPermission: names are in the summary only if the instructor asked for
// them. They disappear when the member is removed or forgotten.
// Promise: Names are in the results of an assignment only if the instructor asked for them.
func TestWorkNamesNeedPermission(t *testing.T) {
	t.Parallel()
	l := begun(t, "").room(class.Options{})
	l.Does(class.Assign{Tasks: []string{taskA}, Names: true})
	for i, name := range []string{"Ada", "Grace", "Alan"} {
		hands(l, i+1, name, []string{taskA}, nil)
	}
	classtest.Same(t, "who", workOf(l).People, class.PersonSummary{Name: "Ada", Done: 1},
		class.PersonSummary{Name: "Alan", Done: 1}, class.PersonSummary{Name: "Grace", Done: 1})
	l.Does(class.Remove{Member: 1})
	if err := ask(t.Context(), l, func(c *core) error { return c.forget(classtest.Learner(2)) }); err != nil {
		t.Fatal(err)
	}
	a := workOf(l)
	classtest.Same(t, "people left", a.People, class.PersonSummary{Name: "Alan", Done: 1})
	if a.HandedIn != 1 || a.Tasks[0].Done != 1 {
		t.Errorf("the summary afterwards: got %+v, want HandedIn = 1, Tasks[0].Done = 1", a)
	}
	if err := l.HandIn(t.Context(), classtest.Caller(classtest.Learner(1)), "Ada", class.Work{}); !errors.Is(err,
		class.ErrRemoved) {
		t.Errorf("a removed member: got error %v, want %v", err, class.ErrRemoved)
	}
	l.Does(class.Assign{Tasks: []string{taskA}})
	if a := workOf(l); len(a.People) != 0 || a.HandedIn != 1 {
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
	if err := l.HandIn(t.Context(), classtest.Caller("p1"), "", class.Work{}); err == nil {
		t.Error("results were accepted although nothing is assigned")
	}
	l.Does(class.Assign{Tasks: []string{taskA}})
	for _, key := range []string{"", l.ReplayKey(), l.Secret.String(), l.WorkKey() + "A"} {
		if _, err := s.Assigned(l.Code(), key, classtest.Caller("someone")); !errors.Is(err, class.ErrNoRoom) {
			t.Errorf("with key %q: got error %v, want %v", key, err, class.ErrNoRoom)
		}
	}
	if r, err := s.Assigned(l.Code(), l.WorkKey(), classtest.Caller("p1")); r != l.Room || err != nil {
		t.Fatalf("got %v, want r = %v, no error", err, l.Room)
	}
	l.Does(class.End{})
	s.clock.Pass(25 * time.Hour)
	hands(l, 1, "", []string{taskA}, nil)
	hands(l, 2, "", nil, nil)
	if err := l.HandIn(t.Context(), classtest.Caller("p3"), "", class.Work{}); !errors.Is(err, class.ErrFull) {
		t.Errorf("a third in a room for two: got error %v, want %v", err, class.ErrFull)
	}
	l.Does(class.Reopen{}, class.Lock{On: true})
	if err := l.HandIn(t.Context(), classtest.Caller("p4"), "", class.Work{}); !errors.Is(err, class.ErrLocked) {
		t.Errorf("a stranger in a locked room: got error %v, want %v", err, class.ErrLocked)
	}
	hands(l, 2, "", []string{taskA}, nil) // existing members can still hand in
	if a := workOf(l); a.HandedIn != 2 || a.Tasks[0].Done != 2 {
		t.Errorf("got %+v, want HandedIn = 2, Tasks[0].Done = 2", a)
	}
}

// TestWorkIsLimited: results beyond the tasks and the limits are dropped, and an assignment
// that is too long or not a list of slugs is refused.
func TestWorkIsLimited(t *testing.T) {
	t.Parallel()
	l := begun(t, "").room(class.Options{})
	l.Does(class.Assign{Tasks: []string{taskB}})
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("%s:slip-%d", taskB, i))
	}
	hands(l, 1, "", []string{taskA, taskB, taskB}, append([]string{"learn/other:x", taskB, taskB + ":"}, many...))
	a := workOf(l)
	if len(a.Slips) != records.MaxSlips || slices.ContainsFunc(a.Slips,
		func(s class.SlipSummary) bool { return s.Task != taskB }) {
		t.Errorf("%d mistakes are left, want %d, all in the other task", len(a.Slips), records.MaxSlips)
	}
	classtest.Same(t, "finished", a.Tasks, class.TaskSummary{Task: taskB, Done: 1})
	for _, tasks := range [][]string{
		make([]string, records.MaxTasks+1),
		{"a b"},
		{""},
		{"a:b"},
		{string(make([]byte, 100))},
	} {
		if _, err := l.Do(t.Context(), class.Assign{Tasks: tasks}); err == nil {
			t.Errorf("%.20q was assigned, want it refused", tasks)
		}
	}
	before := changes(t, l)
	for range 5 {
		hands(l, 1, "", []string{taskB}, many)
	}
	if n := changes(t, l); n > before+1 { // the first of the five may be a change
		t.Errorf("handing in the same five times made %d records, want at most 1", n-before)
	}
	l.Does(class.Assign{})
	if workOf(l) != nil {
		t.Error("an assignment cannot be withdrawn")
	}
}

// changes returns the number of records in the room's log.
func changes(t *testing.T, l *classtest.Lesson) int {
	t.Helper()
	n, err := get(context.Background(), l.Room.(*Local), func(c *core) (int, error) { return c.book.Last, nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}
