package sampling

import (
	"math"
	"slices"
	"sync"

	"github.com/tokenbytoken/viz/infer/kernel"
)

// LogProbs computes natural logarithms of the probabilities at T = 1 before any rule. Other
// programs call them logprobs. They are computed from the same sum as [Softmax].
type LogProbs struct {
	z      []float32 // [vocab]
	max    float64
	logSum float64
}

// LogProbsOf returns the log probabilities of the logits z [vocab], which must be finite
// and not empty. z is retained and must not be changed.
func LogProbsOf(z []float32) LogProbs {
	max := float64(kernel.Max(z))
	terms := summed.Get().(*[]float64)
	*terms = slices.Grow((*terms)[:0], len(z))[:len(z)]
	sum := kernel.ExpSum(*terms, z, max, divisor(1))
	summed.Put(terms)
	return LogProbs{z: z, max: max, logSum: math.Log(sum)}
}

// summed holds buffers for the terms of sums, since scoring a text needs one for each token.
var summed = sync.Pool{New: func() any { return new([]float64) }}

// Of returns ln p of a token: (z − max) − ln Σ e^{z−max}. It is finite even if p is too
// small for a float64.
func (l LogProbs) Of(id int) float64 { return float64(l.z[id]) - l.max - l.logSum }

// Top returns the n most probable tokens, the most probable first.
func (l LogProbs) Top(n int) []int32 {
	if n <= 0 {
		return nil
	}
	return Top(l.z, min(n, len(l.z)))
}
