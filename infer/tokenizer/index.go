package tokenizer

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
)

// The time it takes to read a vocabulary with a quarter of a million tokens and twice as many rules
// is dominated by memory latency, because each part of each rule is looked up. The two tables in
// this file use open addressing with one short slot per entry. Built-in maps would need twice the
// memory and more time. The tables' hash functions have random seeds, so a file cannot force
// collisions.

// roomy returns the size of a table for n entries: a power of two such that the table is at most
// three quarters full.
func roomy(n int) int {
	size := 8
	for size/4*3 < n {
		size *= 2
	}
	return size
}

// An index finds tokens by their bytes. It contains each token's id and 32 bits of the bytes' hash;
// the bytes themselves are in Tokenizer.bytes. It is never full, so every search ends at an empty
// slot.
type index struct {
	seed  maphash.Seed
	slots []indexSlot
	used  int
}

// An indexSlot holds one token. idPlus is the token's id plus one, or 0 if the slot is empty.
type indexSlot struct {
	hash   uint32
	idPlus int32
}

// newIndex returns an index with room for n tokens.
func newIndex(n int) index {
	return index{seed: maphash.MakeSeed(), slots: make([]indexSlot, roomy(n))}
}

// find returns the token with exactly these bytes, if merging can produce it.
func (t *Tokenizer) find(key string) (id int32, ok bool) {
	if t.index.used == 0 {
		return 0, false
	}
	slot, ok := seek(t, maphash.String(t.index.seed, key), key)
	return slot.idPlus - 1, ok
}

// findBytes is like find, but for a byte slice.
func (t *Tokenizer) findBytes(key []byte) (id int32, ok bool) {
	if t.index.used == 0 {
		return 0, false
	}
	slot, ok := seek(t, maphash.Bytes(t.index.seed, key), key)
	return slot.idPlus - 1, ok
}

// seek returns the slot of a key, or the empty slot where it belongs.
func seek[K string | []byte](t *Tokenizer, hash uint64, key K) (slot *indexSlot, ok bool) {
	mask := uint64(len(t.index.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		slot = &t.index.slots[at]
		if slot.idPlus == 0 {
			return slot, false
		}
		if slot.hash == uint32(hash>>32) {
			if s := t.spans[slot.idPlus-1]; string(key) == string(t.bytes[s.from:s.to]) {
				return slot, true
			}
		}
	}
}

// register adds a token to the index. If another token has the same bytes, register returns that
// token and false.
func (t *Tokenizer) register(id int32) (first int32, ok bool) {
	key := t.Bytes(int(id))
	hash := maphash.Bytes(t.index.seed, key)
	slot, taken := seek(t, hash, key)
	if taken {
		return slot.idPlus - 1, false
	}
	*slot = indexSlot{uint32(hash >> 32), id + 1}
	t.index.used++
	return id, true
}

// rules holds the merge rules by the pairs that they join. The zero value is empty.
type rules struct {
	seed  [2]uint64
	slots []rule
	used  int
}

// A rule joins left and right. rankPlus is the rule's rank plus one, or 0 if the slot is empty.
type rule struct {
	pair
	rankPlus, into int32
}

// newRules returns a table with room for n rules. The table grows if more are added.
func newRules(n int) rules {
	return rules{seed: [2]uint64{rand.Uint64(), rand.Uint64() | 1}, slots: make([]rule, roomy(n))}
}

// get returns the rule for a pair, if there is one.
func (r *rules) get(p pair) (merge, bool) {
	if r.used == 0 {
		return merge{}, false
	}
	slot := r.seek(p)
	return merge{rank: slot.rankPlus - 1, id: slot.into}, slot.rankPlus > 0
}

// put adds a rule. If the pair already has a rule, put returns that rule and false.
func (r *rules) put(p pair, m merge) (first merge, ok bool) {
	if r.used >= len(r.slots)/4*3 {
		r.grow()
	}
	slot := r.seek(p)
	if slot.rankPlus > 0 {
		return merge{rank: slot.rankPlus - 1, id: slot.into}, false
	}
	*slot = rule{pair: p, rankPlus: m.rank + 1, into: m.id}
	r.used++
	return m, true
}

// seek returns the slot of a pair, or the empty slot where it belongs.
func (r *rules) seek(p pair) *rule {
	high, low := bits.Mul64(r.seed[0]^(uint64(uint32(p.left))<<32|uint64(uint32(p.right))), r.seed[1])
	mask := uint64(len(r.slots) - 1)
	for at := (high ^ low) & mask; ; at = (at + 1) & mask {
		if slot := &r.slots[at]; slot.rankPlus == 0 || slot.pair == p {
			return slot
		}
	}
}

func (r *rules) grow() {
	old := r.slots
	r.slots = make([]rule, max(8, 2*len(old)))
	for _, rule := range old {
		if rule.rankPlus > 0 {
			*r.seek(rule.pair) = rule
		}
	}
}
