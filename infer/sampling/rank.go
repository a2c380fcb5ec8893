package sampling

import (
	"math"
	"slices"
)

// radixFrom is how many keys are sorted the faster by digits: for fewer the
// tables of digits cost more than comparing does.
const radixFrom = 64

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

func rankByDigits(z []float32) []int32 {
	keys := make([]uint64, len(z))
	for i, zi := range z {
		keys[i] = rankKey(zi, i)
	}
	return idsOf(sortByDigits(keys, make([]uint64, len(z))))
}

// sortKeys sorts keys whose ids ascend, the shorter way. The result is keys or
// room, which is made as long.
func sortKeys(keys []uint64, room *[]uint64) []uint64 {
	if len(keys) < radixFrom {
		slices.Sort(keys)
		return keys
	}
	*room = sized(*room, len(keys))
	return sortByDigits(keys, *room)
}

// The 32 bits of a score are three digits where there are many keys, four where
// there are few: then a digit's table is small beside them.
const (
	longDigit  = 11
	shortDigit = 8
	longFrom   = 2048 // keys
)

// sortByDigits is a radix sort: each pass puts the keys in the order of one
// digit and keeps the order of those before it among equals. Ids ascend at the
// start, so equal scores stay in that order and ids need no pass of their own.
// The result is keys or room, which are equally long; the other is lost.
func sortByDigits(keys, room []uint64) []uint64 {
	bits := shortDigit
	if len(keys) >= longFrom {
		bits = longDigit
	}
	var table [1 << longDigit]int32 // how many keys have each digit, then where the next of them goes
	next := table[:1<<bits]
	for shift := 32; shift < 64; shift += bits {
		clear(next)
		for _, k := range keys {
			next[digit(k, shift, len(next))]++
		}
		at := int32(0)
		for d, n := range next {
			next[d] = at
			at += n
		}
		for _, k := range keys {
			to := &next[digit(k, shift, len(next))]
			room[*to] = k
			*to++
		}
		keys, room = room, keys
	}
	return keys
}

// digit is one of so many digits of a key. (A shift that is seen to be below 64
// needs no test.)
func digit(key uint64, shift, digits int) int { return int(key>>(shift&63)) & (digits - 1) }

// idOf is the token of a key.
func idOf(key uint64) int32 { return int32(uint32(key)) }

func idsOf(keys []uint64) []int32 {
	order := make([]int32, len(keys))
	for r, k := range keys {
		order[r] = idOf(k)
	}
	return order
}

// ascending maps a float32 to an integer that sorts the same way: IEEE 754
// numbers compare like sign-magnitude integers, so negatives are flipped
// whole and positives only in their sign. −0 is made +0 first: they are equal
// scores.
func ascending(f float32) uint32 {
	b := math.Float32bits(f + 0)
	return b ^ (uint32(int32(b)>>31) | 1<<31) // all bits of negatives; no branch, since signs follow no pattern
}
