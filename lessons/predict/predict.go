// Package predict scores guesses of the next token, which learners make before it is revealed.
//
// A learner sees a few candidates in a shuffled order, without probabilities ([Deal]),
// picks one and states a confidence. The guess is scored by the logarithm of the
// probability given to the outcome ([Grade]). That score is proper (Good 1952; Gneiting
// and Raftery 2007): a learner who believes that the guess is right with probability q
// expects
//
//	q·ln c + (1 − q)·ln(1 − c)
//
// from stating c, which is largest at c = q. So the best strategy is to state one's actual belief,
// and being very confident but wrong costs a lot.
//
// Over many guesses, [Bins] compares the stated confidences with how often the guesses were right.
// This comparison is the learner's calibration.
package predict

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// LeastCandidates is the minimum number of candidates for [Deal]. Fewer candidates could not
// include both likely and unlikely tokens.
const LeastCandidates = 4

// Deal returns n token ids (fewer if the vocabulary is smaller) in an order that depends on the
// seed: the most probable ones, the token that will be drawn, and one or two less probable ones, so
// an unlikely token does not give the answer away. d is the step's distribution, and drawn is an id
// of its vocabulary. Deal panics if n is below [LeastCandidates].
func Deal(d *sampling.Distribution, drawn int32, n int, seed uint64) []int32 {
	if n < LeastCandidates {
		panic(fmt.Sprintf("predict: Deal with %d candidates", n))
	}
	return DealOf(d.Order, drawn, n, seed)
}

// DealOf is like [Deal], but deals from a list of tokens, the most probable first. The
// list must include the drawn token.
func DealOf(order []int32, drawn int32, n int, seed uint64) []int32 {
	n = min(n, len(order))
	likely := max(1, n-2)
	hand := append([]int32(nil), order[:likely]...)
	if !slices.Contains(hand, drawn) {
		hand = append(hand, drawn)
	}
	step := 0
	below := func(k int) int {
		step++
		return int(sampling.U(seed^0xca1d1da7e5, step) * float64(k))
	}
	// The pool starts just below the likely tokens and ends at rank 4n.
	pool := make([]int32, 0, 4*n)
	for _, id := range order[likely:min(4*n, len(order))] {
		if id != drawn {
			pool = append(pool, id)
		}
	}
	for len(hand) < n && len(pool) > 0 {
		i := below(len(pool))
		hand = append(hand, pool[i])
		pool = append(pool[:i], pool[i+1:]...)
	}
	for i := len(hand) - 1; i > 0; i-- {
		j := below(i + 1)
		hand[i], hand[j] = hand[j], hand[i]
	}
	return hand
}

// Sure and Unsure are the limits of a stated confidence. At 0 or 1, the score of a single mistake
// would be −∞.
const (
	Unsure = 0.01
	Sure   = 0.99
)

// Result is the outcome of one guess.
type Result struct {
	Confidence float64 // as stated, clamped to Unsure and Sure
	Right      bool
	Score      float64 // ln of the probability given to the outcome, in nats: 0 at best, −4.6 at worst
}

// Grade scores a guess that was stated with a confidence from 0 to 1.
func Grade(confidence float64, right bool) (Result, error) {
	if !(confidence >= 0 && confidence <= 1) {
		return Result{}, fmt.Errorf("confidence is %v; want 0 to 1", confidence)
	}
	r := Result{Confidence: min(max(confidence, Unsure), Sure), Right: right}
	chance := r.Confidence
	if !right {
		chance = 1 - r.Confidence
	}
	r.Score = math.Log(chance)
	return r, nil
}

// Blind returns the expected score of a learner who knows nothing about n candidates and states a
// confidence of 1/n. It is the score to beat.
func Blind(n int) float64 {
	if n < 2 {
		return 0
	}
	q := 1 / float64(n)
	return q*math.Log(q) + (1-q)*math.Log(1-q)
}

// Points converts a score to a familiar scale: 100 is the best possible score, and 0 is the average
// score for guessing blindly among n candidates with a confidence of 1/n. The conversion is linear,
// so both scales rank players in the same order.
func Points(score float64, n int) int {
	blind := Blind(n)
	if blind == 0 {
		return 0
	}
	return int(math.Round(100 * (1 - score/blind)))
}
