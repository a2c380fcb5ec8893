package fsrs

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestFirstReviewByHand: S0(G) = w_{G−1}; D0(G) = w4 − e^{w5·(G−1)} + 1.
func TestFirstReviewByHand(t *testing.T) {
	for _, row := range []struct {
		g    Grade
		s, d float64
		wait time.Duration
		st   State
		step int
	}{
		{Again, 0.212, 6.4133, time.Minute, Learning, 0}, // 6.4133 − e^0 + 1
		// 6.4133 − e^0.8334 + 1 = 7.4133 − 2.30112929; (1 + 10)/2 minutes, rounded up
		{Hard, 1.2931, 5.11217071, 6 * time.Minute, Learning, 0},
		{Good, 2.3065, 2.11810397, 10 * time.Minute, Learning, 1}, // 7.4133 − e^1.6668 = 7.4133 − 5.29519603
		// 7.4133 − e^2.5002 = −4.77, clamped to 1; 8.2956 days, rounded
		{Easy, 8.2956, 1, 8 * 24 * time.Hour, Review, 0},
	} {
		c := Default().Next(newCard(noon), noon, row.g)
		if !(math.Abs(c.Stability-row.s) <= 1e-8) || !(math.Abs(c.Difficulty-row.d) <= 1e-8) {
			t.Errorf("%v: S %v, D %v; want %v, %v", row.g, c.Stability, c.Difficulty, row.s, row.d)
		}
		if c.Due.Sub(noon) != row.wait || c.State != row.st || c.Step != row.step || c.Reps != 1 ||
			!c.Last.Equal(noon) {
			t.Errorf("%v: %+v; want %v later, %v, step %d", row.g, c, row.wait, row.st, row.step)
		}
	}
}

// TestRetrievabilityAtStability: by definition, R(S, S) = 0.9. The retrievability of a new card is
// 0.
func TestRetrievabilityAtStability(t *testing.T) {
	p := Default()
	c := Card{State: Review, Stability: 10, Difficulty: 5, Last: noon, Due: noon.Add(10 * day)}
	for days, want := range map[int]float64{0: 1, 10: 0.9} {
		if got := p.Retrievability(c, noon.Add(time.Duration(days)*day)); !(math.Abs(got-want) <= 1e-7) {
			t.Errorf("after %d days R is %v, want %v", days, got, want)
		}
	}
	if got := p.Retrievability(c, noon.Add(-time.Hour)); got != 1 {
		t.Errorf("before the review R is %v, want 1", got)
	}
	if got := p.Retrievability(newCard(noon), noon); got != 0 {
		t.Errorf("a new card has R %v, want 0", got)
	}
}

// TestDaysAreCalendarDays: midnights count, not hours, so a review ten minutes later may be on the
// next day, and a review 23 hours later may be on the same day.
func TestDaysAreCalendarDays(t *testing.T) {
	for _, row := range []struct {
		from, to time.Time
		want     int
	}{
		{noon.Add(11*time.Hour + 55*time.Minute), noon.Add(12*time.Hour + 5*time.Minute), 1},
		{noon.Add(-12 * time.Hour), noon.Add(11 * time.Hour), 0},
		{noon, noon.Add(365 * day), 365},
		{noon.Add(day), noon, -1},
		{noon.In(time.FixedZone("", 9*3600)), noon.Add(day).In(time.FixedZone("", -9*3600)), 1},
	} {
		if got := daysBetween(row.from, row.to); got != row.want {
			t.Errorf("from %v to %v: got %d days, want %d", row.from, row.to, got, row.want)
		}
	}
}

func TestGradesParse(t *testing.T) {
	for _, g := range Grades {
		if got, err := ParseGrade(g.String()); err != nil || got != g {
			t.Errorf("ParseGrade(%q) = %v, %v", g, got, err)
		}
	}
	for _, text := range []string{"", "AGAIN", "1", "grade 9", "manual"} {
		if g, err := ParseGrade(text); err == nil {
			t.Errorf("ParseGrade(%q) = %v, want an error", text, g)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Next accepted an invalid grade")
		}
	}()
	Default().Next(newCard(noon), noon, 0)
}

