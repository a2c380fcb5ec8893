package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
)

var _ = register(100, inductionLab{})

type inductionLab struct{}

// Info implements [Lab].
func (inductionLab) Info() Info {
	return Info{
		Name: "induction", Title: "Find the induction head",
		Claim:  "A model that repeats you has a head for it. This one may have none.",
		Friend: "You can look for the part that copies, and prove it by taking it away. Sometimes there is none.",
		Question: "A row of tokens comes twice. Which head looks from each token to what came after it the first " +
			"time, and what is lost without that head?",
		Inputs: terms.Inputs{
			{
				Key: "prompt", Label: "Your own words", Unit: "bytes", Kind: terms.KindText, Min: 0, Max: 1000,
				Help: "what is read twice; left empty, it is rows of random tokens, which nobody could guess",
			},
			{
				Key: "rows", Label: "Random rows", Unit: "rows", Kind: terms.KindInt, Min: 1, Max: 20, Step: 1,
				Default: "6",
				Help:    "how many rows of random tokens are measured; one row may be a fluke",
			},
			{
				Key: "length", Label: "Length", Unit: "tokens", Kind: terms.KindInt, Min: 4, Max: 64, Step: 1,
				Default: "20",
				Help:    "how many tokens a random row has",
			},
			{
				Key: "off", Label: "Heads to switch off", Unit: "heads", Kind: terms.KindInt, Min: 1, Max: 64, Step: 1,
				Default: "4",
				Help: "how many of the strongest candidates are switched off, one at a time, and as many of the " +
					"weakest to compare",
			},
			seedInput(),
		},
		Try: []Preset{
			{
				Name: "A sentence", Why: "A sentence can be guessed in part without copying. So the gap between its " +
					"two readings says less than that between random rows.",
				Values: terms.Values{"prompt": " The king lived in a castle by the sea"},
			},
			{
				Name: "Short rows",
				Why: "With a row of five, the token after the earlier one is close by: a head that only likes near " +
					"tokens scores, too.",
				Values: terms.Values{"length": "5"},
			},
		},
		Includes: "A head's measure is the mean weight, over the second reading, on the token that came after the " +
			"same token the first time. From 40 % on it passes, which is a convention. Surprise is −log₂ p of " +
			"what came, at T = 1, over the whole vocabulary; the first token of each reading is left out. A head " +
			"that is off gives 0 at every position. Nothing here is timed.",
	}
}

// Induction is the result of the induction lab: how strongly each head attends to the token that
// followed an earlier occurrence of the current token, and how much worse the predictions are
// without the heads that do so most strongly.
type Induction struct {
	Row  []Token `json:"row"`  // the tokens that are read twice: the first row if there are several rows
	Own  bool    `json:"own"`  // Row contains the user's own words
	Rows int     `json:"rows"` // the number of rows
	// Passing is the lowest value of [HeadRead.Induction] at which a head counts as an induction
	// head.
	Passing float64 `json:"passing"`
	// First and Second are the mean surprise in each reading, in bits per token.
	First  float64    `json:"first"`
	Second float64    `json:"second"`
	Layers int        `json:"layers"`
	Heads  []HeadRead `json:"heads"` // all heads, block by block
	Pass   int        `json:"pass"`  // the number of heads that pass
	// Strong lists the heads with the largest measures, and Weak the heads with the smallest. Each
	// of these heads was switched off separately.
	Strong []HeadOff `json:"strong"`
	Weak   []HeadOff `json:"weak"`
}

// HeadRead holds one head's mean attention weights in the second reading.
type HeadRead struct {
	Part      string  `json:"part"` // "L4.H4"
	Block     int     `json:"block"`
	Head      int     `json:"head"`
	Induction float64 `json:"induction"` // on the token that followed the earlier occurrence of the current token
	Previous  float64 `json:"previous"`  // on the previous token
	Start     float64 `json:"start"`     // on the first position
}

// HeadOff is a head that was switched off.
type HeadOff struct {
	Part      string  `json:"part"`
	Induction float64 `json:"induction"`
	Second    float64 `json:"second"` // the surprise in the second reading without the head
}

// Lost returns how much the surprise of the second reading grows without a head, in bits
// per token.
func (r *Induction) Lost(h HeadOff) float64 { return h.Second - r.Second }

