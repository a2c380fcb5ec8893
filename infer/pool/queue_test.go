package pool

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// members returns n jobs for a queue.
func members(n int, urgent bool) []*job {
	list := make([]*job, n)
	for i := range list {
		list[i] = &job{urgent: urgent}
	}
	return list
}

// named returns an order of jobs as text, with p0, p1 … for playing jobs and s0, s1 … for stepping
// ones.
func named(order, playing, stepping []*job) (text string) {
	for _, j := range order {
		for i, x := range playing {
			if x == j {
				text += fmt.Sprintf("p%d ", i)
			}
		}
		for i, x := range stepping {
			if x == j {
				text += fmt.Sprintf("s%d ", i)
			}
		}
	}
	return text
}

func TestQueueByHand(t *testing.T) {
	p, s := members(5, false), members(4, true)
	var q queue
	all := func() string { return named(q.take(100, nil), p, s) }
	join := func(list ...*job) {
		for _, j := range list {
			q.join(j)
		}
	}
	join(p[0], p[1], p[2])
	if got := all(); got != "p0 p1 p2 " {
		t.Errorf("playing: got %s, want %s", got, "p0 p1 p2 ")
	}
	// Stepping jobs overtake playing ones, and the two kinds alternate.
	join(p[0], p[1], p[2], s[0], s[1])
	if got := all(); got != "s0 p0 s1 p1 p2 " {
		t.Errorf("both: got %s, want %s", got, "s0 p0 s1 p1 p2 ")
	}
	// The turn carries over from one round to the next: s0 has just been served.
	join(s[0])
	if got := all(); got != "s0 " {
		t.Errorf("one: got %s, want %s", got, "s0 ")
	}
	join(p[0], s[0], s[1])
	if got := all(); got != "p0 s0 s1 " {
		t.Errorf("after a stepping job: got %s, want %s", got, "p0 s0 s1 ")
	}
	// A job that leaves is not served, no matter where it was in the queue.
	for gone := range 4 {
		join(p[0], p[1], p[2], p[3])
		if !q.leave(p[gone]) || q.leave(p[gone]) || q.len() != 3 {
			t.Errorf("a job that leaves from position %d: want it to leave once and 3 jobs to remain", gone)
		}
		want := named(append(append([]*job(nil), p[:gone]...), p[gone+1:4]...), p, s)
		if got := all(); got != want {
			t.Errorf("without p%d: got %s, want %s", gone, got, want)
		}
	}
	// A round takes no more jobs than its limit.
	join(p[0], p[1], p[2], p[3], p[4])
	if got := named(q.take(2, nil), p, s) + "| " + named(
		q.take(2, nil), p, s,
	) + "| " + all(); got != "p0 p1 | p2 p3 | p4 " {
		t.Errorf("rounds of 2: got %s, want %s", got, "p0 p1 | p2 p3 | p4 ")
	}
}

// TestQueueWaitIsAtMostTwiceTheFairShare: no matter which jobs join and leave, no job waits more
// than twice as many rounds as a single queue would need to serve each job once. A stepping job
// waits for the other stepping jobs, but not for all playing ones.
func TestQueueWaitIsAtMostTwiceTheFairShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		playing := members(rapid.IntRange(0, 80).Draw(t, "playing"), false)
		stepping := members(rapid.IntRange(0, 40).Draw(t, "stepping"), true)
		size := rapid.IntRange(1, 20).Draw(t, "places")
		var q queue
		idle := append(append([]*job(nil), playing...), stepping...)
		for range 40 {
			// Some idle jobs join, in any order.
			for n := rapid.IntRange(0, len(idle)).Draw(t, "joining"); n > 0; n-- {
				i := rapid.IntRange(0, len(idle)-1).Draw(t, "who")
				q.join(idle[i])
				idle = append(idle[:i], idle[i+1:]...)
			}
			served := q.take(size, nil)
			for _, j := range served {
				same := len(playing)
				if j.urgent {
					same = len(stepping)
				}
				if waited := q.rounds - 1 - j.since; waited > int64((2*same-1)/size) {
					t.Fatalf(
						"urgent %v: waited %d rounds of %d places, with %d playing and %d stepping; want at most %d",
						j.urgent, waited, size, len(playing), len(stepping), int64((2*same-1)/size),
					)
				}
			}
			idle = append(idle, served...)
		}
	})
}
