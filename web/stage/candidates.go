package stage

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Candidates lists the most likely next tokens, with the values that are known at a stage. It is a
// short version of [Table], for the home page and lessons.
type Candidates struct {
	Stage int
	Rows  []Candidate
	Rest  Candidate // the total of all other tokens
	More  string    // "and 4,090 more tokens"
	Mass  string    // ", 0.3747 in all", known from the softmax on
	// Walked is set if a page contains all stages and its styles show them one after another. The
	// pick must then not be revealed before the draw.
	Walked bool
}

// Candidate is a possible next token. Fields that are not known yet are "".
type Candidate struct {
	Text       Text
	Z, P, Q    string
	BarP, BarQ string // SVG lengths
	Cut, Pick  bool
}

// NewCandidates lists the n most likely tokens at a stage of the step shown. The step's logits
// stage must have run.
func (w Words) NewCandidates(s *session.State, at infer.Kind, n int) Candidates {
	var rows infer.Rows
	switch st := s.StageOf(min(at, infer.KindFilter), n).(type) {
	case infer.Logits:
		rows = st.Rows
	case infer.Softmax:
		rows = st.Rows
	case infer.Filter:
		rows = st.Rows
	}
	v := Candidates{
		Stage: int(at), Rest: Candidate{Text: Text{{S: w.Counted(rows.Rest.N, "other")}}},
		More: w.T("candidates.more", "tokens", w.Counted(rows.Rest.N, "more token")),
	}
	if at >= infer.KindSoftmax {
		v.Rest.P, v.Rest.BarP = terms.Prob(rows.Rest.P), Share(rows.Rest.P)
		v.Mass = w.T("candidates.mass", "p", terms.Prob(rows.Rest.P))
	}
	if at >= infer.KindFilter {
		v.Rest.Q, v.Rest.BarQ, v.Rest.Cut = terms.Prob(rows.Rest.Q), Share(rows.Rest.Q), rows.Rest.Kept == 0
	}
	for _, r := range rows.Rows {
		c := Candidate{Text: TokenText(r.Token), Z: terms.Logit(float64(r.Z))}
		if at >= infer.KindSoftmax {
			c.P, c.BarP = terms.Prob(r.P), Share(r.P)
		}
		if at >= infer.KindFilter {
			c.Cut = !r.Kept
			if r.Kept {
				c.Q, c.BarQ = terms.Prob(r.Q), Share(r.Q)
			}
		}
		c.Pick = at >= infer.KindSample && r.ID == s.Step().Chosen
		v.Rows = append(v.Rows, c)
	}
	return v
}
