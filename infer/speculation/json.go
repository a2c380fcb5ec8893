package speculation

import (
	"encoding/hex"
	"encoding/json"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
)

// This file defines the JSON form of the stages of speculative decoding. It is like the JSON form
// of [infer.Stage], but with "round" in place of "step".

type head struct {
	Round int    `json:"round,omitempty"`
	Stage string `json:"stage"`
}

type jsonCost struct {
	Passes    int        `json:"passes"`
	Positions int        `json:"positions"`
	MultAdds  int64      `json:"mult_adds"`
	Parts     cost.Parts `json:"parts"`
	NS        int64      `json:"ns"` // measured
}

func costJSON(c Cost) jsonCost {
	return jsonCost{c.Passes, c.Positions, c.Parts.Total(), c.Parts, c.Took.Nanoseconds()}
}

// jsonCandidate omits the fields that its stage does not set.
type jsonCandidate struct {
	infer.JSONToken
	Q *float64 `json:"q,omitempty"`
	P *float64 `json:"p,omitempty"`
	R *float64 `json:"r,omitempty"`
}

type jsonCandidateRest struct {
	N int      `json:"n"`
	Q *float64 `json:"q,omitempty"`
	P *float64 `json:"p,omitempty"`
	R *float64 `json:"r,omitempty"`
}

type jsonCandidates struct {
	Rows []jsonCandidate   `json:"rows"`
	Rest jsonCandidateRest `json:"rest"`
}

// known marks which of q, p and r a stage sets in its candidates.
type known struct{ q, p, r bool }

func (k known) pick(q, p, r float64) (jq, jp, jr *float64) {
	if k.q {
		jq = &q
	}
	if k.p {
		jp = &p
	}
	if k.r {
		jr = &r
	}
	return jq, jp, jr
}

func (k known) candidate(c Candidate) jsonCandidate {
	q, p, r := k.pick(c.Q, c.P, c.R)
	return jsonCandidate{c.Token.JSON(), q, p, r}
}

func (k known) candidates(c Candidates) jsonCandidates {
	out := jsonCandidates{Rows: make([]jsonCandidate, len(c.Rows))}
	for i, row := range c.Rows {
		out.Rows[i] = k.candidate(row)
	}
	q, p, r := k.pick(c.Rest.Q, c.Rest.P, c.Rest.R)
	out.Rest = jsonCandidateRest{c.Rest.N, q, p, r}
	return out
}

// unlessGreedy returns u, or nil under greedy decoding, which does not draw a random number.
func unlessGreedy(u float64, greedy bool) *float64 {
	if greedy {
		return nil
	}
	return &u
}

// MarshalJSON implements [Stage].
func (p Prefill) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		head
		Tokens int      `json:"tokens"`
		Draft  jsonCost `json:"draft"`
		Target jsonCost `json:"target"`
	}{head{Stage: p.Kind().String()}, p.Tokens, costJSON(p.Draft), costJSON(p.Target)})
}

// MarshalJSON implements [Stage]. "u" is null under greedy decoding.
func (p Propose) MarshalJSON() ([]byte, error) {
	type proposal struct {
		Step   int           `json:"step"`
		Chosen jsonCandidate `json:"chosen"`
		U      *float64      `json:"u"`
		From   float64       `json:"from"`
		To     float64       `json:"to"`
		jsonCandidates
	}
	k := known{q: true}
	list := make([]proposal, len(p.Drafted))
	for i, d := range p.Drafted {
		list[i] = proposal{
			d.Step, k.candidate(d.Chosen), unlessGreedy(d.U, p.Greedy), d.From, d.To, k.candidates(d.Candidates),
		}
	}
	return json.Marshal(struct {
		head
		Seed    uint64     `json:"seed"`
		Drafted []proposal `json:"drafted"`
		Draft   jsonCost   `json:"draft"`
	}{head{p.Round, p.Kind().String()}, p.Seed, list, costJSON(p.Cost)})
}

// MarshalJSON implements [Stage].
func (v Verify) MarshalJSON() ([]byte, error) {
	type scored struct {
		Step    int            `json:"step"`
		Drafted *jsonCandidate `json:"drafted,omitempty"`
		jsonCandidates
	}
	list := make([]scored, len(v.Scored))
	for i, at := range v.Scored {
		k := known{q: at.Drafted != nil, p: true}
		list[i] = scored{Step: at.Step, jsonCandidates: k.candidates(at.Candidates)}
		if at.Drafted != nil {
			d := k.candidate(*at.Drafted)
			list[i].Drafted = &d
		}
	}
	return json.Marshal(struct {
		head
		Scored []scored `json:"scored"`
		Target jsonCost `json:"target"`
	}{head{v.Round, v.Kind().String()}, list, costJSON(v.Cost)})
}

