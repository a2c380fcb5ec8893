package progress

import (
	"fmt"
	"maps"
	"testing"
	"time"
)

// TestStandingsFollowTheSchedule: FSRS-6 without short steps gives a question that was answered
// correctly a stability of w2 = 2.3065 days, so it is due after 2 days; w1 = 1.2931 after a partly
// right answer and w0 = 0.212 after a wrong one are 1 day.
func TestStandingsFollowTheSchedule(t *testing.T) {
	s, c := newStore(t)
	want := func(when string, order, draw, bytes Standing) {
		t.Helper()
		_, got, err := s.Standings(ctx, ada)
		must(t, err)
		if len(got) != 3 || got["q-order"] != order || got["q-draw"] != draw || got["q-bytes"] != bytes {
			t.Errorf("%s: got %v, want %v, %v and %v", when, got, order, draw, bytes)
		}
	}
	want("at the beginning", Unanswered, Unanswered, Unanswered)
	must(t, s.Answer(ctx, ada, Answer{ID: "a1", Item: "q-order", Kind: Check, Credit: 1}))
	must(t, s.Answer(ctx, ada, Answer{ID: "a2", Item: "q-draw", Kind: Check, Credit: 0.5}))
	must(t, s.Answer(ctx, ada, Answer{ID: "a3", Item: "q-bytes", Kind: Check, Credit: 0.4}))
	want("on the day of the first answers", Unanswered, Unanswered, Unanswered)
	c.add(24 * time.Hour)
	want("a day later", Known, Due, Due)
	c.add(24 * time.Hour)
	want("two days later", Due, Due, Due)
	// Two days after a right answer, another one makes the stability larger than 2.3065 days. The
	// growth is 1 + e^w8·(11−D)·S^−w9·(e^(w10·(1−R))−1) with D = D0(3) = w4 − e^(2·w5) + 1 = 2.118:
	// e^1.8722 = 6.503, 11 − D = 8.882, S^−0.1666 = 0.870, and at 2 days R is about 0.91, so the last
	// factor is about e^0.072 − 1 = 0.074. Together: 2.3065·(1 + 3.7) = 10.9, which is 11 days.
	must(t, s.Answer(ctx, ada, Answer{ID: "a4", Item: "q-order", Kind: Check, Credit: 1}))
	want("on the day of another right answer", Due, Due, Due)
	c.add(10 * 24 * time.Hour)
	want("ten days later", Known, Due, Due)
	c.add(24 * time.Hour)
	want("eleven days later", Due, Due, Due)
}

// TestStandingsIgnoreToday: answers change a standing only from the next day on, in the quiz and in
// a lesson.
func TestStandingsIgnoreToday(t *testing.T) {
	for _, kind := range []string{Quiz, Check} {
		s, c := newStore(t)
		must(t, s.Answer(ctx, ada, Answer{ID: "a1", Item: "q-draw", Kind: Check, Credit: 0}))
		must(t, s.Answer(ctx, ada, Answer{ID: "a2", Item: "q-bytes", Kind: Check, Credit: 1}))
		c.add(24 * time.Hour)
		// A right answer is due after 2 days; see TestStandingsFollowTheSchedule.
		want := map[string]Standing{"q-order": Unanswered, "q-draw": Due, "q-bytes": Known}
		first, got, err := s.Standings(ctx, ada)
		must(t, err)
		if !maps.Equal(got, want) {
			t.Fatalf("%s: in the morning, the standings are %v, want %v", kind, got, want)
		}
		for i, id := range []string{"q-order", "q-draw", "q-bytes", "q-order", "q-draw", "q-bytes"} {
			c.add(time.Hour)
			must(t, s.Answer(ctx, ada, Answer{ID: fmt.Sprint("today-", i), Item: id, Kind: kind, Credit: 1}))
			date, got, err := s.Standings(ctx, ada)
			must(t, err)
			if date != first || !maps.Equal(got, want) {
				t.Errorf("%s: after %s, day %d has %v, want day %d with %v", kind, id, date, got, first, want)
			}
		}
		c.add(9 * time.Hour) // 9:00 + 6 + 9 hours is midnight
		date, got, err := s.Standings(ctx, ada)
		must(t, err)
		if date != first+1 || got["q-order"] != Known || got["q-draw"] == Unanswered || got["q-bytes"] != Known {
			t.Errorf("%s: day %d has %v, want all answered on day %d, two of them known", kind, date, got, first+1)
		}
	}
}
