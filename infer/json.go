package infer

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// This file defines the JSON form of the stages, one object each. `viz trace -json` prints it, and
// the viz.json.v1 socket sends it. STAGES.md documents it.

// JSONToken is the JSON form of a [Token], for structs that embed it.
type JSONToken struct {
	ID      int    `json:"id"`
	Text    string `json:"text"`
	Bytes   string `json:"bytes,omitempty"` // in hex, if the token is not whole UTF-8
	Special bool   `json:"special,omitempty"`
}

// JSON returns the token's JSON form.
func (t Token) JSON() JSONToken {
	return JSONToken{t.ID, t.Text, hex.EncodeToString(t.Bytes), t.Special}
}

// JSONTokens returns the JSON forms of tokens; it is never nil.
func JSONTokens(list []Token) []JSONToken {
	out := make([]JSONToken, len(list))
	for i, t := range list {
		out[i] = t.JSON()
	}
	return out
}

// MarshalJSON returns {"id", "text"}, with "bytes" in hex if the token is not valid UTF-8.
func (t Token) MarshalJSON() ([]byte, error) { return json.Marshal(t.JSON()) }

type jsonHead struct {
	Step  int    `json:"step"`
	Stage string `json:"stage"`
}

type jsonCost struct {
	MultAdds int64 `json:"mult_adds,omitempty"`
	NS       int64 `json:"ns"` // measured
}

func headJSON(h Head, k Kind) (jsonHead, jsonCost) {
	return jsonHead{h.Step, k.String()}, jsonCost{h.MultAdds, h.Took.Nanoseconds()}
}

type jsonRow struct {
	JSONToken
	Rank int      `json:"rank"`
	Z    float32  `json:"z"`
	Raw  *float32 `json:"z_raw,omitempty"` // if it differs
}

type jsonSoftmaxRow struct {
	jsonRow
	P   float64 `json:"p"`
	Cum float64 `json:"cum"`
}

type jsonFilterRow struct {
	jsonSoftmaxRow
	Kept  bool          `json:"kept"`
	CutBy sampling.Rule `json:"cut_by,omitempty"`
	Q     float64       `json:"q"`
}

type jsonRest struct {
	N    int      `json:"n"`
	P    *float64 `json:"p,omitempty"` // from the softmax on
	Kept *int     `json:"kept,omitempty"`
	Q    *float64 `json:"q,omitempty"`
}

func rowJSON(r Row) jsonRow {
	j := jsonRow{r.Token.JSON(), r.Rank, r.Z, nil}
	if r.Raw != r.Z {
		j.Raw = &r.Raw
	}
	return j
}

type jsonPenalized struct {
	JSONToken
	Z   float32 `json:"z"`
	Raw float32 `json:"z_raw"`
}

type jsonPenalty struct {
	Theta     float64         `json:"repetition_penalty,omitempty"`
	Frequency float64         `json:"frequency_penalty,omitempty"`
	Presence  float64         `json:"presence_penalty,omitempty"`
	Bias      sampling.Bias   `json:"logit_bias,omitempty"`
	DRY       float64         `json:"dry_multiplier,omitempty"`
	N         int             `json:"n"`
	Tokens    []jsonPenalized `json:"tokens"`
}

func penaltyJSON(p *Penalty) *jsonPenalty {
	if p == nil {
		return nil
	}
	j := &jsonPenalty{
		p.By.RepetitionPenalty, p.By.FrequencyPenalty, p.By.PresencePenalty, p.By.LogitBias, p.By.DRYMultiplier,
		p.N, make([]jsonPenalized, len(p.Tokens)),
	}
	for i, t := range p.Tokens {
		j.Tokens[i] = jsonPenalized{t.Token.JSON(), t.Z, t.Raw}
	}
	return j
}

func softmaxRowJSON(r Row) jsonSoftmaxRow { return jsonSoftmaxRow{rowJSON(r), r.P, r.Cum} }

func filterRowJSON(r Row) jsonFilterRow {
	return jsonFilterRow{softmaxRowJSON(r), r.Kept, r.CutBy, r.Q}
}

func each[T any](rows []Row, f func(Row) T) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = f(r)
	}
	return out
}

func filterRest(r Rest) jsonRest { return jsonRest{r.N, &r.P, &r.Kept, &r.Q} }

// MarshalJSON implements [Stage].
func (f Forward) MarshalJSON() ([]byte, error) {
	head, c := headJSON(f.Head, KindForward)
	mode := "decode"
	if f.Prefill {
		mode = "prefill"
	}
	return json.Marshal(struct {
		jsonHead
		Mode      string        `json:"mode"`
		Tokens    []JSONToken   `json:"tokens"`
		Positions int           `json:"positions"`
		Shapes    []TensorShape `json:"shapes"`
		Parts     cost.Parts    `json:"parts"`
		jsonCost
	}{head, mode, JSONTokens(f.Tokens), f.Positions, f.Shapes, f.Parts, c})
}

