package grammar

import (
	"bytes"
	"math/bits"
	"slices"
)

// Vocabulary holds the tokens of a model in the order of their bytes, so a prefix shared by several
// tokens is read only once. It is immutable, and several runs can share it.
type Vocabulary struct {
	all    int      // number of tokens, including tokens without bytes
	ids    []int32  // ids of the tokens with bytes, in the order of their bytes
	bytes  [][]byte // the tokens' bytes, in the same order
	shared []int32  // length of the prefix that each token shares with the previous one
	ends   []int
}

// NewVocabulary returns a vocabulary. tokens holds the bytes of each token by id, which are nil for
// a token that represents no text. ends holds the ids of the tokens that end a text.
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

// Masks computes which tokens of a vocabulary can come next in a given state of a grammar. It is
// not safe for concurrent use, but several runs, each with its own Masks, can share a grammar.
type Masks struct {
	v    *Vocabulary
	kept map[*State][]int32
}

// maxMasks is the number of states for which [Masks.after]'s results are cached. With a vocabulary
// of 150,000 tokens, a result takes 600 kB.
const maxMasks = 4

// NewMasks returns a Masks for a vocabulary.
func NewMasks(v *Vocabulary) *Masks { return &Masks{v, map[*State][]int32{}} }

// Mask is the set of tokens that a grammar allows as the next token. It is immutable.
type Mask struct {
	set []uint64 // [vocab/64], with a bit for each token id
	N   int      // the number of allowed tokens
	// Closing is set if tokens were excluded because too few tokens would be left after them to
	// complete the text.
	Closing bool
	// Short is set if too few tokens remain to complete the text, so the text may end incomplete.
	Short bool
}

// Has reports whether a token is allowed.
func (m *Mask) Has(id int) bool { return m.set[id/64]>>(id%64)&1 == 1 }

// Bytes returns the memory that the mask uses.
func (m *Mask) Bytes() int64 { return int64(8 * len(m.set)) }

func (m *Mask) allow(id int) { m.set[id/64] |= 1 << (id % 64) }

// Of returns the mask for a state when `left` tokens remain to be generated, including the next
// token and the token that ends the text. A negative left means no limit. A token that ends the
// text is allowed only if the text is complete. The last token must end the text, so Of excludes
// tokens after which the text would need more bytes than there are tokens left. (If every byte is a
// token, each byte takes at most one token.) An empty mask means that no token of the vocabulary
// can continue the text. If computing the mask would take too long, Of returns a refusal.
func (m *Masks) Of(s *State, left int) (*Mask, error) {
	needs, err := m.after(s)
	if err != nil {
		return nil, err
	}
	mask := &Mask{set: make([]uint64, (m.v.all+63)/64)}
	most := never
	if left >= 0 {
		most = left - 1 - min(len(m.v.ends), 1) // excluding the next token and the token that ends the text
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

// after returns, for each token in the vocabulary's order, the need of the state after that token.
// The need is [never] for a token that cannot come next.
func (m *Masks) after(s *State) ([]int32, error) {
	if list, ok := m.kept[s]; ok {
		return list, nil
	}
	list := make([]int32, len(m.v.ids))
	g := s.g
	g.mu.Lock()
	defer g.mu.Unlock()
	g.work = 0
	path := []*State{s} // the state after each byte of the previous token; nil if the byte cannot come next
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
			return nil, refuse("computing what can come next takes too long: use fewer repetitions or stricter rules")
		}
	}
	if len(m.kept) >= maxMasks {
		clear(m.kept)
	}
	m.kept[s] = list
	return list, nil
}
