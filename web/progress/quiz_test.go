package progress

import (
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
	want("after the answers in a lesson", Known, Known, Known)
	c.add(24 * time.Hour)
	want("a day later", Known, Due, Due)
	c.add(24 * time.Hour)
	want("two days later", Due, Due, Due)
	// Two days after a right answer, another one makes the stability larger than 2.3065 days. The
	// growth is 1 + e^w8·(11−D)·S^−w9·(e^(w10·(1−R))−1) with D = D0(3) = w4 − e^(2·w5) + 1 = 2.118:
	// e^1.8722 = 6.503, 11 − D = 8.882, S^−0.1666 = 0.870, and at 2 days R is about 0.91, so the last
	// factor is about e^0.072 − 1 = 0.074. Together: 2.3065·(1 + 3.7) = 10.9, which is 11 days.
	must(t, s.Answer(ctx, ada, Answer{ID: "a4", Item: "q-order", Kind: Check, Credit: 1}))
	want("after another right answer", Known, Due, Due)
	c.add(10 * 24 * time.Hour)
	want("ten days later", Known, Due, Due)
	c.add(24 * time.Hour)
	want("eleven days later", Due, Due, Due)
}

// TestStandingsIgnoreTodaysQuiz: answers in the quiz change a standing only from the next day on.
func TestStandingsIgnoreTodaysQuiz(t *testing.T) {
	s, c := newStore(t)
	must(t, s.Answer(ctx, ada, Answer{ID: "a1", Item: "q-draw", Kind: Check, Credit: 0}))
	c.add(24 * time.Hour)
	first, before, err := s.Standings(ctx, ada)
	must(t, err)
	if before["q-order"] != Unanswered || before["q-draw"] != Due {
		t.Fatalf("before the quiz, the standings are %v, want one unanswered, one due", before)
	}
	for _, id := range []string{"q-order", "q-draw"} {
		must(t, s.Answer(ctx, ada, Answer{ID: "quiz-" + id, Item: id, Kind: Quiz, Credit: 1}))
	}
	day, after, err := s.Standings(ctx, ada)
	must(t, err)
	if day != first || after["q-order"] != Unanswered || after["q-draw"] != Due {
		t.Errorf("after the quiz, the standings of day %d are %v, want %v of day %d", day, after, before, first)
	}
	c.add(15 * time.Hour) // 9:00 + 15 hours is midnight
	day, after, err = s.Standings(ctx, ada)
	must(t, err)
	if day != first+1 || after["q-order"] != Known || after["q-draw"] == Unanswered {
		t.Errorf("on the next day, the standings of day %d are %v, want both answered on day %d", day, after, first+1)
	}
}
