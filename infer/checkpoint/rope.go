package checkpoint

import "math"

// RopeScaling describes how a model's rotary frequencies were stretched after its first training,
// to extend its context. The zero value means no stretching.
type RopeScaling struct {
	// Kind is "" (no scaling), "linear" (Chen et al. 2023: every frequency is divided by Factor),
	// "llama3" (only slow frequencies are divided, with a smooth transition) or "factors" (each
	// frequency is divided by its own factor).
	Kind   string
	Factor float64

	// For "llama3": frequencies that turn at most LowFreq times within OriginalContext positions
	// are divided by Factor, and frequencies that turn HighFreq times or more are unchanged.
	LowFreq, HighFreq float64
	OriginalContext   int

	Factors []float32 // [headDim/2], for "factors"
}

// Bounds for the numbers that stretch the rotary embedding.
const (
	lowTheta, highTheta   = 1, 1e12
	lowFactor, highFactor = 1, 1 << 20
)

// Rope describes how a layer rotates its queries and keys by position (Su et
// al. 2021).
type Rope struct {
	Theta   float64 // base of the frequencies
	Scaling RopeScaling
}

// readRope reads a rotary base, theta by default, and its scaling. Newer files have both in
// rope_parameters.
func readRope(f *fields, context int, theta float64) *Rope {
	r := &Rope{Theta: f.number("rope_theta", theta, lowTheta, highTheta)}
	f.number("partial_rotary_factor", 1, 1, 1)
	if f.has("rope_scaling") {
		o := f.object("rope_scaling")
		r.read(o, context, "")
		f.adopt(o.err)
	}
	if f.has("rope_parameters") {
		o := f.object("rope_parameters")
		r.read(o, context, "default")
		f.adopt(o.err)
	}
	return r
}

// read reads an object that specifies a kind of scaling and, optionally, a base. untyped is the
// kind to use if the object does not name a kind.
func (r *Rope) read(o *fields, context int, untyped string) {
	kind := o.text("rope_type", o.text("type", untyped))
	switch kind {
	case "default":
		if o.has("factor") && !o.has("rope_type") && !o.has("type") {
			o.fail("factor is set, but rope_type is not")
		}
	case "linear":
		r.Scaling = RopeScaling{Kind: kind, Factor: requiredNumber(o, "factor", lowFactor, highFactor)}
	case "llama3":
		r.Scaling = RopeScaling{
			Kind: kind, Factor: requiredNumber(o, "factor", lowFactor, highFactor),
			LowFreq:         requiredNumber(o, "low_freq_factor", 1e-6, 1e6),
			HighFreq:        requiredNumber(o, "high_freq_factor", 1e-6, 1e6),
			OriginalContext: o.size("original_max_position_embeddings", context, maxContext),
		}
		if s := r.Scaling; o.err == nil && s.LowFreq >= s.HighFreq {
			o.fail("low_freq_factor %v must be less than high_freq_factor %v", s.LowFreq, s.HighFreq)
		}
	default:
		o.fail(`rope_type is %s; "default", "linear" and "llama3" are supported`, quote(kind))
	}
	r.Theta = o.number("rope_theta", r.Theta, lowTheta, highTheta)
	o.number("partial_rotary_factor", 1, 1, 1)
}

// requiredNumber is fields.number for a required key.
func requiredNumber(f *fields, key string, low, high float64) float64 {
	if !f.has(key) {
		f.fail("%s is missing", key)
	}
	return f.number(key, low, low, high)
}

// Frequencies returns the angle in radians by which each pair of a head rotates
// from one position to the next, [headDim/2]: θ^(−2i/headDim) for pair i, after
// scaling.
func (r *Rope) Frequencies(headDim int) []float32 {
	frequencies := make([]float32, headDim/2)
	for i := range frequencies {
		f := 1 / math.Pow(r.Theta, float64(2*i)/float64(headDim))
		frequencies[i] = float32(r.Scaling.stretch(i, f))
	}
	return frequencies
}

// stretch returns frequency f of pair i after scaling.
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
