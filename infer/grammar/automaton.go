// Package grammar constrains output to a language: the JSON texts that fit a schema, or the texts
// that match a regular expression.
//
// Either kind of source is compiled to an automaton over bytes ([FromSchema], [FromRegexp]). Each
// [State] determines which bytes can come next, whether the text is complete, and the minimum
// number of bytes that complete it. [Masks] turns a state into the tokens of a vocabulary that can
// come next. With a token budget, it allows only tokens after which the text can still be
// completed.
//
// A schema without recursion describes a regular language, since its depth is bounded and an
// object's properties are generated in the order in which the schema lists them. So a finite
// automaton is enough. It has no dead ends: nodes that cannot lead to a complete text are removed,
// and a schema that does not fit any text is rejected.
//
// States are computed on demand (Thompson 1968) and cached. Schemas, expressions and the automaton
// have size limits; an error names the limit that was exceeded.
package grammar

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"
)

// Limits on compilation and caching.
const (
	MaxSource = 64 << 10 // bytes in a schema or an expression
	maxNodes  = 20_000   // nodes of the automaton
	maxBuilt  = 150_000  // nodes requested during construction; takes about 20 ms
	maxStates = 5_000    // states cached at a time; others are recomputed when needed
	maxHeld   = 2 << 20  // nodes in all cached states, which take about 16 MB
	maxWork   = 1 << 20  // nodes visited for one mask; takes about 100 ms
)

// Grammar is a language as an automaton. It is safe for concurrent use.
type Grammar struct {
	nodes []node
	need  []int32 // by node: minimum number of bytes to the end; [never] for dead ends
	start *State

	mu     sync.Mutex
	states map[string]*State
	held   int // number of nodes in the cached states
	work   int // number of nodes visited since `work` was last reset
}

// never is the need of a node from which the end cannot be reached.
const never = math.MaxInt32

// node is a state of the nondeterministic automaton. It either reads one byte from lo to hi and
// moves to `out`, or moves to all nodes in `also` without reading. The last node is the end.
type node struct {
	lo, hi byte
	out    int32
	also   []int32
	reads  bool
}

// State is the automaton's state after a prefix of a text. It is immutable once it has been
// returned.
type State struct {
	g        *Grammar
	nodes    []int32 // the nodes that read a byte, in order
	complete bool
	need     int
	next     [256]*State // computed on demand, under the grammar's lock
	known    [256]bool
}

// finish computes the need of each node, and rejects an empty language.
func (g *Grammar) finish(start int32) error {
	if g.need = needs(g.nodes); g.need[start] == never {
		return refuse("no text can match it: it contradicts itself")
	}
	g.states = map[string]*State{}
	g.start = g.state([]int32{start})
	return nil
}

// needs returns the minimum number of bytes from each node to the end.
func needs(nodes []node) []int32 {
	need, before := make([]int32, len(nodes)), make([][]int32, len(nodes))
	for i, n := range nodes {
		need[i] = never
		for _, to := range n.also {
			before[to] = append(before[to], int32(i))
		}
		if n.reads {
			before[n.out] = append(before[n.out], int32(i))
		}
	}
	need[end] = 0
	for level := []int32{end}; len(level) > 0; { // nodes in ascending order of need
		var after []int32
		for i := 0; i < len(level); i++ {
			for _, from := range before[level[i]] {
				switch n := need[level[i]]; {
				case nodes[from].reads && need[from] > n+1:
					need[from] = n + 1
					after = append(after, from)
				case !nodes[from].reads && need[from] > n:
					need[from] = n
					level = append(level, from)
				}
			}
		}
		level = after
	}
	return need
}

// Start returns the state before the first byte.
func (g *Grammar) Start() *State { return g.start }

// state returns the state for the given nodes, including all nodes that can be reached from them
// without reading a byte.
func (g *Grammar) state(from []int32) *State {
	seen := make(map[int32]bool, 2*len(from))
	s := &State{g: g, need: never}
	for stack := slices.Clone(from); len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[i] || g.need[i] == never {
			continue
		}
		seen[i] = true
		s.need = min(s.need, int(g.need[i]))
		switch n := g.nodes[i]; {
		case i == end:
			s.complete = true
		case n.reads:
			s.nodes = append(s.nodes, i)
		default:
			stack = append(stack, n.also...)
		}
	}
	g.work += len(seen)
	slices.Sort(s.nodes)
	key := keyOf(s.nodes)
	if s.complete {
		key += "."
	}
	if old, ok := g.states[key]; ok {
		return old
	}
	if len(g.states) >= maxStates || g.held+len(s.nodes) > maxHeld {
		g.forget()
	}
	g.states[key] = s
	g.held += len(s.nodes)
	return s
}

// keyOf returns a list of nodes as a map key.
func keyOf(nodes []int32) string {
	key := make([]byte, 0, 4*len(nodes))
	for _, i := range nodes {
		key = binary.LittleEndian.AppendUint32(key, uint32(i))
	}
	return string(key)
}

// forget drops all cached states. States that a caller still holds remain usable.
func (g *Grammar) forget() {
	for _, s := range g.states {
		s.next, s.known = [256]*State{}, [256]bool{}
	}
	clear(g.states)
	g.held = 0
}

// Next returns the state after reading text from s, or nil if no text in the language continues
// with it.
func (s *State) Next(text []byte) *State {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	for _, b := range text {
		if s = s.after(b); s == nil {
			return nil
		}
	}
	return s
}

func (s *State) after(b byte) *State {
	if s.known[b] {
		return s.next[b]
	}
	var to []int32
	s.g.work += len(s.nodes)
	for _, i := range s.nodes {
		if n := s.g.nodes[i]; n.lo <= b && b <= n.hi && s.g.need[n.out] != never {
			to = append(to, n.out)
		}
	}
	var next *State
	if len(to) > 0 {
		next = s.g.state(to)
	}
	s.next[b], s.known[b] = next, true
	return next
}

// Complete reports whether the text so far is in the language.
func (s *State) Complete() bool { return s.complete }

// Ends reports whether the text must end here because no byte can come next.
func (s *State) Ends() bool { return len(s.nodes) == 0 }

// Need returns the minimum number of bytes that complete the text. It is 0 if the text is complete.
func (s *State) Need() int { return s.need }

// Matches reports whether a text is in the language.
func (g *Grammar) Matches(text []byte) bool {
	s := g.start.Next(text)
	return s != nil && s.complete
}