// MarshalJSON implements [Stage]. "u" is null under greedy decoding.
func (a Accept) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		head
		Step        int             `json:"step"`
		Token       infer.JSONToken `json:"token"`
		P           float64         `json:"p"`
		Q           float64         `json:"q"`
		Ratio       float64         `json:"ratio"`
		Probability float64         `json:"probability"`
		Seed        uint64          `json:"seed"`
		U           *float64        `json:"u"`
		Accepted    bool            `json:"accepted"`
	}{
		head{a.Round, a.Kind().String()},
		a.Step, a.Token.JSON(), a.P, a.Q, a.Ratio, a.Probability,
		a.Seed, unlessGreedy(a.U, a.Greedy), a.Accepted,
	})
}

type jsonDrawn struct {
	Step   int           `json:"step"`
	Seed   uint64        `json:"seed"`
	U      *float64      `json:"u"` // null under greedy decoding
	Chosen jsonCandidate `json:"chosen"`
	From   float64       `json:"from"`
	To     float64       `json:"to"`
	jsonCandidates
}

func drawnJSON(d Drawn, k known) jsonDrawn {
	return jsonDrawn{
		d.Step, d.Seed, unlessGreedy(d.U, d.Greedy), k.candidate(d.Chosen), d.From, d.To, k.candidates(d.Candidates),
	}
}

// MarshalJSON implements [Stage].
func (c Correct) MarshalJSON() ([]byte, error) {
	k := known{true, true, true}
	return json.Marshal(struct {
		head
		Refused jsonCandidate `json:"refused"`
		Mass    float64       `json:"mass"`
		jsonDrawn
	}{head{c.Round, c.Kind().String()}, k.candidate(c.Refused), c.Mass, drawnJSON(c.Drawn, k)})
}

// MarshalJSON implements [Stage].
func (b Bonus) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		head
		jsonDrawn
	}{head{b.Round, b.Kind().String()}, drawnJSON(b.Drawn, known{p: true})})
}

// MarshalJSON returns the counts with "acceptance" and "tokens_per_pass".
func (t Totals) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Rounds        int      `json:"rounds"`
		Drafted       int      `json:"drafted"`
		Judged        int      `json:"judged"`
		Accepted      int      `json:"accepted"`
		Generated     int      `json:"generated"`
		Acceptance    float64  `json:"acceptance"`
		TokensPerPass float64  `json:"tokens_per_pass"`
		PrefillDraft  jsonCost `json:"prefill_draft"`
		PrefillTarget jsonCost `json:"prefill_target"`
		Draft         jsonCost `json:"draft"`
		Target        jsonCost `json:"target"`
	}{
		t.Rounds, t.Drafted, t.Judged, t.Accepted, t.Generated, t.Acceptance(), t.TokensPerPass(),
		costJSON(t.PrefillDraft), costJSON(t.PrefillTarget), costJSON(t.Draft), costJSON(t.Target),
	})
}

// MarshalJSON implements [Stage]. Only the last round has "stop".
func (e Extend) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		head
		Drafted         int               `json:"drafted"`
		Accepted        int               `json:"accepted"`
		Tokens          []infer.JSONToken `json:"tokens"`
		Text            string            `json:"text"`
		Held            string            `json:"held,omitempty"` // hex
		Generated       int               `json:"generated"`
		Stop            infer.StopReason  `json:"stop,omitempty"`
		StopString      string            `json:"stop_string,omitempty"`
		DraftPositions  int               `json:"draft_positions"`
		TargetPositions int               `json:"target_positions"`
		Totals          Totals            `json:"totals"`
		NS              int64             `json:"ns"`
	}{
		head{e.Round, e.Kind().String()},
		e.Drafted, e.Accepted, infer.JSONTokens(e.Tokens), e.Text,
		hex.EncodeToString(e.Held), e.Generated, e.Stop, e.StopString, e.DraftPositions, e.TargetPositions,
		e.Totals, e.Took.Nanoseconds(),
	})
}
