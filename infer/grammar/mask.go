package grammar

// Masks says which tokens of a vocabulary may come next in a state of a grammar. It
// belongs to one goroutine at a time; those of several runs share the grammar.
type Masks struct {
	tokens [][]byte // [vocab] the bytes of each; none for tokens that are no text
	ends   []int    // ids of the tokens that end the text
	kept   map[*State][]*State
}

// maxMasks is how many masks are kept at a time: of a vocabulary of 150,000 tokens each
// takes 1.2 MB.
const maxMasks = 8

// NewMasks prepares the masks of a vocabulary: the bytes of each token by its id, nil
// for one that stands for no text, and the ids of those that end a text.
func NewMasks(tokens [][]byte, ends []int) *Masks {
	return &Masks{tokens, ends, map[*State][]*State{}}
}

// Mask is what a grammar allows at a step.
type Mask struct {
	Allowed []bool // [vocab] by token id
	N       int    // how many
	// Closing says that tokens were left out because after them the text could no
	// longer be completed with the tokens that are left.
	Closing bool
	// Short says that the tokens that are left do not suffice to complete the text, so
	// that it may end before it is complete.
	Short bool
}

// Of is the mask in a state with so many tokens left to write, the next one among them;
// negative: without a limit. A token that ends the text is allowed where it is complete.
// Where tokens run short, those are left out after which the text needs more bytes than
// there are tokens left: a byte takes a token at most, wherever the vocabulary has all
// bytes. A mask without tokens means that no token of the vocabulary goes on here.
func (m *Masks) Of(s *State, left int) Mask {
	mask := Mask{Allowed: make([]bool, len(m.tokens))}
	after := m.after(s)
	allow := func(most int) (leftOut bool) {
		for id, next := range after {
			switch {
			case next == nil:
			case most >= 0 && next.need > most:
				leftOut = true
			default:
				mask.Allowed[id] = true
				mask.N++
			}
		}
		return leftOut
	}
	if left < 0 {
		allow(-1)
	} else {
		mask.Closing = allow(max(left-1, 0))
	}
	if s.complete {
		for _, id := range m.ends {
			mask.Allowed[id] = true
			mask.N++
		}
	}
	if mask.N == 0 && mask.Closing {
		mask.Closing, mask.Short = false, true
		allow(-1)
	}
	return mask
}

// Next is the state after a token, or nil where it is not allowed.
func (m *Masks) Next(s *State, id int) *State { return m.after(s)[id] }

// after are the states after each token: [vocab], nil where it may not come.
func (m *Masks) after(s *State) []*State {
	if list, ok := m.kept[s]; ok {
		return list
	}
	list := make([]*State, len(m.tokens))
	var first [256]*State
	for b := range first {
		first[b] = s.Next([]byte{byte(b)})
	}
	for id, text := range m.tokens {
		if len(text) > 0 && first[text[0]] != nil {
			list[id] = first[text[0]].Next(text[1:])
		}
	}
	if len(m.kept) >= maxMasks {
		clear(m.kept)
	}
	m.kept[s] = list
	return list
}
