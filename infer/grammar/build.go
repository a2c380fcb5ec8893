package grammar

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/terms"
)

// end is the number of the node at which every text ends, dead of one that leads nowhere.
const (
	end  int32 = 0
	dead int32 = 1
)

// budget is what one compilation may spend. The parts of an automaton that are built
// beside it share it.
type budget struct {
	work int
	full bool  // too much was spent: nothing more is built
	err  error // the first refusal

	texts  map[string]automaton // of strings, by what they keep to
	counts map[span]automaton   // of so many characters
}

// spend takes some work from the budget.
func (s *budget) spend(work int) {
	if s.work += work; s.work > maxBuilt {
		s.full = true
	}
}

// over reports whether the compilation has come to its end.
func (s *budget) over() bool { return s.full || s.err != nil }

// fail keeps the first refusal.
func (s *budget) fail(format string, args ...any) int32 {
	if s.err == nil {
		s.err = refuse(format, args...)
	}
	return dead
}

// builder makes an automaton from its end to its beginning: each part is given the node
// that follows it and returns the node that it begins with. Two parts that read the same
// and go on at the same node are one, so what several have in common after them is built
// once.
type builder struct {
	*budget
	nodes []node
	steps map[step]int32
	forks map[string]int32
}

// step is what a node reads and where it goes.
type step struct {
	lo, hi byte
	out    int32
}

func newBuilder() *builder {
	s := budget{texts: map[string]automaton{}, counts: map[span]automaton{}}
	return s.beside()
}

// beside begins another automaton within the same budget.
func (s *budget) beside() *builder {
	return &builder{s, []node{end: {}, dead: {}}, map[step]int32{}, map[string]int32{}}
}

// grammar finishes the automaton that begins at a node.
func (b *builder) grammar(start int32) (*Grammar, error) {
	switch {
	case b.err != nil:
		return nil, b.err
	case b.full:
		return nil, refuse("it needs an automaton of more than %d nodes: repeat less, or nest less", maxNodes)
	}
	g := &Grammar{nodes: b.nodes}
	return g, g.finish(start)
}

// matcher says which texts the automaton takes that begins at a node; none if there is
// none.
func (b *builder) matcher(start int32) func(text string) bool {
	g, err := b.grammar(start)
	return func(text string) bool { return err == nil && g.Matches([]byte(text)) }
}

// refuse says why a grammar is not taken.
func refuse(format string, args ...any) error {
	r := terms.Refuse(terms.CodeRange, "This grammar cannot be used: "+format+".", args...)
	r.Field = "grammar"
	return r
}

func (b *builder) add(n node) int32 {
	if b.spend(1); len(b.nodes) >= maxNodes {
		b.full = true
	}
	if b.over() {
		return dead
	}
	b.nodes = append(b.nodes, n)
	return int32(len(b.nodes) - 1)
}

// bytes reads one byte from lo to hi.
func (b *builder) bytes(lo, hi byte, next int32) int32 {
	if b.spend(1); next == dead {
		return dead
	}
	s := step{lo, hi, next}
	id, ok := b.steps[s]
	if !ok {
		id = b.add(node{lo: lo, hi: hi, out: next, reads: true})
		b.steps[s] = id
	}
	return id
}

// anyOf reads one of some bytes, which are in order.
func (b *builder) anyOf(bytes string, next int32) int32 {
	var list []int32
	for from, i := 0, 1; i <= len(bytes); i++ {
		if i == len(bytes) || bytes[i] != bytes[i-1]+1 {
			list = append(list, b.bytes(bytes[from], bytes[i-1], next))
			from = i
		}
	}
	return b.either(list...)
}

// literal reads a text.
func (b *builder) literal(text string, next int32) int32 {
	for i := len(text) - 1; i >= 0 && next != dead; i-- {
		next = b.bytes(text[i], text[i], next)
	}
	return next
}

