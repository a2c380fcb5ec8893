package predict

import "math"

// Outcome is a past guess.
type Outcome struct {
	Confidence float64 // 0 to 1
	Right      bool
}

// BinCount is the number of bins into which [Bins] divides the range from 0 to
// 1.
const BinCount = 10

// Bin summarizes the guesses with similar confidence.
type Bin struct {
	From, To  float64
	N, Hits   int
	Stated    float64 // mean of the stated confidences; 0 if N is 0
	Rate      float64 // Hits / N; 0 if N is 0
	Low, High float64 // bounds of the true rate, with 95% confidence (Wilson 1927); 0 to 1 if N is 0
}

// Bins sorts guesses into ten bins of equal width. A confidence on a border belongs to the bin
// above it, and 1 belongs to the last bin. Guesses with a confidence outside 0 to 1 are ignored.
func Bins(list []Outcome) []Bin {
	var s Sums
	for _, o := range list {
		s.Add(o)
	}
	return s.Bins()
}

// Sums holds the sums over the guesses in each bin, from which [Sums.Bins] computes the bins. They
// are bit-identical for any order of guesses.
type Sums [BinCount]Sum

// Sum is one bin of [Sums].
type Sum struct {
	N      int   `json:"n"`
	Hits   int   `json:"hits"`
	Stated int64 `json:"stated"` // sum of the confidences in units of 1/unit, so it is exact
}

// unit is the number of steps into which a confidence of 1 is divided. It is large enough for a
// mean with thirteen correct digits, and small enough that half a million guesses do not overflow a
// sum.
const unit = 1 << 44

// Add counts a guess, unless its confidence is outside 0 to 1.
func (s *Sums) Add(o Outcome) {
	if !(o.Confidence >= 0 && o.Confidence <= 1) {
		return
	}
	// The small addend keeps rounding errors from moving a confidence on a border into the bin
	// below it.
	b := &s[min(BinCount-1, int(o.Confidence*BinCount+1e-9))]
	b.N++
	b.Stated += int64(math.Round(o.Confidence * unit))
	if o.Right {
		b.Hits++
	}
}

// Stated returns the mean of the stated confidences, or 0 if there are none.
func (s *Sums) Stated() float64 {
	var all Sum
	for _, b := range s {
		all.N += b.N
		all.Stated += b.Stated
	}
	return all.mean()
}

func (b Sum) mean() float64 {
	if b.N == 0 {
		return 0
	}
	return float64(b.Stated) / unit / float64(b.N)
}

// Bins returns the bins of the added guesses.
func (s *Sums) Bins() []Bin {
	bins := make([]Bin, BinCount)
	for i, sum := range s {
		b := &bins[i]
		*b = Bin{From: float64(i) / BinCount, To: float64(i+1) / BinCount, High: 1}
		if b.N, b.Hits = sum.N, sum.Hits; b.N > 0 {
			b.Stated = sum.mean()
			b.Rate = float64(b.Hits) / float64(b.N)
			b.Low, b.High = wilson(b.Hits, b.N)
		}
	}
	return bins
}

// wilson returns the score interval of a proportion. It stays within 0 and 1
// and is reliable for a handful of guesses.
func wilson(hits, n int) (low, high float64) {
	const z = 1.959963984540054 // 97.5% of the normal distribution is below z
	p, m := float64(hits)/float64(n), float64(n)
	center := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, center-half), min(1, center+half)
}

// MeanScore returns the mean logarithmic score in nats and the number of guesses. Both are 0 if
// there are no guesses. Guesses with a confidence outside 0 to 1 are ignored.
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
