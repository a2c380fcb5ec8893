package sampling

import (
	"math"

	"github.com/tokenbytoken/viz/infer/kernel"
)

// LogProbs gives natural logarithms of probabilities at T = 1, before any rule: what
// other programs call logprobs. They are of the same sum as [Softmax].
type LogProbs struct {
	z      []float32 // [vocab]
	max    float64
	logSum float64
}

// LogProbsOf returns those of the logits z [vocab], which must be finite and not
// empty. z is kept and must not be changed.
func LogProbsOf(z []float32) LogProbs {
	max := float64(kernel.Max(z))
	sum := kernel.ExpSum(make([]float64, len(z)), z, max, divisor(1))
	return LogProbs{z: z, max: max, logSum: math.Log(sum)}
}

// Of is ln p of a token: (z − max) − ln Σ e^{z−max}. It is finite even where p is too
// small for a float64.
func (l LogProbs) Of(id int) float64 { return float64(l.z[id]) - l.max - l.logSum }

// Top returns the n most probable tokens, the most probable first.
func (l LogProbs) Top(n int) []int32 {
	if n <= 0 {
		return nil
	}
	return Top(l.z, min(n, len(l.z)))
}
