package grammar

import (
	"bytes"
	"math/bits"
	"slices"
)

// Vocabulary holds the tokens of a model in the order of their bytes, so that common
// prefixes are read once. It is immutable; runs share it.
type Vocabulary struct {
	all    int      // tokens, including those without bytes
	ids    []int32  // of tokens with bytes, in the order of the bytes
	bytes  [][]byte // in that order
	shared []int32  // length of the prefix that each shares with the previous one
	ends   []int
}

// NewVocabulary makes a vocabulary of the bytes of each token, by id, nil for a token that
// represents no text, and the ids of the tokens that end a text.
func NewVocabulary(tokens [][]byte, ends []int) *Vocabulary {
	v := &Vocabulary{all: len(tokens), ends: ends}
	for id, text := range tokens {
		if len(text) > 0 {
			v.ids = append(v.ids, int32(id))
		}
	}
	slices.SortFunc(v.ids, func(a, b int32) int { return bytes.Compare(tokens[a], tokens[b]) })
	var before []byte
	for _, id := range v.ids {
		text, n := tokens[id], 0
		for n < min(len(text), len(before)) && text[n] == before[n] {
			n++
		}
		v.bytes, v.shared, before = append(v.bytes, text), append(v.shared, int32(n)), text
	}
	return v
}

// Masks computes which tokens of a vocabulary can come next in a state of a grammar. It is
// not safe for concurrent use; the Masks of several runs share the grammar.
type Masks struct {
	v    *Vocabulary
	kept map[*State][]int32
}

// maxMasks is the number of states whose needs are cached: with a vocabulary of 150,000
// tokens each takes 600 kB.
const maxMasks = 4

// NewMasks returns the masks of a vocabulary.
func NewMasks(v *Vocabulary) *Masks { return &Masks{v, map[*State][]int32{}} }

// Mask is what a grammar allows at a step. It is immutable.
type Mask struct {
	set []uint64 // [vocab/64] a bit for each token id
	N   int      // how many are allowed
	// Closing is set if tokens were excluded because, after them, the remaining tokens
	// would not suffice to complete the text.
	Closing bool
	// Short is set if the remaining tokens do not suffice to complete the text, so that it
	// can end incomplete.
	Short bool
}

// Has reports whether a token is allowed.
func (m *Mask) Has(id int) bool { return m.set[id/64]>>(id%64)&1 == 1 }

// Bytes is the memory that the mask uses.
func (m *Mask) Bytes() int64 { return int64(8 * len(m.set)) }

func (m *Mask) allow(id int) { m.set[id/64] |= 1 << (id % 64) }

// Of returns the mask in a state with left tokens to write, including the next token and
// the one that ends the text; a negative left means no limit. A token that ends the text is
// allowed if the text is complete, and is the only one allowed as the last token. If tokens
// run short, those after which the text needs more bytes than there are tokens left are
// excluded: a byte takes at most one token if the vocabulary has all bytes. A mask without
// tokens means that no token of the vocabulary can continue here. The error is a refusal:
// computing what can follow would take too long.
func (m *Masks) Of(s *State, left int) (*Mask, error) {
	needs, err := m.after(s)
	if err != nil {
		return nil, err
	}
	mask := &Mask{set: make([]uint64, (m.v.all+63)/64)}
	most := never
	if left >= 0 {
		most = left - 1 - min(len(m.v.ends), 1) // without the next token and the end
	}
	for i, id := range m.v.ids {
		switch need := int(needs[i]); {
		case need == never:
		case need > most:
			mask.Closing = true
		default:
			mask.allow(int(id))
		}
	}
	if s.complete {
		for _, id := range m.v.ends {
			mask.allow(id)
		}
	}
	if mask.count(); mask.N == 0 && mask.Closing {
		mask.Closing, mask.Short = false, true
		for i, id := range m.v.ids {
			if needs[i] != never {
				mask.allow(int(id))
			}
		}
		mask.count()
	}
	return mask, nil
}

func (m *Mask) count() {
	m.N = 0
	for _, word := range m.set {
		m.N += bits.OnesCount64(word)
	}
}

// after returns the needs of the states after each token of the vocabulary, in its order;
// [never] for a token that cannot come.
func (m *Masks) after(s *State) ([]int32, error) {
	if list, ok := m.kept[s]; ok {
		return list, nil
	}
	list := make([]int32, len(m.v.ids))
	g := s.g
	g.mu.Lock()
	defer g.mu.Unlock()
	g.work = 0
	path := []*State{s} // the states after each byte of the previous token; nil if the byte cannot come
	for i, text := range m.v.bytes {
		path = path[:min(int(m.v.shared[i])+1, len(path))]
		for len(path) <= len(text) {
			next := path[len(path)-1]
			if next == nil {
				break
			}
			path = append(path, next.after(text[len(path)-1]))
		}
		list[i] = never
		if last := path[len(path)-1]; last != nil && len(path) > len(text) {
			list[i] = int32(last.need)
		}
		if g.work > maxWork {
			return nil, refuse("computing what can follow takes too long: repeat less, or leave less open")
		}
	}
	if len(m.kept) >= maxMasks {
		clear(m.kept)
	}
	m.kept[s] = list
	return list, nil
}
