package why

import (
	"encoding/json"

	"github.com/tokenbytoken/viz/infer"
)

// Shown is the number of most probable tokens that a report lists, in every output format.
const Shown = 5

// A Report holds all results about a text, for `viz why` and for other programs. infer/STAGES.md
// describes its JSON form.
type Report struct {
	Study    *Study
	Question Question
	Answer   *Answer
	Off      string // the parts and positions that are switched off, as formatted by [FormatOff]
	Mean     bool
	Lens     [][]infer.LensCell // nil if not requested
	Other    *Study             // the text whose streams Grid carries over
	Grid     *Grid
	Heads    *Findings
}

type jsonReport struct {
	Model   string         `json:"model"`
	Hash    string         `json:"hash"`
	Tokens  []infer.Token  `json:"tokens"`
	Token   infer.Token    `json:"token"`
	Over    *infer.Token   `json:"over,omitempty"`
	Base    jsonOutcome    `json:"base"`
	Off     string         `json:"off,omitempty"`
	Mean    bool           `json:"mean,omitempty"`
	Changed *jsonOutcome   `json:"changed,omitempty"`
	Moved   []jsonMove     `json:"moved,omitempty"`
	Lens    [][]jsonLens   `json:"lens,omitempty"`
	Patch   *jsonPatchGrid `json:"patch,omitempty"`
	Heads   *jsonHeads     `json:"heads,omitempty"`
}

type jsonOutcome struct {
	Z     float64       `json:"z"`
	P     float64       `json:"p"`
	Rank  int           `json:"rank"`
	Says  []jsonReading `json:"says"`
	Parts []jsonPart    `json:"parts"`
	Looks []jsonLook    `json:"looks"`
}

type jsonLook struct {
	Head     string  `json:"head"`
	Position int     `json:"position"`
	Weight   float64 `json:"weight"`
}

type jsonReading struct {
	infer.Token
	P float64
}

// MarshalJSON returns {"token": …, "p": …}.
func (r jsonReading) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Token infer.Token `json:"token"`
		P     float64     `json:"p"`
	}{r.Token, r.P})
}

type jsonPart struct {
	Part string  `json:"part"`
	Z    float64 `json:"z"`
}

type jsonMove struct {
	Part string  `json:"part"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

type jsonLens struct {
	Says []jsonReading `json:"says"`
	Bits float64       `json:"entropy"`
	Came *jsonCame     `json:"came,omitempty"`
}

type jsonCame struct {
	P        float64 `json:"p"`
	Rank     int     `json:"rank"`
	Surprise float64 `json:"surprise"`
}

type jsonPatchGrid struct {
	Tokens    []infer.Token    `json:"tokens"`
	Here      infer.Token      `json:"here"`
	There     infer.Token      `json:"there"`
	LeadHere  float64          `json:"lead_here"`
	LeadThere float64          `json:"lead_there"`
	Cells     [][]jsonGridCell `json:"cells"`
}

type jsonGridCell struct {
	Follows float64 `json:"follows"`
	P       float64 `json:"p"`
}

type jsonHeads struct {
	Texts   int           `json:"texts"`
	Row     int           `json:"row"`
	Passing float64       `json:"passing"`
	First   float64       `json:"first"`
	Second  float64       `json:"second"`
	Habits  []jsonFinding `json:"habits"`
}

type jsonFinding struct {
	Habit    Habit      `json:"habit"`
	Pass     int        `json:"pass"`
	Together *float64   `json:"together,omitempty"`
	Heads    []jsonHead `json:"heads"`
}

type jsonHead struct {
	Part  string  `json:"part"`
	Score float64 `json:"score"`
	Pass  bool    `json:"pass"`
	Off   float64 `json:"off"`
}

// MarshalJSON returns the JSON form that infer/STAGES.md describes.
func (r *Report) MarshalJSON() ([]byte, error) {
	m, a := r.Study.Model(), r.Answer
	j := jsonReport{
		Model: m.Name(), Hash: m.Hash(), Tokens: tokens(m, r.Study.Tokens()), Token: m.Token(a.Token),
		Base: outcomeJSON(a.Base), Off: r.Off, Mean: r.Mean && r.Off != "",
	}
	if a.Over >= 0 {
		over := m.Token(a.Over)
		j.Over = &over
	}
	if a.Changed != nil {
		changed := outcomeJSON(*a.Changed)
		j.Changed = &changed
	}
	for _, move := range a.Moved {
		j.Moved = append(j.Moved, jsonMove{move.Part.String(), move.From, move.To})
	}
	for _, row := range r.Lens {
		j.Lens = append(j.Lens, lensJSON(row))
	}
	if g := r.Grid; g != nil {
		j.Patch = &jsonPatchGrid{
			tokens(m, r.Other.Tokens()), m.Token(g.Here), m.Token(g.There), g.LeadHere, g.LeadThere, nil,
		}
		for _, row := range g.Cells {
			var cells []jsonGridCell
			for _, c := range row {
				cells = append(cells, jsonGridCell(c))
			}
			j.Patch.Cells = append(j.Patch.Cells, cells)
		}
	}
	if r.Heads != nil {
		j.Heads = headsJSON(r.Heads)
	}
	return json.Marshal(j)
}

func tokens(m *infer.Model, ids []int) (list []infer.Token) {
	for _, id := range ids {
		list = append(list, m.Token(id))
	}
	return list
}

func readings(list []infer.Reading) []jsonReading {
	says := []jsonReading{}
	for _, r := range list {
		says = append(says, jsonReading{r.Token, r.P})
	}
	return says
}

func outcomeJSON(o Outcome) jsonOutcome {
	j := jsonOutcome{Z: o.Z, P: o.P, Rank: o.Rank, Says: readings(o.Says)}
	for _, c := range o.Parts {
		j.Parts = append(j.Parts, jsonPart{c.Part.String(), c.Z})
	}
	for _, l := range o.Looks {
		j.Looks = append(j.Looks, jsonLook{l.Head.String(), l.Position, l.Weight})
	}
	return j
}

func lensJSON(row []infer.LensCell) (cells []jsonLens) {
	for _, c := range row {
		cell := jsonLens{Says: readings(c.Says), Bits: c.Bits}
		if c.Rank > 0 {
			cell.Came = &jsonCame{c.Came, c.Rank, c.Surprise()}
		}
		cells = append(cells, cell)
	}
	return cells
}

func headsJSON(f *Findings) *jsonHeads {
	j := &jsonHeads{Texts: f.Texts, Row: f.Row, Passing: Passing, First: f.First, Second: f.Second}
	for _, h := range f.Habits {
		finding := jsonFinding{Habit: h.Habit, Pass: h.Pass}
		if h.Pass > 0 {
			finding.Together = &h.Together
		}
		for _, m := range h.Heads {
			finding.Heads = append(finding.Heads, jsonHead{m.Part.String(), m.Score, m.Pass, m.Off})
		}
		j.Habits = append(j.Habits, finding)
	}
	return j
}
