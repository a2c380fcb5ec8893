package grammar

// automaton is a separately built automaton with its own end.
type automaton struct {
	*builder
	start int32
}

// alone builds a part of the grammar as a separate automaton.
func (b *builder) alone(part func(b *builder, next int32) int32) automaton {
	x := b.beside()
	return automaton{x, part(x, end)}
}

// all builds a part that reads a text accepted by all automata in the list.
func (b *builder) all(list []automaton, next int32) int32 {
	x := list[0]
	for _, y := range list[1:] {
		x = x.and(y)
	}
	return b.copy(x, next)
}

// and returns an automaton for the texts that both automata accept. It runs the two in parallel:
// each of its nodes is a pair of nodes, one from each automaton.
func (left automaton) and(right automaton) automaton {
	b := left.beside()
	if b.over() {
		return automaton{b, dead}
	}
	lefts, rights, made := needs(left.nodes), needs(right.nodes), map[[2]int32]int32{}
	var visit func(l, r int32) int32
	visit = func(l, r int32) int32 {
		at := [2]int32{l, r}
		if id, ok := made[at]; ok {
			return id
		}
		if lefts[l] == never || rights[r] == never {
			return dead
		}
		x, y := left.nodes[l], right.nodes[r]
		switch {
		case l == end && r == end:
			return end
		case !x.reads && l != end:
			made[at] = b.add(node{})
			for _, also := range x.also {
				b.lead(made[at], visit(also, r))
			}
		case !y.reads && r != end:
			made[at] = b.add(node{})
			for _, also := range y.also {
				b.lead(made[at], visit(l, also))
			}
		case x.reads && y.reads && max(x.lo, y.lo) <= min(x.hi, y.hi):
			made[at] = b.add(node{lo: max(x.lo, y.lo), hi: min(x.hi, y.hi), out: dead, reads: true})
			b.lead(made[at], visit(x.out, y.out))
		default:
			return dead
		}
		return made[at]
	}
	return automaton{b, visit(left.start, right.start)}
}

// copy copies those nodes of an automaton from which its end can be reached, with next in place of
// the end.
func (b *builder) copy(from automaton, next int32) int32 {
	if b.over() {
		return dead
	}
	need, made := needs(from.nodes), map[int32]int32{end: next}
	var visit func(id int32) int32
	visit = func(id int32) int32 {
		if to, ok := made[id]; ok {
			return to
		}
		if need[id] == never {
			return dead
		}
		n := from.nodes[id]
		if n.reads {
			made[id] = b.add(node{lo: n.lo, hi: n.hi, out: dead, reads: true})
			b.lead(made[id], visit(n.out))
			return made[id]
		}
		made[id] = b.add(node{})
		for _, also := range n.also {
			b.lead(made[id], visit(also))
		}
		return made[id]
	}
	return visit(from.start)
}

// lead connects the node `from` to the node `to`.
func (b *builder) lead(from, to int32) {
	switch n := &b.nodes[from]; {
	case from == dead || to == dead:
	case n.reads:
		n.out = to
	default:
		n.also = append(n.also, to)
	}
}