func TestCheckRefusesBadCards(t *testing.T) {
	good := Default().Next(newCard(noon), noon, Good)
	for name, spoil := range map[string]func(*Card){
		"state":      func(c *Card) { c.State = 4 },
		"reps":       func(c *Card) { c.Reps = -1 },
		"interval":   func(c *Card) { c.Interval = -1 },
		"due":        func(c *Card) { c.Due = time.Time{} },
		"last":       func(c *Card) { c.Last = time.Time{} },
		"stability":  func(c *Card) { c.Stability = math.NaN() },
		"infinite":   func(c *Card) { c.Stability = math.Inf(1) },
		"difficulty": func(c *Card) { c.Difficulty = 11 },
		"new":        func(c *Card) { c.State = New },
	} {
		c := good
		spoil(&c)
		if c.check() == nil {
			t.Errorf("a card with an invalid %s passed the check", name)
		}
	}
	if err := newCard(noon).check(); err != nil {
		t.Errorf("a new card: %v", err)
	}
}

// TestAnyHistoryStaysInBounds: for any history, even if the clock jumps back, the numbers stay in
// range, a better grade never means an earlier date, no card is due before its review, and a card
// that was encoded as JSON and decoded continues in the same way.
func TestAnyHistoryStaysInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, now := Default(), noon
		c := newCard(now)
		for range rapid.IntRange(1, 40).Draw(t, "reviews") {
			now = now.Add(time.Duration(rapid.Int64Range(-int64(3*day), int64(4000*day)).Draw(t, "wait")))
			preview := p.Preview(c, now)
			for i, n := range preview {
				if err := n.check(); err != nil {
					t.Fatal(err)
				}
				if !n.Due.After(now) || i > 0 && n.Due.Before(preview[i-1].Due) {
					t.Fatalf("grade %v is due %v, the grade below %v", Grades[i], n.Due, preview[max(0, i-1)].Due)
				}
			}
			data, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			var back Card
			if err := json.Unmarshal(data, &back); err != nil {
				t.Fatal(err)
			}
			g := rapid.SampledFrom(Grades[:]).Draw(t, "grade")
			next, again := p.Next(c, now, g), p.Next(back, now, g)
			if next != again && !next.Due.Equal(again.Due) {
				t.Fatalf("%+v parsed from JSON continues as %+v, want %+v", c, again, next)
			}
			c = next
		}
	})
}

// newCard returns a card that was never reviewed and is due now.
func newCard(now time.Time) Card { return Card{Due: now} }

// check returns the first problem with a card, or nil.
func (c Card) check() error {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	switch {
	case c.State < New || c.State > Relearning:
		return fmt.Errorf("state is %d; it must be 0 to 3", int(c.State))
	case c.Reps < 0 || c.Lapses < 0 || c.Step < 0 || c.Interval < 0:
		return fmt.Errorf(
			"reps, lapses, step and interval are %d, %d, %d, %d; none may be below 0", c.Reps, c.Lapses, c.Step,
			c.Interval,
		)
	case c.Due.IsZero():
		return fmt.Errorf("a card needs a due time")
	case c.State == New && (c.Stability != 0 || c.Difficulty != 0):
		return fmt.Errorf("a new card has stability %v and difficulty %v; both must be 0", c.Stability, c.Difficulty)
	case c.State == New:
		return nil
	case c.Last.IsZero():
		return fmt.Errorf("a card that was reviewed needs the time of its last review")
	case !finite(c.Stability) || c.Stability < minStability || c.Stability > maxStability:
		return fmt.Errorf("stability is %v days; it must be 0.001 to 36500", c.Stability)
	case !finite(c.Difficulty) || c.Difficulty < 1 || c.Difficulty > 10:
		return fmt.Errorf("difficulty is %v; it must be 1 to 10", c.Difficulty)
	}
	return nil
}
