package loop

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// query asks for details of a run's state and changes nothing. Its name (peek, find, head, inside
// or zoom) determines which fields are used.
type query struct {
	step        int
	text        string
	block, head int // from 1; head is 0 for a whole block
	sum         bool
}

// Limits on the lists in an answer.
const (
	peekOthers = 4  // alternatives to a token
	findMost   = 12 // tokens that match a search
	headMost   = 16 // positions that a head reads
	findBytes  = 64 // longest search text, since all tokens are shorter
)

// check refuses a query that the state cannot answer.
func (q *query) check(name string, st *session.State) *terms.Refusal {
	if !st.Started() {
		return terms.Refuse(session.CodeOrder, "run.text.none")
	}
	switch name {
	case "peek":
		return q.checkStep(st, infer.KindSample, "loop.want.drawn")
	case "find":
		if len(q.text) > findBytes {
			return terms.RefuseField(
				"text", terms.PhraseOf("got.bytes", "n", fmt.Sprint(len(q.text))),
				terms.PhraseOf("loop.want.bytes", "most", fmt.Sprint(findBytes)),
			)
		}
		return q.checkStep(st, infer.KindLogits, "loop.want.scored")
	case "zoom":
		return q.checkZoom(st)
	}
	if st.Look == nil {
		return terms.Refuse(session.CodeOrder, "loop.look.none")
	}
	return q.checkHead(st, name == "head")
}

// checkZoom refuses parts that the model does not have. If there is nothing to see at this stage,
// the query is not refused, since its answer says so.
func (q *query) checkZoom(st *session.State) *terms.Refusal {
	return q.checkHead(st, q.sum || q.head != 0)
}

// checkHead refuses a block that the model does not have and, if head is set, a head that the
// block does not have.
func (q *query) checkHead(st *session.State, head bool) *terms.Refusal {
	c := st.Model.Config()
	blocks := c.Layers
	if q.block < 1 || q.block > blocks {
		return terms.RefuseField("block", q.block, terms.PhraseOf("loop.want.part", "last", fmt.Sprint(blocks)))
	}
	if head && (q.head < 1 || q.head > c.Heads) {
		return terms.RefuseField("head", q.head, terms.PhraseOf("loop.want.part", "last", fmt.Sprint(c.Heads)))
	}
	return nil
}

// checkStep refuses a step at which the stage has not run. want is the key of the text that describes
// the accepted steps.
func (q *query) checkStep(st *session.State, ran infer.Kind, want string) *terms.Refusal {
	if q.step < 1 || q.step > len(st.Steps) || st.Steps[q.step-1].Ran < ran {
		last := len(st.Steps)
		if st.Steps[last-1].Ran < ran {
			last--
		}
		if last == 0 {
			want += ".none"
		}
		return terms.RefuseField("step", q.step, terms.PhraseOf(want, "last", fmt.Sprint(last)))
	}
	return nil
}
