package predict

import "math"

// Outcome is a past guess.
type Outcome struct {
	Confidence float64 // 0 to 1
	Right      bool
}

// BinCount is how many bins [Bins] makes of the range from 0 to 1.
const BinCount = 10

// Bin is the guesses that were stated with about the same confidence.
type Bin struct {
	From, To  float64
	N, Hits   int
	Stated    float64 // mean of what was stated; 0 where N is 0
	Rate      float64 // Hits / N; 0 where N is 0
	Low, High float64 // where the true rate lies, with 95% confidence (Wilson 1927); 0 to 1 where N is 0
}

// Bins sorts guesses into ten bins of equal width. A confidence on a border
// belongs to the bin above; 1 belongs to the last. Guesses outside of 0 to 1
// are left out.
func Bins(list []Outcome) []Bin {
	bins := make([]Bin, BinCount)
	for i := range bins {
		bins[i] = Bin{From: float64(i) / BinCount, To: float64(i+1) / BinCount, High: 1}
	}
	for _, o := range list {
		if !(o.Confidence >= 0 && o.Confidence <= 1) {
			continue
		}
		// A little is added so that 0.3, which is less in binary, is on its border.
		b := &bins[min(BinCount-1, int(o.Confidence*BinCount+1e-9))]
		b.N++
		b.Stated += o.Confidence
		if o.Right {
			b.Hits++
		}
	}
	for i := range bins {
		if b := &bins[i]; b.N > 0 {
			b.Stated /= float64(b.N)
			b.Rate = float64(b.Hits) / float64(b.N)
			b.Low, b.High = wilson(b.Hits, b.N)
		}
	}
	return bins
}

// wilson is the score interval of a proportion: it stays within 0 and 1 and
// is honest for a handful of guesses.
func wilson(hits, n int) (low, high float64) {
	const z = 1.959963984540054 // 97.5% of the normal distribution lie below
	p, m := float64(hits)/float64(n), float64(n)
	centre := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, centre-half), min(1, centre+half)
}

// MeanScore is the mean logarithmic score in nats, and of how many guesses; 0
// and 0 of none. Guesses outside of 0 to 1 are left out.
func MeanScore(list []Outcome) (mean float64, n int) {
	for _, o := range list {
		if r, err := Grade(o.Confidence, o.Right); err == nil {
			mean += r.Score
			n++
		}
	}
	if n == 0 {
		return 0, 0
	}
	return mean / float64(n), n
}
