package sampling

import "sort"

// The tokens that can be drawn are placed end to end between 0 and 1, the most probable first. The
// length of a token's segment is its probability. There are `keep` such tokens; mass is the sum of
// their probabilities, and cum[r] is the sum for ranks 0 to r.

// segment returns the segment of rank r. The last token's segment ends at 1, which absorbs
// rounding.
func segment(cum []float64, mass float64, r, keep int) (from, to float64) {
	if r > 0 {
		from = cum[r-1] / mass
	}
	if r == keep-1 {
		return from, 1
	}
	return from, cum[r] / mass
}

// draw returns the rank whose segment contains u.
func draw(cum []float64, mass, u float64, keep int) int {
	return sort.Search(keep-1, func(r int) bool { return cum[r]/mass > u })
}
