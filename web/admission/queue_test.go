package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// worker enters a queue, works for as long as it said and notes its name when it
// begins.
func worker(q *Queue, order *[]string, learner, name string, takes time.Duration) {
	go func() {
		_, leave, err := q.Enter(context.Background(), learner, takes, nil)
		if err != nil {
			*order = append(*order, err.Error())
			return
		}
		*order = append(*order, name)
		time.Sleep(takes)
		leave()
	}()
	synctest.Wait()
}

// pass lets time pass, until everybody waits again.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestQueueIsFair: someone with much to do delays another by one piece of it, and of
// those who are equal the shortest goes first.
func TestQueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(100, 50, 0)
		var order []string
		for i := range 3 {
			worker(q, &order, "long", fmt.Sprint("long ", i), time.Minute)
		}
		worker(q, &order, "middle", "middle", 2*time.Second)
		worker(q, &order, "short", "short", time.Second)
		pass(time.Hour)
		if want := []string{"long 0", "short", "middle", "long 1", "long 2"}; !slices.Equal(order, want) {
			t.Errorf("order %q, want %q", order, want)
		}
	})
}

// TestQueueShortestFirstIsBounded: however many newcomers bring short work, long work
// is done in time.
func TestQueueShortestFirstIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(100, 50, 0)
		var order []string
		worker(q, &order, "first", "first", time.Second)
		worker(q, &order, "long", "long", 10*time.Second)
		for i := range 60 { // one each second, of another learner each, for a minute
			worker(q, &order, fmt.Sprint(i), fmt.Sprint("short ", i), time.Second)
			time.Sleep(time.Second)
		}
		pass(time.Hour)
		// Its work takes 10 s, so that after 40 s nothing goes first any more.
		if i := slices.Index(order, "long"); i < 30 || i > 45 {
			t.Errorf("the long work was number %d", i)
		}
	})
}

// TestQueueEstimates: whoever says that their work is short and then takes long pays
// for it at their next turn; whoever gives up pays nothing.
func TestQueueEstimates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(100, 50, 0)
		var order []string
		go func() {
			_, leave, _ := q.Enter(context.Background(), "liar", time.Second, nil)
			time.Sleep(time.Minute)
			leave()
		}()
		synctest.Wait()
		worker(q, &order, "liar", "liar", time.Second)
		worker(q, &order, "honest", "honest 1", 10*time.Second)
		worker(q, &order, "honest", "honest 2", 10*time.Second)
		ctx, cancel := context.WithCancel(context.Background())
		gaveUp := make(chan error, 1)
		go func() {
			_, _, err := q.Enter(ctx, "other", time.Hour, nil)
			gaveUp <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-gaveUp; !errors.Is(err, context.Canceled) {
			t.Errorf("gave up with %v", err)
		}
		worker(q, &order, "other", "other", time.Second)
		pass(time.Hour)
		if want := []string{"other", "honest 1", "honest 2", "liar"}; !slices.Equal(order, want) {
			t.Errorf("order %q, want %q", order, want)
		}
	})
}

// TestQueueBounds: no more may wait than fit, of one learner too, and everybody hears
// how many are before them.
func TestQueueBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(3, 2, 0)
		var order []string
		worker(q, &order, "a", "a1", time.Minute)
		var heard []int
		go func() {
			_, leave, err := q.Enter(context.Background(), "b", time.Minute, func(n int) { heard = append(heard, n) })
			if err == nil {
				leave()
			}
		}()
		synctest.Wait()
		worker(q, &order, "a", "a2", time.Minute)
		worker(q, &order, "c", "c1", time.Second)
		worker(q, &order, "d", "d1", time.Second) // three wait
		if want := []string{"a1", ErrQueueFull.Error()}; !slices.Equal(order, want) {
			t.Errorf("order %q, want %q", order, want)
		}
		pass(time.Hour)
		if want := []int{1, 2, 1}; !slices.Equal(slices.Compact(heard), want) {
			t.Errorf("b heard %v, want %v", heard, want)
		}
		worker(q, &order, "a", "", time.Minute)
		for range 2 {
			worker(q, &order, "a", "", time.Minute)
		}
		order = nil
		worker(q, &order, "a", "", time.Minute)
		if want := []string{ErrQueueFull.Error()}; !slices.Equal(order, want) {
			t.Errorf("a third that waits: %q, want %q", order, want)
		}
		pass(time.Hour)
	})
}

// TestQueueSlice: work that has run for a slice ends as soon as another learner waits,
// and not for the same learner's next piece.
func TestQueueSlice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(10, 10, time.Minute)
		began := time.Now()
		ended := make(chan error, 1)
		go func() {
			turn, leave, _ := q.Enter(context.Background(), "long", time.Hour, nil)
			<-turn.Done()
			ended <- context.Cause(turn)
			leave()
		}()
		synctest.Wait()
		var order []string
		worker(q, &order, "long", "long", time.Second)
		time.Sleep(40 * time.Second)
		worker(q, &order, "short", "short", time.Second)
		if err := <-ended; !errors.Is(err, ErrYield) || time.Since(began) != time.Minute {
			t.Errorf("after %v it ended with %v", time.Since(began), err)
		}
		pass(time.Minute)
		if want := []string{"short", "long"}; !slices.Equal(order, want) {
			t.Errorf("order %q, want %q", order, want)
		}
	})
}