// MarshalJSON implements [Stage].
func (l Logits) MarshalJSON() ([]byte, error) {
	head, c := headJSON(l.Head, KindLogits)
	return json.Marshal(struct {
		jsonHead
		Vocab   int          `json:"vocab"`
		Width   int          `json:"width"`
		Min     float32      `json:"min"`
		Max     float32      `json:"max"`
		Penalty *jsonPenalty `json:"penalty,omitempty"`
		Rows    []jsonRow    `json:"rows"`
		Rest    jsonRest     `json:"rest"`
		jsonCost
	}{
		head, l.Vocab, l.Width, l.Min, l.Max, penaltyJSON(l.Penalty), each(l.Rows.Rows, rowJSON),
		jsonRest{N: l.Rest.N},
		c,
	})
}

// MarshalJSON implements [Stage].
func (s Softmax) MarshalJSON() ([]byte, error) {
	head, c := headJSON(s.Head, KindSoftmax)
	return json.Marshal(struct {
		jsonHead
		Temperature float64          `json:"temperature"`
		MaxZ        float64          `json:"max_z"`
		SumExp      float64          `json:"sum_exp"`
		Entropy     float64          `json:"entropy"`
		Rows        []jsonSoftmaxRow `json:"rows"`
		Rest        jsonRest         `json:"rest"`
		jsonCost
	}{
		head, s.Temperature, s.MaxZ, s.SumExp, s.Entropy,
		each(s.Rows.Rows, softmaxRowJSON),
		jsonRest{N: s.Rest.N, P: &s.Rest.P},
		c,
	})
}

type jsonCut struct {
	Rule  sampling.Rule `json:"rule"`
	Of    int           `json:"of"`
	Keeps int           `json:"keeps"`
	Moved float64       `json:"moved"`
}

func chainJSON(cuts sampling.Cuts) []jsonCut {
	out := make([]jsonCut, len(cuts))
	for i, c := range cuts {
		out[i] = jsonCut{c.Rule, c.Of, c.Keeps, c.Moved}
	}
	return out
}

// MarshalJSON implements [Stage].
func (f Filter) MarshalJSON() ([]byte, error) {
	head, c := headJSON(f.Head, KindFilter)
	f.Settings.Grammar = "" // long, and already in the prompt object
	before, err := json.Marshal(struct {
		jsonHead
		sampling.Settings
		Kept int `json:"kept"`
		Cut  int `json:"cut"`
	}{head, f.Settings, f.Kept, f.Cut})
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(struct {
		Mass              float64         `json:"mass"`
		KeptRenormalizing int             `json:"kept_renormalising"`
		KeptLlama         int             `json:"kept_llama"`
		KeptHugging       int             `json:"kept_hugging_face"`
		Chain             []jsonCut       `json:"chain"`
		Rows              []jsonFilterRow `json:"rows"`
		Rest              jsonRest        `json:"rest"`
		jsonCost
	}{
		f.Mass, f.KeptRenormalizing, f.KeptLlama, f.KeptHugging, chainJSON(f.Cuts),
		each(f.Rows.Rows, filterRowJSON), filterRest(f.Rest), c,
	})
	if err != nil {
		return nil, err
	}
	return slices.Concat(before[:len(before)-1], f.reachJSON(), []byte{','}, after[1:]), nil
}

// reachJSON returns the number of tokens that each rule keeps, as fields of an object. Rules that
// cut all tokens after some rank are always included; the others only if they are on.
func (f Filter) reachJSON() (fields []byte) {
	for _, rule := range sampling.OrderOwn.Rules() {
		if n := f.Cuts.Reach(rule, 0); n > 0 || rule.Early() {
			fields = fmt.Appendf(fields, ",%q:%d", "reach_"+rule, f.Reach(rule))
		}
	}
	return fields
}

// MarshalJSON implements [Stage]. "u" is null under greedy decoding.
func (s Sample) MarshalJSON() ([]byte, error) {
	head, c := headJSON(s.Head, KindSample)
	var u *float64
	if !s.Greedy {
		u = &s.U
	}
	type chosen struct {
		JSONToken
		Rank int     `json:"rank"`
		P    float64 `json:"p"`
		Q    float64 `json:"q"`
	}
	pick := func(r Row) chosen { return chosen{r.Token.JSON(), r.Rank, r.P, r.Q} }
	var drawn *chosen
	if s.Forced {
		d := pick(s.Drawn)
		drawn = &d
	}
	return json.Marshal(struct {
		jsonHead
		Seed   uint64          `json:"seed"`
		U      *float64        `json:"u"`
		Chosen chosen          `json:"chosen"`
		Forced bool            `json:"forced,omitempty"`
		Drawn  *chosen         `json:"drawn,omitempty"` // if a person chose the token instead
		Likely chosen          `json:"likely"`
		From   float64         `json:"from"`
		To     float64         `json:"to"`
		Lanes  []jsonFilterRow `json:"lanes"`
		Rest   jsonRest        `json:"lanes_rest"`
		jsonCost
	}{
		head, s.Seed, u, pick(s.Chosen), s.Forced, drawn, pick(s.Likely), s.From, s.To, each(
			s.Lanes, filterRowJSON,
		), filterRest(s.LanesRest), c,
	})
}

