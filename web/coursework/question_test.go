package coursework

import (
	"math"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
)

// TestCreditPerWrongChoice: with four choices, each wrong one costs a third of the credit.
func TestCreditPerWrongChoice(t *testing.T) {
	t.Parallel()
	q := Question{Q: &lessons.Question{Kind: "choice", Choices: make([]lessons.Choice, 4)}}
	q.Q.Choices[2].Right = true
	for _, c := range []struct {
		tried   []int
		credit  float64
		verdict string
	}{
		{nil, 0, ""},
		{[]int{0}, 0, ""},
		{[]int{2}, 1, "right"},
		{[]int{0, 2}, 2. / 3, "right on the second try"},
		{[]int{0, 1, 2}, 1. / 3, "right on the third try"},
		{[]int{0, 1, 3, 2}, 0, "right on the fourth try"},
	} {
		q.Tried = c.tried
		verdict := q.Verdict(terms.English)
		if !(math.Abs(q.Credit()-c.credit) <= 1e-12) || q.Done() && verdict != c.verdict {
			t.Errorf("%v: got credit %g, %q; want %g, %q", c.tried, q.Credit(), verdict, c.credit, c.verdict)
		}
	}
}

// TestChoicesAreShuffled: each choice is shown first about equally often, and the order stays the
// same during an attempt.
func TestChoicesAreShuffled(t *testing.T) {
	q := &lessons.Question{ID: "q", Kind: "choice", Choices: make([]lessons.Choice, 4)}
	var firsts [4]int
	for range 4000 {
		asked := Ask(t.Context(), q, "/check")
		order := asked.Order()
		firsts[order[0]]++
		asked.Tried = []int{order[1]}
		if again := asked.Order(); !slices.Equal(order, again) {
			t.Fatalf("the order is %v before a choice and %v after it; want the same", order, again)
		}
	}
	for i, n := range firsts { // 1,000 ± 27 by chance
		if n < 800 || n > 1200 {
			t.Errorf("choice %d is first %d times in 4,000; want at least 800 and at most 1200", i+1, n)
		}
	}
}
