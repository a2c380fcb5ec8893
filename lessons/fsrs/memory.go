package fsrs

import (
	"math"
	"time"
)

// Limits of the model: stabilities below a few minutes or above a century are meaningless.
const (
	minStability = 0.001 // days
	maxStability = 36500
)

// round8 rounds to eight decimals, halves upwards.
func round8(x float64) float64 { return math.Floor(x*1e8+0.5) / 1e8 }

func clamp(x, least, most float64) float64 { return min(max(x, least), most) }

// factor returns 0.9^(−1/w20) − 1, the factor for which R(S, S) = 0.9.
func (p Params) factor() float64 { return round8(math.Exp(-math.Log(0.9)/p.W[20]) - 1) }

// recall returns the retrievability after t days: R(t, S) = (1 + f·t/S)^(−w20).
func (p Params) recall(days int, stability float64) float64 {
	return round8(math.Pow(1+p.factor()*float64(days)/stability, -p.W[20]))
}

// Retrievability returns the chance that the card is recalled now, given the number of whole days
// since its last review. It is 0 for a new card.
func (p Params) Retrievability(c Card, now time.Time) float64 {
	if c.State == New {
		return 0
	}
	return p.recall(max(0, int(now.Sub(c.Last)/(24*time.Hour))), c.Stability)
}

// days returns the number of days until R has fallen to the desired retention: I = S·(r^(−1/w20) −
// 1)/f. It is at least one.
func (p Params) days(stability float64) int {
	modifier := round8((math.Pow(p.Retention, -1/p.W[20]) - 1) / p.factor())
	return int(clamp(math.Floor(stability*modifier+0.5), 1, float64(p.MaxInterval)))
}

// firstDifficulty returns D0(G) = w4 − e^{w5·(G−1)} + 1, not yet clamped.
func (p Params) firstDifficulty(g Grade) float64 {
	return round8(p.W[4] - math.Exp(float64(g-1)*p.W[5]) + 1)
}

// memory returns stability and difficulty after a review that is t days after the previous one.
func (p Params) memory(c Card, t int, g Grade) (stability, difficulty float64) {
	if c.State == New {
		return max(p.W[g-1], 0.1), clamp(p.firstDifficulty(g), 1, 10) // S0(G) = w_{G−1}
	}
	difficulty = p.nextDifficulty(c.Difficulty, g)
	r := p.recall(t, c.Stability)
	switch {
	case t == 0:
		return p.sameDay(c.Stability, g), difficulty
	case g == Again:
		return p.forgotten(c.Difficulty, c.Stability, r), difficulty
	}
	return p.recalled(c.Difficulty, c.Stability, r, g), difficulty
}

// nextDifficulty moves D by −w6·(G − 3), damped by (10 − D)/9 so that it never
// exceeds 10, and then a little (w7) back toward the difficulty of an easy card: D″ =
// w7·D0(4) + (1 − w7)·D′.
func (p Params) nextDifficulty(d float64, g Grade) float64 {
	delta := -p.W[6] * float64(g-3)
	moved := d + round8(delta*(10-d)/9)
	return clamp(round8(p.W[7]*p.firstDifficulty(Easy)+(1-p.W[7])*moved), 1, 10)
}

// recalled returns S′ = S·(1 + e^{w8}·(11 − D)·S^{−w9}·(e^{w10·(1−R)} − 1)·h·e): the more of the
// memory was lost, the more a recall strengthens it. h is w15 for a hard recall and 1 otherwise; e
// is w16 for an easy recall and 1 otherwise.
func (p Params) recalled(d, s, r float64, g Grade) float64 {
	hard, easy := 1.0, 1.0
	switch g {
	case Hard:
		hard = p.W[15]
	case Easy:
		easy = p.W[16]
	}
	growth := math.Exp(p.W[8]) * (11 - d) * math.Pow(s, -p.W[9]) * (math.Exp((1-r)*p.W[10]) - 1) * hard * easy
	return round8(clamp(s*(1+growth), minStability, maxStability))
}

// forgotten returns S′ = w11·D^{−w12}·((S + 1)^{w13} − 1)·e^{w14·(1−R)}, and at
// most S/e^{w17·w18}: forgetting never makes a memory stronger.
func (p Params) forgotten(d, s, r float64) float64 {
	after := p.W[11] * math.Pow(d, -p.W[12]) * (math.Pow(s+1, p.W[13]) - 1) * math.Exp((1-r)*p.W[14])
	after = round8(clamp(after, minStability, maxStability))
	most := s / math.Exp(p.W[17]*p.W[18])
	return min(max(round8(most), minStability), after)
}

// sameDay returns S′ = S·S^{−w19}·e^{w17·(G − 3 + w18)} for a second review on the
// same day. A recalled card never loses stability.
func (p Params) sameDay(s float64, g Grade) float64 {
	growth := math.Pow(s, -p.W[19]) * math.Exp(p.W[17]*(float64(g-3)+p.W[18]))
	if g >= Hard {
		growth = max(growth, 1)
	}
	return round8(clamp(s*growth, minStability, maxStability))
}