type jsonCondition struct {
	Kind    StopReason `json:"kind"`
	Fired   bool       `json:"fired"`
	Have    *int       `json:"have,omitempty"`
	Limit   *int       `json:"limit,omitempty"`
	P       *float64   `json:"p,omitempty"`
	Kept    *bool      `json:"kept,omitempty"`
	String  string     `json:"string,omitempty"`
	Matched *int       `json:"matched,omitempty"`
}

func conditionJSON(c Condition) jsonCondition {
	j := jsonCondition{Kind: c.Kind, Fired: c.Fired}
	switch c.Kind {
	case StopEOS:
		j.P, j.Kept = &c.P, &c.Kept
	case StopString:
		j.String, j.Matched = c.String, &c.Matched
	default:
		j.Have, j.Limit = &c.Have, &c.Limit
	}
	return j
}

// MarshalJSON implements [Stage]. "text" is the text released by this step; the texts of all steps,
// concatenated, are the whole answer. Only the last step has "stop".
func (a Append) MarshalJSON() ([]byte, error) {
	head, c := headJSON(a.Head, KindAppend)
	conditions := make([]jsonCondition, len(a.Conditions))
	for i, x := range a.Conditions {
		conditions[i] = conditionJSON(x)
	}
	return json.Marshal(struct {
		jsonHead
		Token      JSONToken       `json:"token"`
		Text       string          `json:"text"`
		Held       string          `json:"held,omitempty"` // hex
		Generated  int             `json:"generated"`
		Conditions []jsonCondition `json:"conditions"`
		Stop       StopReason      `json:"stop,omitempty"`
		StopString string          `json:"stop_string,omitempty"`
		jsonCost
	}{
		head, a.Token.JSON(), a.Text, hex.EncodeToString(a.Held), a.Generated,
		conditions, a.Stop, a.StopString, c,
	})
}

// MarshalJSON implements [Stage]. The cost of recomputing is calculated, not measured, so the JSON
// does not contain a time for it.
func (g CacheGrowth) MarshalJSON() ([]byte, error) {
	type both struct {
		Cached     int64 `json:"cached"`
		Recomputed int64 `json:"recomputed"`
	}
	return json.Marshal(struct {
		jsonHead
		Positions int   `json:"positions"`
		Grew      int   `json:"grew"`
		Bytes     int64 `json:"bytes"`
		GrewBytes int64 `json:"grew_bytes"`
		Layers    int   `json:"layers"`
		KVHeads   int   `json:"kv_heads"`
		HeadDim   int   `json:"head_dim"`
		PerValue  int   `json:"bytes_per_value"`
		Context   int   `json:"context"`
		MultAdds  both  `json:"mult_adds"`
		Parts     struct {
			Cached     cost.Parts `json:"cached"`
			Recomputed cost.Parts `json:"recomputed"`
		} `json:"parts"`
		Total both `json:"total_mult_adds"`
	}{
		jsonHead: jsonHead{g.Step, KindCache.String()}, Positions: g.Positions, Grew: g.Grew,
		Bytes: g.Bytes, GrewBytes: g.GrewBytes, Layers: g.Layers, KVHeads: g.KVHeads, HeadDim: g.HeadDim,
		PerValue: g.BytesPerValue, Context: g.Context,
		MultAdds: both{g.Cached.Total(), g.Recomputed.Total()},
		Parts: struct {
			Cached     cost.Parts `json:"cached"`
			Recomputed cost.Parts `json:"recomputed"`
		}{g.Cached, g.Recomputed},
		Total: both{g.TotalCached, g.TotalRecomputed},
	})
}

// Prompt describes the start of a run. It is the first object in the run's JSON form.
type Prompt struct {
	Model    *Model
	Tokens   []Token
	Settings Settings
}

// MarshalJSON returns {"stage": "prompt", "tokens", "model", "seed", ...}.
func (p Prompt) MarshalJSON() ([]byte, error) {
	type model struct {
		Name         string `json:"name"`
		Hash         string `json:"hash"`
		Architecture string `json:"architecture"`
		Parameters   int64  `json:"parameters"`
		Layers       int    `json:"layers"`
		Width        int    `json:"width"`
		Heads        int    `json:"heads"`
		KVHeads      int    `json:"kv_heads"`
		HeadDim      int    `json:"head_dim"`
		FFN          int    `json:"ffn"`
		Vocab        int    `json:"vocab"`
		Context      int    `json:"context"`
	}
	c := p.Model.config
	return json.Marshal(struct {
		Stage  string      `json:"stage"`
		Tokens []JSONToken `json:"tokens"`
		Model  model       `json:"model"`
		Settings
	}{"prompt", JSONTokens(p.Tokens), model{
		c.Name, p.Model.hash, c.Architecture, p.Model.params, c.Layers, c.Width, c.Heads, c.KVHeads,
		c.HeadDim, c.FFN, c.Vocab, c.Context,
	}, p.Settings})
}