// either goes on at one of several nodes; without any, at none.
func (b *builder) either(list ...int32) int32 {
	list = slices.DeleteFunc(slices.Clone(list), func(id int32) bool { return id == dead })
	slices.Sort(list)
	switch list = slices.Compact(list); len(list) {
	case 0:
		return dead
	case 1:
		return list[0]
	}
	b.spend(len(list))
	key := keyOf(list)
	id, ok := b.forks[key]
	if !ok {
		id = b.add(node{also: list})
		b.forks[key] = id
	}
	return id
}

// loop builds what may come again: again gets the node that it comes back to.
func (b *builder) loop(again func(self int32) int32) int32 {
	self := b.add(node{})
	b.lead(self, again(self))
	return self
}

// repeat reads a part least to most times; a negative most is without end.
func (b *builder) repeat(part func(next int32) int32, least, most int, next int32) int32 {
	if most < 0 {
		after := next
		next = b.loop(func(self int32) int32 { return b.either(part(self), after) })
	} else {
		after := next
		for i := least; i < most && !b.over(); i++ {
			b.spend(1)
			next = b.either(part(next), after)
		}
	}
	for i := 0; i < least && !b.over(); i++ {
		b.spend(1)
		next = part(next)
	}
	return next
}

// machine builds a deterministic automaton from its first state: step says where a byte
// of the alphabet leads, final whether a text may end in a state. The texts must have a
// greatest length. Since it is built from its ends, states from which the same may follow
// are one.
func machine[S comparable](
	b *builder, first S, alphabet string, step func(S, byte) (S, bool), final func(S) bool, next int32,
) int32 {
	built := map[S]int32{}
	var build func(S) int32
	build = func(s S) int32 {
		if id, ok := built[s]; ok {
			return id
		}
		if b.over() {
			return dead
		}
		b.spend(len(alphabet))
		var list []int32
		var lo, hi byte
		to := dead // where all bytes from lo to hi lead
		for i := range len(alphabet) {
			id := dead
			if after, ok := step(s, alphabet[i]); ok {
				id = build(after)
			}
			if id != to || alphabet[i] != hi+1 {
				list = append(list, b.bytes(lo, hi, to))
				lo, to = alphabet[i], id
			}
			hi = alphabet[i]
		}
		list = append(list, b.bytes(lo, hi, to))
		if final(s) {
			list = append(list, next)
		}
		built[s] = b.either(list...)
		return built[s]
	}
	return build(first)
}

// runes reads one character from lo to hi as UTF-8. Surrogates are left out.
func (b *builder) runes(lo, hi rune, next int32) int32 {
	var list []int32
	for _, piece := range [][2]rune{
		{0, 0x7f}, {0x80, 0x7ff}, {0x800, 0xd7ff}, {0xe000, 0xffff}, {0x10000, utf8.MaxRune},
	} {
		from, to := max(lo, piece[0]), min(hi, piece[1])
		if from <= to {
			first, last := utf8.AppendRune(nil, from), utf8.AppendRune(nil, to)
			list = append(list, b.between(first, last, next)...)
		}
	}
	return b.either(list...)
}

// between reads the byte strings from first to last, which are equally long, where all
// bytes but the first go from 0x80 to 0xbf.
func (b *builder) between(first, last []byte, next int32) []int32 {
	lo, hi := first[0], last[0]
	switch {
	case len(first) == 1:
		return []int32{b.bytes(lo, hi, next)}
	case lo == hi:
		return []int32{b.bytes(lo, lo, b.either(b.between(first[1:], last[1:], next)...))}
	}
	lowest, highest := bytes.Repeat([]byte{0x80}, len(first)-1), bytes.Repeat([]byte{0xbf}, len(first)-1)
	var list []int32
	if !bytes.Equal(first[1:], lowest) {
		list = append(list, b.bytes(lo, lo, b.either(b.between(first[1:], highest, next)...)))
		lo++
	}
	if !bytes.Equal(last[1:], highest) {
		list = append(list, b.bytes(hi, hi, b.either(b.between(lowest, last[1:], next)...)))
		hi--
	}
	if lo <= hi {
		list = append(list, b.bytes(lo, hi, b.either(b.between(lowest, highest, next)...)))
	}
	return list
}
