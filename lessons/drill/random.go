package drill

import (
	"hash/fnv"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// random generates the numbers of a problem. It uses the engine's random number u, a documented
// function of seed and step that never changes.
type random struct {
	seed uint64
	step int
}

func newRandom(p *Problem) *random {
	h := fnv.New64a()
	h.Write([]byte(p.Kind))
	return &random{seed: p.Seed*MaxLevel + uint64(p.Level) ^ h.Sum64()}
}

func (r *random) float() float64 {
	r.step++
	return sampling.U(r.seed, r.step)
}

// below returns a number from 0 to n−1.
func (r *random) below(n int) int { return int(r.float() * float64(n)) }

// between returns a number from `from` to `to`, both included.
func (r *random) between(from, to int) int { return from + r.below(to-from+1) }

// pick returns one element of a list.
func pick[T any](r *random, list []T) T { return list[r.below(len(list))] }

// shuffle shuffles a list in place.
func shuffle[T any](r *random, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := r.below(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}
