package infer

import (
	"bytes"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/grammar"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// Step is one turn of the loop. A Step never changes once a caller can see it: while a turn is in
// progress, each stage replaces its Step with a more complete copy. A Step stores the logits.
// Values that can be computed from the logits and the settings are derived on demand
// ([Step.Distribution]).
type Step struct {
	N        int      // 1 for the first generated token
	Ran      Kind     // the last stage that ran: KindCache when the turn is done
	Settings Settings // in force for this step
	Input    []int    // token ids read by the pass: the prompt (or its uncached rest: [Loop.Continue]), later one token
	Start    int      // positions in the cache before the pass
	Blocks   cost.Parts
	Output   cost.Parts
	Logits   []float32      // [vocab] from stage 2 on, nil before
	last     []float32      // [width] the vector of the newest position after the last block
	before   *past          // the text that earlier passes have read
	state    sampling.State // of the rules, before this step
	fits     *grammar.State // of the grammar, before this step; nil without a grammar and at the first step
	mask     *grammar.Mask  // the tokens that the grammar allows at this step; from stage 3 on
	tok      *tokenizer.Tokenizer
	Entropy  float64 // bits, of the distribution after the temperature; from stage 3 on
	Took     [KindCache + 1]time.Duration

	// The following fields are set from stage 5 on.
	Chosen int  // token id
	Rank   int  // of the chosen token, 1 is the most probable
	Forced bool // chosen by a person, not by the draw
	Drawn  int  // the token that was drawn; Chosen unless Forced
	P, Q   float64
	U      float64
	next   sampling.State // of the rules, for the step after this one

	// The following fields are set from stage 6 on.
	Text       string // released by this step
	Held       []byte
	Conditions []Condition
	Stop       StopReason
	StopString string
	WentOn     bool // a person continued after Stop

	// The sums over the steps up to this one, in multiply-adds, are set from stage 7 on.
	TotalCached, TotalRecomputed int64
}

// Positions returns the number of filled cache columns after this step's pass.
func (s *Step) Positions() int { return s.Start + len(s.Input) }

// Distribution derives stages 3 and 4 from the step's logits and settings. It returns nil before
// stage 2 has run.
func (s *Step) Distribution() *sampling.Distribution {
	if s.Logits == nil {
		return nil
	}
	return s.context().Decide(s.Logits, s.Settings.Settings)
}

// context returns the step's data, other than its scores, that the sampling rules may use.
func (s *Step) context() sampling.Context {
	c := sampling.Context{Seed: s.Settings.Seed, Step: s.N, State: s.state}
	if s.Settings.ReadsText() {
		c.Text, c.Breaks = s.text(), breaks(s.tok)
	}
	if s.mask != nil {
		c.Allowed = s.mask.Has
	}
	return c
}

// breaks reports which tokens end the passages that DRY looks for: tokens that contain a newline, a
// colon, a quotation mark or an asterisk, as in llama.cpp.
func breaks(tok *tokenizer.Tokenizer) func(id int) bool {
	return func(id int) bool { return bytes.ContainsAny(tok.Bytes(id), "\n:\"*") }
}

// Breaks reports whether a token ends the passages that DRY looks for
// ([sampling.Context]).
func (m *Model) Breaks(id int) bool { return breaks(m.tok)(id) }

// scores returns the step's logits after the rules that change them.
func (s *Step) scores() []float32 { return s.context().Score(s.Logits, s.Settings.Settings).Z }

// past is a text as a linked list with the tokens that each pass read, from the last pass to the
// first. Steps in different branches share their common beginning.
type past struct {
	read   []int
	before *past
}

// text returns the ids of all tokens read so far, including this step's tokens.
func (s *Step) text() []int {
	passes := [][]int{s.Input}
	for p := s.before; p != nil; p = p.before {
		passes = append(passes, p.read)
	}
	slices.Reverse(passes)
	return slices.Concat(passes...)
}
