package sampling

import (
	"math"
	"slices"
)

// radixFrom is the vocabulary from which on sorting by digits is the faster
// way; below it the tables of digits would cost more than comparing does.
const radixFrom = 2048

// A rankKey sorts as a token ranks: the score turned round in the upper half,
// so that the highest comes first, the id in the lower.
func rankKey(score float32, id int) uint64 {
	return uint64(^ascending(score))<<32 | uint64(uint32(id))
}

func rankByComparing(z []float32) []int32 {
	keys := make([]uint64, len(z))
	for i, zi := range z {
		keys[i] = rankKey(zi, i)
	}
	slices.Sort(keys)
	return idsOf(keys)
}

// The 32 bits of a score are three digits, sorted from the last to the first.
const (
	digitBits = 11
	digits    = 3
	digitMask = 1<<digitBits - 1
)

// rankByDigits is a radix sort: each pass puts the keys in the order of one
// digit and keeps the order of those before it among equals. Ids ascend at the
// start, so equal scores stay in that order and ids need no pass of their own.
func rankByDigits(z []float32) []int32 {
	keys, sorted := make([]uint64, len(z)), make([]uint64, len(z))
	var ends [digits][1 << digitBits]int32 // how many keys have each digit, then where the next of them goes
	for i, zi := range z {
		k := rankKey(zi, i)
		keys[i] = k
		for d := range ends {
			ends[d][digit(k, d)]++
		}
	}
	for d := range ends {
		at := int32(0)
		for i, n := range ends[d] {
			ends[d][i] = at
			at += n
		}
		next := &ends[d]
		for _, k := range keys {
			to := &next[digit(k, d)]
			sorted[*to] = k
			*to++
		}
		keys, sorted = sorted, keys
	}
	return idsOf(keys)
}

func digit(key uint64, d int) uint64 { return key >> (32 + d*digitBits) & digitMask }

func idsOf(keys []uint64) []int32 {
	order := make([]int32, len(keys))
	for r, k := range keys {
		order[r] = int32(uint32(k))
	}
	return order
}

// ascending maps a float32 to an integer that sorts the same way: IEEE 754
// numbers compare like sign-magnitude integers, so negatives are flipped
// whole and positives only in their sign. −0 is made +0 first: they are equal
// scores.
func ascending(f float32) uint32 {
	b := math.Float32bits(f + 0)
	if b>>31 == 1 {
		return ^b
	}
	return b | 1<<31
}
