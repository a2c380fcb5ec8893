package progress

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/lessons/fsrs"
)

func deckOf(t testing.TB, s *Store, learner string) Deck {
	t.Helper()
	d, err := s.Cards(ctx, learner)
	must(t, err)
	return d
}

// TestDeckOverADay follows a deck over a day. The first steps of FSRS are 1 and 10 minutes. A card
// graded as easy skips them: its stability is S = 8.2956 days, so it is due in 8 days.
func TestDeckOverADay(t *testing.T) {
	s, c := newStore(t)
	check := func(due, fresh, later int, next string) {
		t.Helper()
		d := deckOf(t, s, ada)
		if d.Due != due || d.New != fresh || d.Later != later {
			t.Errorf("got %d due, %d new, %d later; want %d, %d, %d", d.Due, d.New, d.Later, due, fresh, later)
		}
		switch {
		case next == "" && d.Next != nil, next != "" && (d.Next == nil || d.Next.Card != next):
			t.Errorf("the next card is %+v, want %q", d.Next, next)
		}
	}
	check(0, 3, 0, "c-steps")
	d := deckOf(t, s, ada)
	day := 24 * time.Hour
	// Again: 1 minute. Hard: halfway between 1 and 10 minutes, rounded to the minute. Good: the
	// second step, 10 minutes. Easy: 8 days.
	if want := [4]time.Duration{time.Minute, 6 * time.Minute, 10 * time.Minute, 8 * day}; d.Next.Waits != want {
		t.Errorf("a new card waits %v, want %v", d.Next.Waits, want)
	}
	review := func(card string, g fsrs.Grade) {
		t.Helper()
		_, err := s.Review(ctx, ada, card, g, fmt.Sprintf("%s-%d", card, c.now().UnixNano()))
		must(t, err)
	}
	review("c-steps", fsrs.Again) // due at 1 minute
	check(0, 2, 1, "c-draw")
	review("c-draw", fsrs.Easy) // due at 8 days
	c.add(time.Minute)
	check(1, 1, 1, "c-steps") // due cards come before new ones
	if due, want := deckOf(t, s, ada).NextDue, morning.Truncate(time.Millisecond).Add(8*day); !due.Equal(want) {
		t.Errorf("the next later card is due %v, want %v", due, want)
	}
	review("c-steps", fsrs.Easy)
	review("c-cost", fsrs.Good) // due 10 minutes later
	check(0, 0, 3, "")
	c.add(10 * time.Minute)
	check(1, 0, 2, "c-cost")
	c.add(20 * day)
	check(3, 0, 0, "c-cost") // the card that has been due for the longest time
	check3 := deckOf(t, s, bob)
	if check3.New != 3 {
		t.Errorf("another learner has %d new cards, want 3", check3.New)
	}
}

// TestResentReviewCountsOnce: if a confirmed review is resent, it counts only once, whatever the
// second request contains.
func TestResentReviewCountsOnce(t *testing.T) {
	s, c := newStore(t)
	first, err := s.Review(ctx, ada, "c-steps", fsrs.Good, "r1")
	must(t, err)
	again, err := s.Review(ctx, ada, "c-steps", fsrs.Good, "r1")
	must(t, err)
	if !reflect.DeepEqual(first, again) || again.Reviews != 1 {
		t.Errorf("sent again: got %+v, want %+v", again, first)
	}
	c.add(time.Hour)
	late, err := s.Review(ctx, ada, "c-steps", fsrs.Again, "r1")
	must(t, err)
	if late.Reviews != 1 || !late.Due.Equal(first.Due) {
		t.Errorf("sent again later: got %+v, want one review, due %v", late, first.Due)
	}
	if _, err := s.Review(ctx, ada, "c-draw", fsrs.Good, "r1"); !errors.Is(err, ErrInput) {
		t.Errorf("one id for two cards: got error %v, want ErrInput", err)
	}
	if other, err := s.Review(ctx, bob, "c-draw", fsrs.Good, "r1"); err != nil || other.Reviews != 1 {
		t.Errorf("the same id from another learner: got %+v, %v; want no error, Reviews = 1", other, err)
	}
}

// TestReviewAfterTheClockWasSetBack: a review made after the clock was set back still comes after
// the earlier reviews.
func TestReviewAfterTheClockWasSetBack(t *testing.T) {
	s, c := newStore(t)
	first, err := s.Review(ctx, ada, "c-steps", fsrs.Easy, "r1")
	must(t, err)
	c.add(-time.Hour)
	second, err := s.Review(ctx, ada, "c-steps", fsrs.Again, "r2")
	must(t, err)
	if want := first.Last.Add(time.Millisecond); !second.Last.Equal(want) || second.Lapses != 1 || second.Reviews != 2 {
		t.Errorf("after the second review, the card is %+v, want the last review at %v and one lapse", second, want)
	}
}

// TestConcurrentReviewsCountOnce: twenty concurrent requests with four different ids, from eight
// goroutines, count as four reviews.
func TestConcurrentReviewsCountOnce(t *testing.T) {
	s, _ := newStoreIn(t, t.TempDir())
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 20 {
				if _, err := s.Review(ctx, ada, "c-steps", fsrs.Grades[(g+i)%4], fmt.Sprint("r", i%4)); err != nil {
					t.Error(err)
				}
				if _, err := s.Cards(ctx, ada); err != nil {
					t.Error(err)
				}
				if err := s.Visit(ctx, fmt.Sprint("learner-", g), "loop#draw"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := deckOf(t, s, ada).Cards[0].Reviews; got != 4 {
		t.Errorf("%d reviews counted, want 4", got)
	}
}

// TestCardsFollowFromReviews: even if the clock was set back, a card's state follows from its
// reviews, so recomputing the state changes nothing.
func TestCardsFollowFromReviews(t *testing.T) {
	s, c := newStore(t)
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		runs++
		ada := fmt.Sprint("ada-", runs)
		c.t = morning
		n := rapid.IntRange(0, 12).Draw(r, "reviews")
		for i := range n {
			c.add(time.Duration(rapid.Int64Range(-int64(time.Hour), int64(40*24*time.Hour)).Draw(r, "wait")))
			card := rapid.SampledFrom([]string{"c-steps", "c-draw", "c-cost"}).Draw(r, "card")
			grade := rapid.SampledFrom(fsrs.Grades[:]).Draw(r, "grade")
			if _, err := s.Review(ctx, ada, card, grade, fmt.Sprint("r", n-i)); err != nil {
				r.Fatal(err)
			}
		}
		before := deckOf(t, s, ada)
		exported, err := s.Export(ctx, ada)
		if err != nil {
			r.Fatal(err)
		}
		if _, err := s.Import(ctx, ada, exported); err != nil { // recomputes the states
			r.Fatal(err)
		}
		if after := deckOf(t, s, ada); !reflect.DeepEqual(before, after) {
			r.Fatalf("recomputed:\n%+v\nbefore:\n%+v", after, before)
		}
	})
}

// TestCanceledRequestIsAtomic: a canceled request saves everything or nothing, and does not affect
// other requests.
func TestCanceledRequestIsAtomic(t *testing.T) {
	s, _ := newStoreIn(t, t.TempDir())
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Review(gone, ada, "c-steps", fsrs.Good, "r1"); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled review: got error %v, want %v", err, context.Canceled)
	}
	if got := deckOf(t, s, ada).New; got != 3 {
		t.Errorf("got %d new cards, want 3", got)
	}
}
