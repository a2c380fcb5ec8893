package infer

import (
	"time"

	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Kind numbers the stages of one turn of the loop, 1 to 7.
type Kind int

// The seven stages. The literature counts five steps: it combines filter and sample, and omits the
// cache.
const (
	KindForward Kind = iota + 1
	KindLogits
	KindSoftmax
	KindFilter
	KindSample
	KindAppend
	KindCache
)

// Kinds lists the stages in the order in which they run.
var Kinds = []Kind{KindForward, KindLogits, KindSoftmax, KindFilter, KindSample, KindAppend, KindCache}

// String returns the name used in JSON: "forward", "logits", and so on.
func (k Kind) String() string {
	if k < KindForward || k > KindCache {
		return "none"
	}
	return terms.StageAt(int(k)).Key
}

// ParseKind is the inverse of [Kind.String].
func ParseKind(name string) (Kind, bool) {
	for _, k := range Kinds {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// Stage is one stage of one step: [Forward], [Logits], [Softmax], [Filter], [Sample], [Append] or
// [CacheGrowth]. A stage owns all its data. MarshalJSON returns the object documented in
// infer/STAGES.md.
type Stage interface {
	Kind() Kind
	stage()
}

// Head holds the fields that all stages have: the step (1 is the first generated token) and the
// cost of the stage. The time covers only the work itself, not collecting values for display.
// Multiply-adds are counted where they are performed.
type Head struct {
	Step     int
	MultAdds int64
	Took     time.Duration
}

// TensorShape is the name of one tensor of a pass, with its dimensions.
type TensorShape struct {
	Name string `json:"name"`
	Dims []int  `json:"dims"`
}

// Forward is stage 1: the new tokens went through every block. At step 1, they are the whole prompt
// (prefill); later, only the last appended token (decode).
type Forward struct {
	Head
	Prefill   bool
	Tokens    []Token    // the tokens read by this pass
	Positions int        // positions in the cache after the pass; the pass attended to all of them
	Parts     cost.Parts // multiply-adds by part of the model
	Shapes    []TensorShape
}

// Row is one token of the vocabulary, with the values known at a stage. Later stages set more
// fields: Z at the logits; ZT, E, P, Cum at the softmax; Kept, CutBy and Q at the filter.
type Row struct {
	Token
	Rank  int           // 1 is the highest score
	Z     float32       // the logit, after the rules that change scores
	Raw   float32       // the model's original logit
	ZT    float64       // z / T (z itself under greedy decoding)
	E     float64       // e^{(z−max)/T}
	P     float64       // probability over the whole vocabulary
	Cum   float64       // Σ p of this token and all more probable ones
	Kept  bool          // whether the filters keep it
	CutBy sampling.Rule // the first filter that cut it, if one did
	Q     float64       // p / mass kept
}

// Rest holds the totals for the tokens that have no row. As in [Row], a field is 0 until a stage
// sets it.
type Rest struct {
	N    int     // tokens
	P    float64 // their total probability, after the temperature
	E    float64 // their share of Σ e^{(z−max)/T}
	Kept int     // number of them that the filters keep
	Q    float64 // their total renormalized probability
}

// Rows is the whole vocabulary, shortened for display: the tokens with the highest scores, always
// including the drawn token, and the totals for the rest.
type Rows struct {
	Rows  []Row
	Rest  Rest
	Vocab int
}

// Logits is stage 2: the product of the last position's vector with every token's row of the output
// matrix.
type Logits struct {
	Head
	Rows
	Width    int      // length of the vector
	Min, Max float32  // over the whole vocabulary
	Penalty  *Penalty // nil if no rule changes scores
}

// Penalty is the effect of the rules that change scores (the penalties and the logit bias) at one
// step.
type Penalty struct {
	By     sampling.Settings // their settings ([sampling.Settings.Scoring])
	N      int               // tokens whose scores it changed
	Tokens []Penalized       // the changed tokens with the highest scores, at most as many as the stage has rows
}

// Penalized is a token whose score was changed.
type Penalized struct {
	Token
	Raw, Z float32 // the scores before and after the change
}

// Softmax is stage 3. Under greedy decoding (Temperature 0), it shows the distribution at T = 1.
type Softmax struct {
	Head
	Rows
	Temperature float64
	MaxZ        float64 // the largest logit
	SumExp      float64 // Σ e^{(z−max)/T} over the vocabulary
	Entropy     float64 // bits
}

// Filter is stage 4: the rules that cut tokens, such as top-k and top-p, and one renormalization.
type Filter struct {
	Head
	Rows
	Settings sampling.Settings
	Kept     int
	Cut      int
	Mass     float64 // Σ p of the kept tokens
	// Cuts lists the filters that are on, in order, with the number of tokens that each of them
	// keeps.
	Cuts sampling.Cuts
	// Leading is set if the kept tokens are the most probable ones, so that a line can be drawn
	// below them.
	Leading bool
	// Fallback is set if no token passes all filters. The most probable token is then kept,
	// although some filters cut it.
	Fallback bool
	// KeptLlama and KeptHugging are the numbers of tokens that would be kept with llama.cpp's and
	// Hugging Face's filter orders.
	KeptLlama, KeptHugging int
	// KeptRenormalizing is the number of tokens that would be kept if every filter used the
	// rescaled probabilities left by the previous filter, as in some libraries.
	KeptRenormalizing int
}

// Reach returns the number of tokens that a filter keeps ([sampling.Cuts.Reach]). A filter that is
// off keeps all tokens.
func (f Filter) Reach(rule sampling.Rule) int { return f.Cuts.Reach(rule, f.Kept+f.Cut) }

// Sample is stage 5: the token whose segment contains u is drawn.
type Sample struct {
	Head
	Greedy bool
	Seed   uint64
	U      float64 // in [0, 1); meaningless under greedy decoding
	Chosen Row     // with Kept and Q
	Forced bool    // a person chose the token; the draw selected Drawn
	Drawn  Row     // Chosen unless Forced
	From   float64 // the chosen token's segment: From ≤ u < To; both 0 for a chosen token that is cut
	To     float64
	Likely Row   // the most probable token, which may be the chosen one
	Lanes  []Row // kept tokens by rank, shortened like Rows and including the chosen one
	// LanesRest holds the totals for the kept tokens that have no lane.
	LanesRest Rest
}

// Append is stage 6: the chosen token joins the text, unless a stop condition excludes it.
type Append struct {
	Head
	Token      Token
	Text       string      // text released by this step; "" while it is held back
	Held       []byte      // bytes not released yet: an incomplete character or a possible stop string
	Generated  int         // tokens generated so far
	Conditions []Condition // how close every stop condition is to firing
	Stop       StopReason  // the reason why generation ends here, or StopNone
	StopString string      // the stop string that fired
}

// CacheGrowth is stage 7: the columns that this step's forward pass wrote to the cache. The token
// that was just appended has no column yet.
type CacheGrowth struct {
	Head
	Positions     int   // filled columns
	Grew          int   // number of columns written by this step; they are the last ones in the cache
	Bytes         int64 // of all filled columns
	GrewBytes     int64
	Layers        int
	KVHeads       int
	HeadDim       int
	BytesPerValue int
	Context       int        // number of columns that fit in the model's context window
	Cached        cost.Parts // the cost of this step as it was run
	Recomputed    cost.Parts // the cost of the same step without a cache: calculated, not run
	// The totals of Cached and Recomputed over all steps so far.
	TotalCached, TotalRecomputed int64
}

// Kind implements [Stage].
func (Forward) Kind() Kind { return KindForward }

// Kind implements [Stage].
func (Logits) Kind() Kind { return KindLogits }

// Kind implements [Stage].
func (Softmax) Kind() Kind { return KindSoftmax }

// Kind implements [Stage].
func (Filter) Kind() Kind { return KindFilter }

// Kind implements [Stage].
func (Sample) Kind() Kind { return KindSample }

// Kind implements [Stage].
func (Append) Kind() Kind { return KindAppend }

// Kind implements [Stage].
func (CacheGrowth) Kind() Kind { return KindCache }

func (Forward) stage()     {}
func (Logits) stage()      {}
func (Softmax) stage()     {}
func (Filter) stage()      {}
func (Sample) stage()      {}
func (Append) stage()      {}
func (CacheGrowth) stage() {}

// StopReason is the reason why generation ended.
type StopReason string

// The stop conditions. The first one to fire ends a run. If several fire at the same token, the
// first in this list counts.
const (
	StopNone      StopReason = ""
	StopEOS       StopReason = "eos"
	StopString    StopReason = "stop_string"
	StopMaxTokens StopReason = "max_tokens"
	StopContext   StopReason = "context"
)

// Condition describes how close one stop condition is to firing.
type Condition struct {
	Kind  StopReason
	Fired bool
	// For max_tokens and context: the number reached so far, and the limit.
	Have, Limit int
	// For eos: the probability of the end-of-text tokens at this step, after the temperature and
	// before the filters, and whether the filters keep one of these tokens.
	P    float64
	Kept bool
	// For a stop string: the string, and how many of its bytes the end of the text already matches.
	String  string
	Matched int
}
