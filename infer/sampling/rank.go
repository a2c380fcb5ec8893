package sampling

import (
	"math"
	"slices"
)

// radixFrom is the number of keys from which sorting by digits is faster. For fewer keys, the
// tables of the digit sort cost more than comparisons.
const radixFrom = 64

// rankKey returns a sort key: tokens in ascending order of their keys are in order of rank. The
// upper half is the inverted score, so the highest score comes first, and the lower half is the id.
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

// sortKeys sorts keys, whose ids must ascend, with whichever method is faster for that number of
// keys. The result is in keys or in room, which sortKeys grows to the same length.
func sortKeys(keys []uint64, room *[]uint64) []uint64 {
	if len(keys) < radixFrom {
		slices.Sort(keys)
		return keys
	}
	*room = sized(*room, len(keys))
	return sortByDigits(keys, *room)
}

// The 32 bits of a score are divided into three digits if there are many keys, and four if there
// are few, so a digit's table is small compared to the keys.
const (
	longDigit  = 11
	shortDigit = 8
	longFrom   = 2048 // keys
)

// sortByDigits is a radix sort: each pass sorts the keys by one digit, and keeps keys with equal
// digits in the order of the earlier passes. The keys arrive in ascending order of id, so equal
// scores stay in id order without a pass over the ids. The result is in keys or room, which have
// the same length; the other slice is overwritten.
func sortByDigits(keys, room []uint64) []uint64 {
	bits := shortDigit
	if len(keys) >= longFrom {
		bits = longDigit
	}
	var table [1 << longDigit]int32 // number of keys with each digit; later, the index for the next such key
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

// digit returns one digit of a key. digits is the number of values that a digit can have. (The mask
// shows the compiler that the shift is below 64, so it does not emit a test.)
func digit(key uint64, shift, digits int) int { return int(key>>(shift&63)) & (digits - 1) }

// idOf returns the token id of a key.
func idOf(key uint64) int32 { return int32(uint32(key)) }

func idsOf(keys []uint64) []int32 {
	order := make([]int32, len(keys))
	for r, k := range keys {
		order[r] = idOf(k)
	}
	return order
}

// ascending maps a float32 to an integer that sorts the same way: IEEE 754 numbers compare like
// sign-magnitude integers, so all bits of negative numbers are flipped, but only the sign bit of
// positive ones. −0 is first converted to +0, because the two are equal scores.
func ascending(f float32) uint32 {
	b := math.Float32bits(f + 0)
	return b ^ (uint32(int32(b)>>31) | 1<<31) // without a branch, because signs are unpredictable
}
