package sampling

import (
	"math"
	"slices"
)

// If nothing is cut, the mass is the sum of all probabilities by rank. In another order, the last
// bits of the sum could differ, but the drawn token must not depend on how the sum is computed.
// Even so, the tokens usually do not have to be ranked. Between ½ and 1, float64 values are evenly
// spaced, one unit of 2⁻⁵³ apart. Adding p to a sum in that range adds p rounded to whole units,
// independent of the sum, and whole numbers can be added in any order. There are two exceptions:
//
//   - A p halfway between two units is rounded in a direction that depends on the sum.
//   - From 1 on, units are twice as large. If rounding carries the sum just past 1, the few tokens
//     at the end that make it exceed 1 are ranked after all.

// units is the number of units in 1.
const units = 1 << 53

// inUnits returns p (at most ½) in whole units, and whether it is halfway between two units.
func inUnits(p float64) (k float64, halfway bool) {
	const whole = 1 << 52 // from here on, a float64 has no fraction
	x := p * units
	k = x + whole - whole
	return k, (x-k)*(x-k) == 0.25
}

// farEnough reports whether the probabilities of the ranked tokens sum to at least ½, and the
// others are so small that they are seldom halfway between two units. A p just under 2⁻⁸ has eight
// binary places below a unit, and these are a 1 followed by seven 0s in one of 256 cases.
func (s *Sampler) farEnough() bool {
	const small = 1. / (1 << 8)
	highest := math.Exp((float64(s.below)-s.top)/s.settings.Temperature) / s.sum
	return s.total() >= 0.5 && highest < small
}

// wholeMass returns the sum of all probabilities by rank. known is false if the sum can be computed
// only by ranking all tokens.
func (s *Sampler) wholeMass() (mass float64, known bool) {
	total := s.total()
	if s.ranked || total < 0.5 || total >= 1 {
		return total, s.ranked
	}
	sum, least := int64(total*units), int64(units)
	for i, z := range s.z {
		if z >= s.below {
			continue
		}
		k, halfway := inUnits(s.e[i] / s.sum)
		if halfway {
			return 0, false
		}
		if n := int64(k); n > 0 {
			sum, least = sum+n, min(least, n)
		}
	}
	if sum < units {
		return float64(sum) / units, true
	}
	return s.past(sum, least)
}

// past returns the mass if the sum, counted in units, is 1 or more. least is the number of units of
// the least probable token that has at least one unit.
func (s *Sampler) past(sum, least int64) (mass float64, known bool) {
	const few = 512
	surplus := sum - units + 1 // units to omit so that the sum is below 1
	s.keys = s.keys[:0]
	for i, z := range s.z { // tokens at the end, with enough units if there are few of them
		if z >= s.below {
			continue
		}
		if k, _ := inUnits(s.e[i] / s.sum); k > 0 && int64(k) <= max(least, surplus) {
			s.keys = append(s.keys, rankKey(z, i))
		}
	}
	if len(s.keys) > few {
		return 0, false
	}
	slices.Sort(s.keys)
	from := len(s.keys)
	for ; sum >= units && from > 0; from-- {
		k, _ := inUnits(s.e[idOf(s.keys[from-1])] / s.sum)
		sum -= int64(k)
	}
	if sum >= units {
		return 0, false
	}
	mass = float64(sum) / units
	for _, key := range s.keys[from:] {
		mass += s.e[idOf(key)] / s.sum
	}
	return mass, true
}
