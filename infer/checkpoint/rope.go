package checkpoint

import "math"

// RopeScaling says how a model's rotary frequencies were stretched after its
// first training, so that it reaches further. The zero value stretches
// nothing.
type RopeScaling struct {
	// Kind is "" (none), "linear" (Chen et al. 2023: every frequency divided by
	// Factor), "llama3" (only the slow ones divided, with a ramp between) or
	// "factors" (each divided by its own).
	Kind   string
	Factor float64

	// Of "llama3": frequencies that turn at most LowFreq times within
	// OriginalContext positions are divided by Factor, those that turn
	// HighFreq times or more are left alone.
	LowFreq, HighFreq float64
	OriginalContext   int

	Factors []float32 // [headDim/2], of "factors"
}

// Bounds on the numbers that stretch the rotary embedding.
const (
	lowTheta, highTheta   = 1, 1e12
	lowFactor, highFactor = 1, 1 << 20
)

// rope reads the rotary base and its scaling. Newer files keep both in
// rope_parameters.
func rope(c *fields, context int) (theta float64, scaling RopeScaling) {
	theta = c.number("rope_theta", 10_000, lowTheta, highTheta)
	c.number("partial_rotary_factor", 1, 1, 1)
	for _, key := range []string{"rope_scaling", "rope_parameters"} {
		if !c.has(key) {
			continue
		}
		o := c.object(key)
		switch kind := o.text("rope_type", o.text("type", "")); kind {
		case "default":
		case "linear":
			scaling = RopeScaling{Kind: kind, Factor: requiredNumber(o, "factor", lowFactor, highFactor)}
		case "llama3":
			scaling = RopeScaling{
				Kind: kind, Factor: requiredNumber(o, "factor", lowFactor, highFactor),
				LowFreq:         requiredNumber(o, "low_freq_factor", 1e-6, 1e6),
				HighFreq:        requiredNumber(o, "high_freq_factor", 1e-6, 1e6),
				OriginalContext: o.size("original_max_position_embeddings", context, maxContext),
			}
			if o.err == nil && scaling.LowFreq >= scaling.HighFreq {
				o.fail("low_freq_factor %v is not below high_freq_factor %v", scaling.LowFreq, scaling.HighFreq)
			}
		default:
			o.fail(`rope_type is %s; "default", "linear" and "llama3" are supported`, quote(kind))
		}
		theta = o.number("rope_theta", theta, lowTheta, highTheta)
		o.number("partial_rotary_factor", 1, 1, 1)
		c.adopt(o.err)
	}
	return theta, scaling
}

// requiredNumber is number for a key that must be there.
func requiredNumber(f *fields, key string, low, high float64) float64 {
	if !f.has(key) {
		f.fail("%s is missing", key)
	}
	return f.number(key, low, low, high)
}

// RotaryFrequencies returns the angle in radians by which each pair of a head
// turns from one position to the next, [HeadDim/2]: θ^(−2i/HeadDim) for pair i
// (Su et al. 2021), stretched as RopeScaling says.
func (c Config) RotaryFrequencies() []float32 {
	frequencies := make([]float32, c.HeadDim/2)
	for i := range frequencies {
		f := 1 / math.Pow(c.RopeTheta, float64(2*i)/float64(c.HeadDim))
		frequencies[i] = float32(c.RopeScaling.stretch(i, f))
	}
	return frequencies
}

// stretch returns what becomes of frequency f of pair i.
func (s RopeScaling) stretch(i int, f float64) float64 {
	switch s.Kind {
	case "linear":
		return f / s.Factor
	case "factors":
		return f / float64(s.Factors[i])
	case "llama3":
		turns := float64(s.OriginalContext) * f / (2 * math.Pi)
		kept := min(max((turns-s.LowFreq)/(s.HighFreq-s.LowFreq), 0), 1)
		return f * (kept + (1-kept)/s.Factor)
	}
	return f
}
