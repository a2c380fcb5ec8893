package tokenizer

import "unicode/utf8"

// A pair is two adjacent tokens.
type pair struct{ left, right int32 }

// A merge is a rule for a pair: its rank in the file (a lower rank is applied first) and the token
// that the pair becomes.
type merge struct{ rank, id int32 }

// noRank marks a token that has been merged into another one, or that no rule joins with its right
// neighbor.
const noRank = int32(-1)

// end marks the missing neighbor at the start and the end of a piece.
const end = int32(-1)

// A symbol is one token of the piece being merged. Symbols form a doubly linked list, and a
// symbol's index never changes.
type symbol struct {
	id         int32
	prev, next int32 // indices of the neighbors, or end
	rank       int32 // of the rule for this symbol and the next one, or noRank
	into       int32 // the token that the rule produces; unused without a rule
}

// A merger applies merge rules to one piece after another and reuses its buffers between
// them.
//
// The candidates are in a binary min-heap, ordered by rank and then by position: lowest rank first,
// leftmost first. A merge changes at most two neighboring pairs. The old candidates for these pairs
// stay in the heap and are recognized as stale when popped, because their rank differs from their
// symbol's current rank. A piece of n bytes has fewer than 3n candidates in total, so merging takes
// O(n log n) time. (The simplest implementation, which searches the piece for the best pair before
// each merge, takes O(n²) time: seconds for one long sequence of letters.)
type merger struct {
	symbols []symbol
	heap    []uint64 // rank<<32 | index of the left symbol
	joined  []byte   // scratch memory for rule
}

// appendPiece appends the tokens of one piece to ids. lost is the index of the first byte without a
// token, or -1. A piece must be at most 2 GiB long.
func (m *merger) appendPiece(ids []int, t *Tokenizer, piece string) (_ []int, lost int) {
	if t.wholePieces {
		if id, ok := t.find(piece); ok {
			return append(ids, int(id)), -1
		}
	}
	if lost = m.begin(t, piece); len(m.symbols) == 0 {
		return ids, lost
	}
	for i := range m.symbols {
		m.rate(t, int32(i))
	}
	for len(m.heap) > 0 {
		rank, i := m.pop()
		if m.symbols[i].rank == rank {
			m.join(t, i)
		}
	}
	for i := int32(0); i != end; i = m.symbols[i].next {
		ids = append(ids, int(m.symbols[i].id))
	}
	return ids, lost
}

// begin creates symbols from the bytes of a piece, or from its characters.
func (m *merger) begin(t *Tokenizer, piece string) (lost int) {
	m.symbols, m.heap = m.symbols[:0], m.heap[:0]
	lost = -1
	for at := 0; at < len(piece); {
		size := 1
		if t.characters {
			_, size = utf8.DecodeRuneInString(piece[at:])
			if id, ok := t.find(piece[at : at+size]); ok {
				m.add(id)
				at += size
				continue
			}
		}
		for ; size > 0; size-- {
			if id := t.byteIDs[piece[at]]; id >= 0 {
				m.add(id)
			} else if lost < 0 {
				lost = at
			}
			at++
		}
	}
	if n := len(m.symbols); n > 0 {
		m.symbols[n-1].next = end
	}
	return lost
}

// add puts a token at the end of the list.
func (m *merger) add(id int32) {
	i := int32(len(m.symbols))
	m.symbols = append(m.symbols, symbol{id: id, prev: i - 1, next: i + 1})
}

// rule returns the rule that joins two tokens, if there is one.
func (m *merger) rule(t *Tokenizer, left, right int32) (merge, bool) {
	if t.ranks == nil {
		return t.merges.get(pair{left, right})
	}
	m.joined = append(append(m.joined[:0], t.Bytes(int(left))...), t.Bytes(int(right))...)
	id, ok := t.findBytes(m.joined)
	if !ok || t.ranks[id] == noRank {
		return merge{}, false
	}
	return merge{rank: t.ranks[id], id: id}, true
}

// rate looks up the rule for symbol i and its right neighbor and, if there is a rule, adds the pair
// to the candidates.
func (m *merger) rate(t *Tokenizer, i int32) {
	s := &m.symbols[i]
	s.rank = noRank
	if s.next == end {
		return
	}
	if rule, ok := m.rule(t, s.id, m.symbols[s.next].id); ok {
		s.rank, s.into = rule.rank, rule.id
		m.push(rule.rank, i)
	}
}

// join merges symbol i with its right neighbor, and rates the two changed pairs.
func (m *merger) join(t *Tokenizer, i int32) {
	s := &m.symbols[i]
	gone := &m.symbols[s.next]
	gone.rank = noRank
	s.id, s.next = s.into, gone.next
	if s.next != end {
		m.symbols[s.next].prev = i
	}
	if s.prev != end {
		m.rate(t, s.prev)
	}
	m.rate(t, i)
}

// push adds the pair that begins at symbol i to the heap.
func (m *merger) push(rank, i int32) {
	m.heap = append(m.heap, uint64(rank)<<32|uint64(i))
	h := m.heap
	for child := len(h) - 1; child > 0; {
		parent := (child - 1) / 2
		if h[parent] <= h[child] {
			return
		}
		h[parent], h[child] = h[child], h[parent]
		child = parent
	}
}

// pop removes the first candidate from the heap, which must not be empty.
func (m *merger) pop() (rank, i int32) {
	h := m.heap
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for parent := 0; ; {
		child := 2*parent + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if h[parent] <= h[child] {
			break
		}
		h[parent], h[child] = h[child], h[parent]
		parent = child
	}
	m.heap = h
	return int32(first >> 32), int32(uint32(first))
}
