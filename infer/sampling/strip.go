package sampling

import "sort"

// The tokens that may be drawn lie end to end from 0 to 1, the most probable
// first, each as long as it is probable. cum is Σ p of ranks 0 to r, mass that of
// all keep tokens.

// segment is where rank r lies. The last token takes the rest, rounding included.
func segment(cum []float64, mass float64, r, keep int) (from, to float64) {
	if r > 0 {
		from = cum[r-1] / mass
	}
	if r == keep-1 {
		return from, 1
	}
	return from, cum[r] / mass
}

// draw finds the rank on whose segment u falls.
func draw(cum []float64, mass, u float64, keep int) int {
	return sort.Search(keep-1, func(r int) bool { return cum[r]/mass > u })
}
