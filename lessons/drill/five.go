package drill

import (
	"math"
	"slices"
	"strconv"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// five is a prediction over a few tokens: five of them, or six at the hardest level.
type five struct {
	names []string  // in the order of the rows, without their leading spaces
	z     []float32 // logits
	k     int       // k of the top-k step
	topP  float64   // p of the nucleus step
	u     float64   // u of the draw step, with three decimals
}

// The drill's temperatures.
const cold, hot = 0.5, 2

// lesson returns the example from the lesson's exercise.
func lesson() *five {
	return &five{names: []string{"the", "a", "an", "and", "or"}, z: []float32{4, 3, 2, 1, 0.5}, k: 3, topP: 0.9}
}

// families are sets of tokens that fit the same context.
var families = [][]string{
	{"the", "a", "his", "her", "my", "one"},
	{"cat", "dog", "bird", "fox", "bear", "frog"},
	{"was", "is", "had", "could", "felt", "did"},
	{"red", "big", "old", "new", "warm", "soft"},
	{"and", "but", "so", "then", "or", "yet"},
	{"ran", "sat", "hid", "fell", "sang", "slept"},
	{"home", "away", "out", "up", "back", "down"},
	{"mum", "dad", "Tom", "Lily", "Ben", "Sam"},
}

// newFive returns the lesson's numbers for seed 0 at level 1. Otherwise, it draws numbers until
// fair accepts them. Logits are multiples of a half at level 1 and multiples of a tenth at level 2.
// Level 3 has six tokens in a different order, some negative logits, and different cuts.
func newFive(p *Problem) *five {
	r := newRandom(p)
	if p.Seed == 0 && p.Level == 1 {
		f := lesson()
		f.drawU(p.Seed)
		return f
	}
	for {
		f := &five{k: 3, topP: 0.9}
		family := slices.Clone(pick(r, families))
		shuffle(r, family)
		f.names = family[:5]
		switch p.Level {
		case 1:
			f.descend(r, 5, 2, 1, 3)
		case 2:
			f.descend(r, 5, 10, 3, 16)
		default:
			f.names = family
			f.k, f.topP = pick(r, []int{2, 3, 4}), pick(r, []float64{0.8, 0.9, 0.95})
			f.descend(r, 6, 10, 3, 14)
			shuffle(r, f.z)
		}
		if f.fair(p.Level) && f.drawU(p.Seed) {
			return f
		}
	}
}

// descend draws n logits that are multiples of 1/parts. Each is lower than the previous one by at
// least `least` and at most `most` of these units.
func (f *five) descend(r *random, n, parts, least, most int) {
	at := r.between(5*parts/2, 9*parts/2)
	if n > 5 {
		at = r.between(parts, 3*parts)
	}
	for range n {
		f.z = append(f.z, float32(at)/float32(parts))
		at -= r.between(least, most)
	}
}

// plain returns the distribution at a temperature, without filters.
func (f *five) plain(t float64) *sampling.Distribution {
	return sampling.Decide(f.z, sampling.Settings{Temperature: t, TopP: 1})
}

// greedy, top and nucleus return the distributions of the three cuts at T = 1.
func (f *five) greedy() *sampling.Distribution {
	return sampling.Decide(f.z, sampling.Settings{TopP: 1})
}

func (f *five) top() *sampling.Distribution {
	return sampling.Decide(f.z, sampling.Settings{Temperature: 1, TopK: f.k, TopP: 1})
}

func (f *five) nucleus(t float64) *sampling.Distribution {
	return sampling.Decide(f.z, sampling.Settings{Temperature: t, TopP: f.topP})
}

// exp returns e^{z/T} of row i.
func (f *five) exp(i int, t float64) float64 { return math.Exp(float64(f.z[i]) / t) }

// sum returns Σ e^{z/T}. It is derived from the engine's sum, in which the largest logit is
// subtracted from all logits.
func (f *five) sum(t float64) float64 {
	d := f.plain(t)
	return d.SumExp * math.Exp(d.MaxZ/t)
}

func roundTo(x float64, places int) float64 {
	s := math.Pow10(places)
	return math.Round(x*s) / s
}

// fair reports whether no answer depends on luck, for example on rounding.
func (f *five) fair(level int) bool {
	for _, t := range []float64{cold, 1, hot} {
		d := f.plain(t)
		for r := range d.Order {
			p := d.P[d.Order[r]]
			if p < 0.0006 || onHalf(p) || math.Abs(d.Cum[r]-f.topP) < 0.012 {
				return false
			}
			if t == 1 && (onHalf(d.Cum[r]) || r > 0 && d.P[d.Order[r-1]]-p < 0.006) {
				return false
			}
		}
	}
	n, k := f.nucleus(1), f.top()
	if n.Keep < 2 || n.Keep > len(f.z)-2 || level > 2 && n.Keep == k.Keep {
		return false // the nucleus must keep and cut at least two tokens, and at level 3 differ from top-k
	}
	for r := range n.Keep {
		if onHalf(n.Q(r)) {
			return false
		}
	}
	for r := range k.Keep {
		if onHalf(k.Q(r)) {
			return false
		}
	}
	return level < 3 || slices.Min(f.z) < 0 && f.z[0] != slices.Max(f.z)
}

// onHalf reports whether x is so close to halfway between two three-place values that a small error
// could change how it is rounded.
func onHalf(x float64) bool {
	_, part := math.Modf(x * 1000)
	return math.Abs(part-0.5) < 0.03
}

// drawU sets u to the seed's first u that, rounded to three decimals, is not close to a border
// between the nucleus's segments.
func (f *five) drawU(seed uint64) bool {
	d := f.nucleus(1)
	for step := 1; step < 100; step++ {
		u := roundTo(sampling.U(seed, step), 3)
		clear := u > 0.01 && u < 0.99
		for r := range d.Keep {
			_, to := d.Segment(r)
			clear = clear && math.Abs(u-to) > 0.012
		}
		if clear {
			f.u = u
			return true
		}
	}
	return false
}

// logit formats a logit as the table does.
func logit(z float32) string { return strconv.FormatFloat(float64(z), 'g', -1, 32) }

// value returns the printed value of a logit, such as 1.7, rather than the nearest float32.
func value(z float32) float64 {
	v, _ := strconv.ParseFloat(logit(z), 64)
	return v
}
