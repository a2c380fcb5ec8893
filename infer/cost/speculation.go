package cost

import "math"

// ExpectedTokens returns the average number of tokens per pass of the target if each of γ drafted
// tokens is accepted independently with probability α (Leviathan et al. 2022): E = (1 − α^(γ+1)) /
// (1 − α), which is γ + 1 at α = 1. Real acceptance is not independent, so E is only a guide.
func ExpectedTokens(alpha float64, gamma int) float64 {
	if alpha == 1 {
		return float64(gamma) + 1
	}
	return (1 - math.Pow(alpha, float64(gamma+1))) / (1 - alpha)
}

// SpeedUp returns E / (γ·c + v): how many times faster speculation is than plain decoding. draft
// (c) is the cost of one step of the draft, and verify (v) is the cost of one pass of the target
// over γ + 1 positions. Both are in units of one decode step of the target; v is 1 only if memory
// bandwidth is the bottleneck.
func SpeedUp(alpha float64, gamma int, draft, verify float64) float64 {
	return ExpectedTokens(alpha, gamma) / (float64(gamma)*draft + verify)
}