// Usual returns the mean of [Induction.Lost] over the weakest heads.
func (r *Induction) Usual() float64 {
	var sum float64
	for _, h := range r.Weak {
		sum += r.Lost(h) / float64(len(r.Weak))
	}
	return sum
}

// Copies reports whether the second reading is less surprising than the first, by a quarter or more.
func (r *Induction) Copies() bool { return r.Second <= 0.75*r.First }

// HeadName returns a head's name as users read it.
func HeadName(part string) string {
	var block, head int
	if _, err := fmt.Sscanf(part, "L%d.H%d", &block, &head); err != nil {
		return part
	}
	return fmt.Sprintf("block %d, head %d", block, head)
}

// MoreOrLess formats a difference in bits: "0.36 more", "0.05 less".
func MoreOrLess(bits float64) string {
	if bits < 0 {
		return terms.Decimals(-bits, 2) + " less"
	}
	return terms.Decimals(bits, 2) + " more"
}

func (r *Induction) findings() []string {
	list := []string{r.copying(), r.candidates()}
	if len(r.Strong) == 0 {
		return list
	}
	best := r.Strong[0]
	say := fmt.Sprintf(
		"Without %s the second reading surprises the model by %s bits a token, %s than with it.", HeadName(best.Part),
		terms.Decimals(best.Second, 2), MoreOrLess(r.Lost(best)),
	)
	if len(r.Weak) > 0 {
		say += fmt.Sprintf(" Without a head that hardly looks there it is %s.", MoreOrLess(r.Usual()))
	}
	return append(
		list, say,
		"What is lost without a head is not all that the head does, and others may do its work once it is off.",
	)
}

func (r *Induction) copying() string {
	say := fmt.Sprintf(
		"The first reading surprises the model by %s bits a token, the second by %s: ", terms.Decimals(r.First, 2),
		terms.Decimals(r.Second, 2),
	)
	switch {
	case r.Copies():
		return say + "it uses what it has read before."
	case r.Second < r.First:
		return say + "it makes little of what it has read before."
	}
	return say + "it makes nothing of what it has read before."
}

func (r *Induction) candidates() string {
	best := HeadRead{Induction: -1}
	for _, h := range r.Heads {
		if h.Induction > best.Induction {
			best = h
		}
	}
	limit := terms.Percent(r.Passing)
	if r.Pass == 0 {
		return fmt.Sprintf(
			"No induction head was found: none of the %s gives %s of its weight to what came after the same token. "+
				"The best candidate, %s, gives %s.", terms.Counted(len(r.Heads), "head"), limit, HeadName(best.Part),
			terms.Percent(best.Induction),
		)
	}
	return fmt.Sprintf(
		"%s of %s: at least %s of the weight lies on what came after the same token. The strongest is %s with %s.",
		terms.Counted(r.Pass, "induction head"), terms.Count(len(r.Heads)), limit, HeadName(best.Part),
		terms.Percent(best.Induction),
	)
}

// tables returns the raw rows.
func (r *Induction) tables() []Table {
	heads := Table{
		Name: "heads", Title: "Where each head looks in the second reading",
		Columns: columns("part", "", "block", "", "head", "", "induction", "", "previous", "", "start", ""),
	}
	for _, h := range r.Heads {
		heads.add(h.Part, h.Block, h.Head, h.Induction, h.Previous, h.Start)
	}
	off := Table{
		Name: "off", Title: "The second reading without one head",
		Columns: columns("part", "", "induction", "", "surprise", "bits", "lost", "bits"),
	}
	for _, list := range [][]HeadOff{r.Strong, r.Weak} {
		for _, h := range list {
			off.add(h.Part, h.Induction, h.Second, r.Lost(h))
		}
	}
	return []Table{heads, off}
}

// ownRow returns the tokens of the user's own words, or nil if there are no such words.
func ownRow(m *infer.Model, v terms.Values) ([]int, error) {
	if v["prompt"] == "" {
		return nil, nil
	}
	if err := m.CheckText(v["prompt"]); err != nil {
		return nil, err
	}
	row := m.Encode(v["prompt"])
	if m.Config().BOS >= 0 {
		row = row[1:]
	}
	if most := min(200, why.LongestRow(m)); len(row) < 2 || len(row) > most {
		return nil, terms.NewRangeError(
			"prompt", terms.Counted(len(row), "token")+" long",
			fmt.Sprintf("2 to %d tokens long, twice of which fit into this model's context, or empty", most),
		)
	}
	return row, nil
}
