package loop

import (
	"cmp"
	"slices"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// answers holds the answer to a query in the form that viz.json.v1 sends. Only the field named
// after the query is set.
type answers struct {
	Peek   *peekAnswer   `json:"peek,omitempty"`
	Find   *foundAnswer  `json:"find,omitempty"`
	Found  *foundAnswer  `json:"found,omitempty"` // the former name of Find; both are sent
	Head   *headAnswer   `json:"head,omitempty"`
	Inside *insideAnswer `json:"inside,omitempty"`
	Zoom   *zoomAnswer   `json:"zoom,omitempty"`
}

// piecesAnswer lists the tokens that a text splits into.
type piecesAnswer struct {
	Pieces []infer.Token `json:"pieces"`
}

// choice is a token that a step might draw. As in the rows of stages, the token's id and text are
// separate fields.
type choice struct {
	ID    int         `json:"id"`
	Text  string      `json:"text"`
	Token infer.Token `json:"token"`
	Rank  int         `json:"rank"` // 1 for the most probable
	P     float64     `json:"p"`    // after the temperature, before the filters
}

func newChoice(t infer.Token, rank int, p float64) choice { return choice{t.ID, t.Text, t, rank, p} }

type peekAnswer struct {
	Step int `json:"step"`
	choice
	Q       float64  `json:"q"`       // after the filters
	Entropy float64  `json:"entropy"` // bits
	Forced  bool     `json:"forced,omitempty"`
	Others  []choice `json:"others"`
}

type foundAnswer struct {
	Step   int      `json:"step"`
	Tokens []choice `json:"tokens"`
	More   int      `json:"more"` // number of additional tokens that match
}

type headAnswer struct {
	Block int    `json:"block"`
	Head  int    `json:"head"`
	Reads []read `json:"reads"` // the largest weights, in descending order
	Rest  rest   `json:"rest"`
}

type read struct {
	Position int         `json:"position"` // from 0
	Token    infer.Token `json:"token"`
	Weight   float32     `json:"weight"`
}

type rest struct {
	N      int     `json:"n"`
	Weight float64 `json:"weight"`
}

type insideAnswer struct {
	Block  int    `json:"block"`
	Query  tensor `json:"q"`   // [heads, headDim], rotated
	Key    tensor `json:"k"`   // [kvHeads, headDim], rotated
	Value  tensor `json:"v"`   // [kvHeads, headDim]
	Hidden tensor `json:"ffn"` // [ffn], silu(gate) · up; for GPT-2, gelu(up)
}

type tensor struct {
	Shape  []int     `json:"shape"`
	Values []float32 `json:"values"` // in row-major order
}

func (e *jsonEncoder) answer(m *wire.Message, name string, q *query, st *session.State) error {
	a := &answers{}
	m.Fields = a
	switch name {
	case "peek":
		a.Peek = peekOf(st, q.step)
	case "find":
		a.Find = foundIn(st, q.step, q.text)
		a.Found = a.Find
	case "head":
		a.Head = attentionOf(st, q.block, q.head)
	case "inside":
		a.Inside = insideOf(st, q.block)
	case "zoom":
		a.Zoom = zoomOf(st, q)
	}
	return nil
}

func peekOf(st *session.State, step int) *peekAnswer {
	s, d := st.Steps[step-1], st.DistAt(step)
	a := &peekAnswer{
		Step: step, choice: newChoice(st.Model.Token(s.Chosen), s.Rank, s.P),
		Q: s.Q, Entropy: s.Entropy, Forced: s.Forced,
	}
	for r, id := range d.Order[:min(peekOthers+1, len(d.Order))] {
		if int(id) != s.Chosen && len(a.Others) < peekOthers {
			a.Others = append(a.Others, newChoice(st.Model.Token(int(id)), r+1, d.P[id]))
		}
	}
	return a
}

func foundIn(st *session.State, step int, text string) *foundAnswer {
	ids, more := st.Find(step, text, findMost)
	a := &foundAnswer{Step: step, Tokens: []choice{}, More: more}
	d := st.DistAt(step)
	for _, id := range ids {
		a.Tokens = append(a.Tokens, newChoice(st.Model.Token(id), d.RankOf(int32(id))+1, d.P[id]))
	}
	return a
}

func attentionOf(st *session.State, block, head int) *headAnswer {
	w := st.Look.Blocks[block-1].Attention[head-1]
	var text []infer.Token // up to and including the position shown
	text = append(text, st.PromptTokens...)
	for _, s := range st.Steps[:st.Cursor.Step-1] {
		text = append(text, st.Model.Token(s.Chosen))
	}
	a := &headAnswer{Block: block, Head: head}
	for i, t := range text[:len(w)] {
		a.Reads = append(a.Reads, read{i, t, w[i]})
	}
	slices.SortStableFunc(a.Reads, func(x, y read) int { return cmp.Compare(y.Weight, x.Weight) })
	for _, r := range a.Reads[min(headMost, len(a.Reads)):] {
		a.Rest.N++
		a.Rest.Weight += float64(r.Weight)
	}
	a.Reads = a.Reads[:min(headMost, len(a.Reads))]
	return a
}

func insideOf(st *session.State, block int) *insideAnswer {
	b, c := st.Look.Blocks[block-1], st.Model.Config()
	rows := func(values []float32, n int) tensor { return tensor{[]int{n, len(values) / n}, values} }
	return &insideAnswer{
		Block: block, Query: rows(b.Query, c.Heads), Key: rows(b.Key, c.KVHeads), Value: rows(b.Value, c.KVHeads),
		Hidden: tensor{[]int{len(b.Hidden)}, b.Hidden},
	}
}

// zoomAnswer describes a block, or the output of one of its heads. If the state does not include
// the inside view of the pass, Look is false and the other fields are empty.
type zoomAnswer struct {
	Block   int         `json:"block"`
	Head    int         `json:"head,omitempty"`
	Look    bool        `json:"look"`
	Norms   []float64   `json:"norms,omitempty"`   // before the block, after its attention, after the block
	Weights [][]float32 `json:"weights,omitempty"` // [heads][positions], or only the requested head
	Terms   []zoomTerm  `json:"terms,omitempty"`   // terms of the sum, largest weights first
	Sum     []float32   `json:"sum,omitempty"`     // [headDim]
}

type zoomTerm struct {
	Position int       `json:"position"` // from 0
	Weight   float32   `json:"weight"`
	Value    []float32 `json:"value"`
}

func zoomOf(st *session.State, q *query) *zoomAnswer {
	a := &zoomAnswer{Block: q.block, Head: q.head, Look: st.Look != nil}
	if !a.Look {
		return a
	}
	b := st.Look.Blocks[q.block-1]
	if q.head == 0 {
		a.Norms, a.Weights = []float64{b.NormIn, b.NormMid, b.NormOut}, b.Attention
		return a
	}
	a.Weights = b.Attention[q.head-1 : q.head]
	if q.sum {
		for _, t := range b.Mixes[q.head-1].Terms {
			a.Terms = append(a.Terms, zoomTerm{t.Position, a.Weights[0][t.Position], t.Value})
		}
		a.Sum = b.Mixes[q.head-1].Sum
	}
	return a
}
