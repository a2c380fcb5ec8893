package grammar

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/terms"
)

// The nodes that every automaton has: every text ends at the node `end`, and a text that reaches
// the node `dead` cannot be completed.
const (
	end  int32 = 0
	dead int32 = 1
)

// budget limits the work of one compilation. Automata that are built separately for parts of a
// grammar share a budget.
type budget struct {
	work int
	full bool  // the budget is exhausted, so building has stopped
	err  error // the first error

	texts  map[string]automaton // automata for strings, by the strings' constraints
	counts map[span]automaton   // automata for strings, by the strings' lengths in characters
}

// spend adds to the amount of work done so far.
func (s *budget) spend(work int) {
	if s.work += work; s.work > maxBuilt {
		s.full = true
	}
}

// over reports whether the compilation must stop.
func (s *budget) over() bool { return s.full || s.err != nil }

// fail records the first error.
func (s *budget) fail(format string, args ...any) int32 {
	if s.err == nil {
		s.err = refuse(format, args...)
	}
	return dead
}

// builder builds an automaton from its end to its beginning: each method that adds a part takes the
// node after the part and returns the node at which the part begins. Parts that read the same bytes
// and continue at the same node are merged, so common suffixes are built once.
type builder struct {
	*budget
	nodes []node
	steps map[step]int32
	forks map[string]int32
}

// step is the range of bytes that a node reads and the node that follows.
type step struct {
	lo, hi byte
	out    int32
}

func newBuilder() *builder {
	s := budget{texts: map[string]automaton{}, counts: map[span]automaton{}}
	return s.beside()
}

// beside returns a builder for another automaton that shares the budget.
func (s *budget) beside() *builder {
	return &builder{s, []node{end: {}, dead: {}}, map[step]int32{}, map[string]int32{}}
}

// grammar returns a grammar whose automaton begins at the given node.
func (b *builder) grammar(start int32) (*Grammar, error) {
	switch {
	case b.err != nil:
		return nil, b.err
	case b.full:
		return nil, refuse("it requires an automaton with more than %d nodes: use fewer repetitions or less nesting",
			maxNodes)
	}
	g := &Grammar{nodes: b.nodes}
	return g, g.finish(start)
}

// matcher returns a function that reports whether the automaton that begins at the given node
// accepts a text. If the automaton could not be built, the function always returns false.
func (b *builder) matcher(start int32) func(text string) bool {
	g, err := b.grammar(start)
	return func(text string) bool { return err == nil && g.Matches([]byte(text)) }
}

// refuse returns an error that explains in English why a grammar is rejected.
func refuse(format string, args ...any) error {
	message := "This grammar cannot be used: " + fmt.Sprintf(format, args...) + "."
	return &terms.Refusal{Code: terms.CodeRange, Field: "grammar", Message: message}
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

// bytes builds a part that reads one byte from lo to hi.
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

// anyOf builds a part that reads one of the given bytes, which must be sorted.
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

// literal builds a part that reads exactly the given text.
func (b *builder) literal(text string, next int32) int32 {
	for i := len(text) - 1; i >= 0 && next != dead; i-- {
		next = b.bytes(text[i], text[i], next)
	}
	return next
}

// either returns a node that continues at any of the given nodes. If none are given, it returns
// dead.
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

// loop builds a part that can repeat. It calls `again` to build one repetition, passing the node at
// which the next repetition begins.
func (b *builder) loop(again func(self int32) int32) int32 {
	self := b.add(node{})
	b.lead(self, again(self))
	return self
}

// repeat builds a part that can be repeated from `least` to `most` times. If most is negative,
// there is no upper limit.
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

// machine builds a deterministic automaton from its first state: step returns the state that is
// reached from a state by reading a byte of the alphabet, and final reports whether a text can end
// in a state. The texts must have a maximum length. Equivalent states are merged, since the
// automaton is built backward from its ends.
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
		to := dead // the node after any byte from lo to hi
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

// runes builds a part that reads one character from lo to hi in UTF-8, excluding surrogates.
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

// between returns nodes that together read any byte string from first to last. Both strings have
// the same length, and in each of them, every byte after the first is from 0x80 to 0xbf.
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
