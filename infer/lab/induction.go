package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
)

var _ = register(100, inductionLab{})

type inductionLab struct{}

// Info implements [Lab].
func (inductionLab) Info(l *terms.Language) Info {
	return Info{
		Name: "induction", Title: l.T("lab.induction.title"),
		Claim:    l.T("lab.induction.claim"),
		Friend:   l.T("lab.induction.friend"),
		Question: l.T("lab.induction.question"),
		Inputs: terms.Inputs{
			{
				Key: "prompt", Label: l.T("lab.induction.input.prompt"), Unit: l.T("lab.unit.bytes"),
				Kind: terms.KindText, Min: 0, Max: 1000,
				Help: l.T("lab.induction.input.prompt.help"),
			},
			{
				Key: "rows", Label: l.T("lab.induction.input.rows"), Unit: l.T("lab.unit.rows"),
				Kind: terms.KindInt, Min: 1, Max: 20, Step: 1,
				Default: "6",
				Help:    l.T("lab.induction.input.rows.help"),
			},
			{
				Key: "length", Label: l.T("lab.induction.input.length"), Unit: l.T("lab.unit.tokens"),
				Kind: terms.KindInt, Min: 4, Max: 64, Step: 1,
				Default: "20",
				Help:    l.T("lab.induction.input.length.help"),
			},
			{
				Key: "off", Label: l.T("lab.induction.input.off"), Unit: l.T("lab.unit.heads"),
				Kind: terms.KindInt, Min: 1, Max: 64, Step: 1,
				Default: "4",
				Help:    l.T("lab.induction.input.off.help"),
			},
			seedInput(l),
		},
		Try: []Preset{
			{
				Name: l.T("lab.induction.try.a_sentence"), Why: l.T("lab.induction.try.a_sentence.why"),
				Values: terms.Values{"prompt": " The king lived in a castle by the sea"},
			},
			{
				Name:   l.T("lab.induction.try.short_rows"),
				Why:    l.T("lab.induction.try.short_rows.why"),
				Values: terms.Values{"length": "5"},
			},
		},
		Includes: l.T("lab.induction.includes"),
	}
}

// Induction is the result of the induction lab: how strongly each head attends to the token that
// followed an earlier occurrence of the current token, and how much worse the predictions are
// without the heads that do so most strongly.
type Induction struct {
	Row  []Token `json:"row"`  // the tokens to read twice: the first row if there are several
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
	// Strong lists the heads with the highest values of [HeadRead.Induction], and Weak those with
	// the lowest. Each of these heads was switched off separately.
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

// Lost returns how much the surprise of the second reading grows without a head, in bits per token.
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

// HeadName returns a head's name as shown to users.
func HeadName(part string) Phrase {
	var block, head int
	if _, err := fmt.Sscanf(part, "L%d.H%d", &block, &head); err != nil {
		return terms.Verbatim(part)
	}
	return Text("lab.induction.head", "block", fmt.Sprint(block), "head", fmt.Sprint(head))
}

// MoreOrLess formats a difference in bits: "0.36 more", "0.05 less".
func MoreOrLess(bits float64) Phrase {
	if bits < 0 {
		return Text("lab.induction.less", "bits", terms.Decimals(-bits, 2))
	}
	return Text("lab.induction.more", "bits", terms.Decimals(bits, 2))
}

func (r *Induction) findings() []Phrase {
	list := []Phrase{r.copying(), r.candidates()}
	if len(r.Strong) == 0 {
		return list
	}
	best := r.Strong[0]
	with := []any{
		"head", HeadName(best.Part), "bits", terms.Decimals(best.Second, 2), "change", MoreOrLess(r.Lost(best)),
	}
	say := Text("lab.induction.found.without", with...)
	if len(r.Weak) > 0 {
		say = Text("lab.induction.found.without.both", append(with, "usual", MoreOrLess(r.Usual()))...)
	}
	return append(list, say, Text("lab.induction.found.limits"))
}

func (r *Induction) copying() Phrase {
	with := []any{"first", terms.Decimals(r.First, 2), "second", terms.Decimals(r.Second, 2)}
	switch {
	case r.Copies():
		return Text("lab.induction.found.copies", with...)
	case r.Second < r.First:
		return Text("lab.induction.found.copies.little", with...)
	}
	return Text("lab.induction.found.copies.nothing", with...)
}

func (r *Induction) candidates() Phrase {
	best := HeadRead{Induction: -1}
	for _, h := range r.Heads {
		if h.Induction > best.Induction {
			best = h
		}
	}
	with := []any{
		"limit", terms.Percent(r.Passing), "head", HeadName(best.Part), "share", terms.Percent(best.Induction),
	}
	if r.Pass == 0 {
		return Text("lab.induction.found.none", append(with, "heads", len(r.Heads))...)
	}
	return Text("lab.induction.found.heads", append(with, "n", r.Pass, "all", terms.Count(len(r.Heads)))...)
}

// tables returns the raw rows.
func (r *Induction) tables() []Table {
	heads := Table{
		Name: "heads", Title: Text("lab.induction.heads"),
		Columns: columns("part", "", "block", "", "head", "", "induction", "", "previous", "", "start", ""),
	}
	for _, h := range r.Heads {
		heads.add(h.Part, h.Block, h.Head, h.Induction, h.Previous, h.Start)
	}
	off := Table{
		Name: "off", Title: Text("lab.induction.off"),
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
func (e Env) ownRow(v terms.Values) ([]int, error) {
	m, l := e.Target, e.words()
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
			"prompt", l.T("lab.refused.prompt", "n", len(row)),
			l.T("lab.refused.row", "most", fmt.Sprint(most)),
		)
	}
	return row, nil
}
