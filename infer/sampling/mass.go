package sampling

import (
	"math"
	"slices"
)

// Where nothing is cut, the mass is the sum of all probabilities by rank: in
// another order its last bits would be others, and what is drawn must not depend
// on who looks. Yet the tokens need not be ranked for it. Between ½ and 1 the
// numbers of a float64 lie evenly, one unit of 2⁻⁵³ apart. To add p to a sum in
// there is to add p rounded to whole units, whatever the sum is, and whole
// numbers may be added in any order. Two cases are apart:
//
//   - A p halfway between two units is rounded by what the sum is.
//   - From 1 on units are twice as large. The sum may just pass 1, by rounding;
//     then the tokens at the end, as few as pass it, are ranked after all.

// units is how many units 1 has.
const units = 1 << 53

// inUnits is p, ½ or less, in whole units, and whether that is halfway between
// two.
func inUnits(p float64) (k float64, halfway bool) {
	const whole = 1 << 52 // from here on a float64 has no fraction
	x := p * units
	k = x + whole - whole
	return k, (x-k)*(x-k) == 0.25
}

// farEnough tells that the tokens that have been ranked sum to ½ at least, and
// that the others seldom lie halfway between two units: a p just under 2⁻⁸ has
// eight binary places below a unit, and they are a 1 and seven 0 once in 256
// times.
func (s *Sampler) farEnough() bool {
	const small = 1. / (1 << 8)
	highest := math.Exp((float64(s.below)-s.top)/s.settings.Temperature) / s.sum
	return s.total() >= 0.5 && highest < small
}

// wholeMass returns the sum of all probabilities by rank. It is false where it
// takes ranking all to know.
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

// past is the mass where the sum in units is 1 or more. least are the units of
// the last token that has any.
func (s *Sampler) past(sum, least int64) (mass float64, known bool) {
	const few = 512
	surplus := sum - units + 1 // to be left out for the sum to stay below 1
	s.keys = s.keys[:0]
	for i, z := range s.z { // the tokens at the end, with enough units for sure if there are few of them
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
