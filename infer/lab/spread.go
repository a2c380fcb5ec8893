package lab

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
)

// Spread summarizes repeated measurements by their median, quartiles and extremes. Times are in
// milliseconds.
type Spread struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Q1     float64 `json:"q1"`
	Q3     float64 `json:"q3"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spreadOf summarizes values without modifying them. Quantiles are interpolated between the
// two nearest values (type 7 of Hyndman and Fan 1996).
func spreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	v := slices.Sorted(slices.Values(values))
	at := func(p float64) float64 {
		x := p * float64(len(v)-1)
		i := min(int(x), len(v)-1)
		j := min(i+1, len(v)-1)
		return v[i] + (x-float64(i))*(v[j]-v[i])
	}
	return Spread{len(v), at(0.5), at(0.25), at(0.75), v[0], v[len(v)-1]}
}

// spreadOfTimes is like spreadOf, but for times. The result is in milliseconds.
func spreadOfTimes(times []time.Duration) Spread {
	v := make([]float64, len(times))
	for i, t := range times {
		v[i] = milliseconds(t)
	}
	return spreadOf(v)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// share returns the width of the middle half relative to the median. It is never negative.
func (s Spread) share() float64 {
	if s.Median == 0 {
		return 0
	}
	return (s.Q3 - s.Q1) / s.Median
}

// noise describes in words how much repeated measurements varied.
func noise(spreads []Spread) Phrase {
	var shares []float64
	repeats := 0
	for _, s := range spreads {
		if s.N > 1 {
			shares = append(shares, s.share())
			repeats = max(repeats, s.N)
		}
	}
	if len(shares) == 0 {
		return Text("lab.noise.once")
	}
	slices.Sort(shares)
	typical := stat.Quantile(0.5, stat.Empirical, shares, nil)
	percent := func(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }
	return Text(
		"lab.noise", "repeats", fmt.Sprint(repeats), "typical", percent(typical), "worst",
		percent(shares[len(shares)-1]),
	)
}

// mean returns the average of values, or 0 if there are no values.
func mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return stat.Mean(values, nil)
}

// finiteOr returns x if it is finite, as JSON requires, and `other` if not.
func finiteOr(x, other float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return other
	}
	return x
}
