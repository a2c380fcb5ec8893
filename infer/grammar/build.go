package grammar

import (
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/terms"
)

// end is the number of the node at which every text ends.
const end int32 = 0

// builder makes an automaton from its end to its beginning: each part is given the node
// that follows it and returns the node that it begins with. So what several parts have
// in common after them is built once.
type builder struct {
	nodes []node
	full  bool
}

func newBuilder() *builder { return &builder{nodes: []node{{}}} }

// grammar finishes the automaton that begins at a node.
func (b *builder) grammar(start int32) (*Grammar, error) {
	if b.full {
		return nil, refuse("it needs an automaton of more than %d nodes: repeat less, or nest less", maxNodes)
	}
	g := &Grammar{nodes: b.nodes}
	return g, g.finish(start)
}

// refuse says why a grammar is not taken.
func refuse(format string, args ...any) error {
	r := terms.Refuse(terms.CodeRange, "This grammar cannot be used: "+format+".", args...)
	r.Field = "grammar"
	return r
}

func (b *builder) add(n node) int32 {
	if len(b.nodes) >= maxNodes {
		b.full = true
		return end
	}
	b.nodes = append(b.nodes, n)
	return int32(len(b.nodes) - 1)
}

// bytes reads one byte from lo to hi.
func (b *builder) bytes(lo, hi byte, next int32) int32 {
	return b.add(node{lo: lo, hi: hi, out: next, reads: true})
}

// literal reads a text.
func (b *builder) literal(text string, next int32) int32 {
	for i := len(text) - 1; i >= 0; i-- {
		next = b.bytes(text[i], text[i], next)
	}
	return next
}

// either goes on at one of several nodes; without any, at none.
func (b *builder) either(list ...int32) int32 {
	if len(list) == 1 {
		return list[0]
	}
	return b.add(node{also: list})
}

// repeat reads a part least to most times; a negative most is without end.
func (b *builder) repeat(part func(next int32) int32, least, most int, next int32) int32 {
	if most < 0 {
		loop := b.add(node{})
		body := part(loop)
		if !b.full {
			b.nodes[loop].also = []int32{body, next}
		}
		next = loop
	} else {
		after := next
		for range most - least {
			if b.full {
				return end
			}
			next = b.either(part(next), after)
		}
	}
	for range least {
		if b.full {
			return end
		}
		next = part(next)
	}
	return next
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
	switch {
	case len(first) == 1:
		return []int32{b.bytes(first[0], last[0], next)}
	case first[0] == last[0]:
		return []int32{b.bytes(first[0], first[0], b.either(b.between(first[1:], last[1:], next)...))}
	}
	lowest, highest := make([]byte, len(first)-1), make([]byte, len(first)-1)
	for i := range lowest {
		lowest[i], highest[i] = 0x80, 0xbf
	}
	list := []int32{
		b.bytes(first[0], first[0], b.either(b.between(first[1:], highest, next)...)),
		b.bytes(last[0], last[0], b.either(b.between(lowest, last[1:], next)...)),
	}
	if last[0]-first[0] > 1 {
		list = append(list, b.bytes(first[0]+1, last[0]-1, b.either(b.between(lowest, highest, next)...)))
	}
	return list
}
