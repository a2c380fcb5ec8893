package grammar

import (
	"bytes"
	"math/bits"
	"slices"
)

// Vocabulary is the tokens of a model in the order of their bytes, so that what several
// begin with is read once. It never changes; runs share it.
type Vocabulary struct {
	all    int      // tokens, those without bytes included
	ids    []int32  // of tokens with bytes, in the order of these
	bytes  [][]byte // in that order
	shared []int32  // how many bytes each has in common with the one before
	ends   []int
}

// NewVocabulary takes the bytes of each token by its id, nil for one that stands for no
// text, and the ids of those that end a text.
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

// Masks says which tokens of a vocabulary may come next in a state of a grammar. It
// belongs to one goroutine at a time; those of several runs share the grammar.
type Masks struct {
	v    *Vocabulary
	kept map[*State][]int32
}

// maxMasks is how many states' needs are kept at a time: of a vocabulary of 150,000
// tokens each takes 600 kB.
const maxMasks = 4

// NewMasks prepares the masks of a vocabulary.
func NewMasks(v *Vocabulary) *Masks { return &Masks{v, map[*State][]int32{}} }

// Mask is what a grammar allows at a step. It never changes.
type Mask struct {
	set []uint64 // [vocab/64] a bit for each token id
	N   int      // how many are allowed
	// Closing says that tokens were left out because after them the text could no
	// longer be completed with the tokens that are left.
	Closing bool
	// Short says that the tokens that are left do not suffice to complete the text, so
	// that it may end before it is complete.
	Short bool
}

// Has reports whether a token is allowed.
func (m *Mask) Has(id int) bool { return m.set[id/64]>>(id%64)&1 == 1 }

// Bytes is the memory that the mask uses.
func (m *Mask) Bytes() int64 { return int64(8 * len(m.set)) }

func (m *Mask) allow(id int) { m.set[id/64] |= 1 << (id % 64) }

// Of is the mask in a state with so many tokens left to write, the next one and the one
// that ends the text among them; negative: without a limit. A token that ends the text is
// allowed where it is complete, and nothing else at the last token. Where tokens run
// short, those are left out after which the text needs more bytes than there are tokens
// left: a byte takes a token at most, wherever the vocabulary has all bytes. A mask
// without tokens means that no token of the vocabulary goes on here. The error is a
// refusal: what may follow would take too long to work out.
func (m *Masks) Of(s *State, left int) (*Mask, error) {
	needs, err := m.after(s)
	if err != nil {
		return nil, err
	}
	mask := &Mask{set: make([]uint64, (m.v.all+63)/64)}
	most := never
	if left >= 0 {
		most = left - 1 - min(len(m.v.ends), 1) // without the next one and the end
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

// after are the needs of the states after each token of the vocabulary, in its order;
// [never] where it may not come.
func (m *Masks) after(s *State) ([]int32, error) {
	if list, ok := m.kept[s]; ok {
		return list, nil
	}
	list := make([]int32, len(m.v.ids))
	g := s.g
	g.mu.Lock()
	defer g.mu.Unlock()
	g.work = 0
	path := []*State{s} // the states after each byte of the token before; nil where none may come
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
			return nil, refuse("what may follow here takes too long to work out: repeat less, or leave less open")
		}
	}
	if len(m.kept) >= maxMasks {
		clear(m.kept)
	}
	m.kept[s] = list
	return list, nil
}
