package drill

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Kind is the name of a drill, as used in addresses.
type Kind string

// The drills.
const (
	Five         Kind = "five"
	Softmax      Kind = "softmax"
	Shift        Kind = "shift"
	Attention    Kind = "attention"
	KVBytes      Kind = "kv-bytes"
	MultiplyAdds Kind = "multiply-adds"
	Bill         Kind = "bill"
	Speculation  Kind = "speculation"
	Stops        Kind = "stops"
)

// Info describes a drill before it starts.
type Info struct {
	Kind    Kind
	Title   string
	Lead    string
	Minutes int              // approximate duration
	Levels  int              // the highest level
	Harder  [MaxLevel]string // what makes each level harder
	Taught  bool             // whether seed 0 at level 1 has the lesson's numbers
}

// MaxLevel is the hardest level of every drill.
const MaxLevel = 3

// Kinds lists the drills in teaching order, with their titles in a language.
func Kinds(l *terms.Language) []Info { return slices.Concat(passKinds(l), costKinds(l)) }

// passKinds lists the drills about what happens when the model predicts a token.
func passKinds(l *terms.Language) []Info {
	// The two five-token drills have the same levels.
	fiveTokens := [MaxLevel]string{
		l.T("drill.five.level.1"),
		l.T("drill.five.level.2"),
		l.T("drill.five.level.3"),
	}
	return []Info{
		{
			Kind: Five, Title: l.T("drill.five.title"), Taught: true,
			Lead:    l.T("drill.five.lead"),
			Minutes: 8, Levels: MaxLevel,
			Harder: fiveTokens,
		},
		{
			Kind: Softmax, Title: l.T("drill.softmax.title"), Taught: true,
			Lead:    l.T("drill.softmax.lead"),
			Minutes: 20, Levels: MaxLevel,
			Harder: fiveTokens,
		},
		{
			Kind: Shift, Title: l.T("drill.shift.title"),
			Lead:    l.T("drill.shift.lead"),
			Minutes: 5, Levels: MaxLevel,
			Harder: [MaxLevel]string{
				l.T("drill.shift.level.1"),
				l.T("drill.shift.level.2"),
				l.T("drill.shift.level.3"),
			},
		},
		{
			Kind: Attention, Title: l.T("drill.attention.title"), Taught: true,
			Lead:    l.T("drill.attention.lead"),
			Minutes: 6, Levels: MaxLevel,
			Harder: [MaxLevel]string{
				l.T("drill.attention.level.1"),
				l.T("drill.attention.level.2"),
				l.T("drill.attention.level.3"),
			},
		},
	}
}

// costKinds lists the drills about the cost of a run, and about its end.
func costKinds(l *terms.Language) []Info {
	return []Info{
		{
			Kind: KVBytes, Title: l.T("drill.kv_bytes.title"), Taught: true,
			Lead:    l.T("drill.kv_bytes.lead"),
			Minutes: 6, Levels: MaxLevel,
			Harder: [MaxLevel]string{
				l.T("drill.kv_bytes.level.1"),
				l.T("drill.kv_bytes.level.2"),
				l.T("drill.kv_bytes.level.3"),
			},
		},
		{
			Kind: MultiplyAdds, Title: l.T("drill.multiply_adds.title"),
			Lead:    l.T("drill.multiply_adds.lead"),
			Minutes: 8, Levels: MaxLevel,
			Harder: [MaxLevel]string{
				l.T("drill.multiply_adds.level.1"),
				l.T("drill.multiply_adds.level.2"),
				l.T("drill.multiply_adds.level.3"),
			},
		},
		{
			Kind: Bill, Title: l.T("drill.bill.title"), Taught: true,
			Lead:    l.T("drill.bill.lead"),
			Minutes: 5, Levels: MaxLevel,
			Harder: [MaxLevel]string{
				l.T("drill.bill.level.1"),
				l.T("drill.bill.level.2"),
				l.T("drill.bill.level.3"),
			},
		},
		{
			Kind: Speculation, Title: l.T("drill.speculation.title"), Taught: true,
			Lead:    l.T("drill.speculation.lead"),
			Minutes: 6, Levels: MaxLevel,
			Harder: [MaxLevel]string{
				l.T("drill.speculation.level.1"),
				l.T("drill.speculation.level.2"),
				l.T("drill.speculation.level.3"),
			},
		},
		{
			Kind: Stops, Title: l.T("drill.stops.title"),
			Lead:    l.T("drill.stops.lead"),
			Minutes: 4, Levels: MaxLevel,
			Harder: [MaxLevel]string{
				l.T("drill.stops.level.1"),
				l.T("drill.stops.level.2"),
				l.T("drill.stops.level.3"),
			},
		},
	}
}

// Find returns the drill with the given name, described in a language.
func Find(l *terms.Language, kind string) (Info, bool) {
	for _, i := range Kinds(l) {
		if string(i.Kind) == kind {
			return i, true
		}
	}
	return Info{}, false
}

// New returns the problem for a kind, a seed and a level from 1 to [MaxLevel]. Seed 0 at level 1 is
// the lesson's own example. All texts are in language l. The error is a *[terms.Refusal].
func New(l *terms.Language, kind Kind, seed uint64, level int) (*Problem, error) {
	info, ok := Find(l, string(kind))
	if !ok {
		return nil, terms.Refuse(terms.CodeUnknown, "drill.refused.kind", "kind", string(kind))
	}
	if level < 1 || level > info.Levels {
		return nil, terms.Refuse(terms.CodeUnknown, "drill.refused.level", "level", level, "most", info.Levels)
	}
	p := &Problem{
		Kind: kind, Seed: seed, Level: level, Title: info.Title, Lead: info.Lead, lang: l, cells: map[string]*cell{},
	}
	map[Kind]func(*Problem){
		Five: buildFive, Softmax: buildSoftmax, Shift: buildShift, Attention: buildAttention, KVBytes: buildKVBytes,
		MultiplyAdds: buildMultiplyAdds,
		Bill:         buildBill, Speculation: buildSpeculation, Stops: buildStops,
	}[kind](p)
	return p, nil
}

// Problem is one drill with its numbers. It does not change after [New].
type Problem struct {
	Kind  Kind
	Seed  uint64
	Level int
	Title string
	Lead  string
	Facts []Fact // the given facts, above the steps
	Steps []*Step

	lang     *terms.Language
	cells    map[string]*cell
	order    []string
	overview []Summary
	trend    []TrendPoint
}

// Fact is a given quantity.
type Fact struct {
	Name, Value string
}

// Step is one part of the work: a table with cells to fill in, and questions
// under it.
type Step struct {
	ID      string
	Name    string   // label of its tab: "Softmax"
	Note    string   // next to the name: "T = 1"
	Title   string   // the task
	Ask     string   // how to do it
	Needs   []string // steps that must be complete before this one is shown, because it uses their answers
	Columns []Column
	Rows    []Row // every row has one item per column
	Foot    []Row
	Asks    []Ask
	Remark  string // what this step demonstrates, for the summary
}

// ColumnState describes how a step uses a column.
type ColumnState string

// The states of a column.
const (
	Given  ColumnState = "given"  // shows numbers
	Live   ColumnState = "live"   // to fill in
	Locked ColumnState = "locked" // empty until a later step
)

// Column is a column of a step's table.
type Column struct {
	Key   string
	Head  string // "z / T"
	Title string // accessible name: "logit divided by T"
	State ColumnState
}

// Row is a row of a step's table.
type Row struct {
	Key   string
	Name  string
	Token bool // Name is the text of a token, including its leading space
	Items []Item
}

// Item is one item of a table: given text, a cell, or nothing.
type Item struct {
	Text   string
	Value  float64 // the value of a given number
	Cell   *Cell
	Option string // in a column that selects rows: the option of Cell that selects this row
	Due    bool   // Text describes the sum that a column must have
}

// Ask is a question under the table.
type Ask struct {
	Prompt string
	Cell   *Cell
}

// CellType is the type of a cell's answer.
type CellType string

// The types of cells.
const (
	Number   CellType = "number"
	Set      CellType = "set"    // some of the options: their values joined by commas
	ChoiceOf CellType = "choice" // one of the options: its value
)

// quotedAll lists tokens in quotes.
func (p *Problem) quotedAll(tokens []string) string {
	list := make([]string, len(tokens))
	for i, t := range tokens {
		list[i] = p.lang.T("drill.quoted", "token", t)
	}
	return strings.Join(list, ", ")
}

// Cell is a field to fill in.
type Cell struct {
	ID      string
	Label   string // accessible name: "p for “the”"
	Type    CellType
	Form    Form   // of a number
	Unit    string // shown after the box
	Options []Option
}

// Option is one option of a choice.
type Option struct {
	Value, Text string
	Token       bool // Text is the text of a token
}

// Cell returns the cell with the given id, or nil.
func (p *Problem) Cell(id string) *Cell {
	if c := p.cells[id]; c != nil {
		return &c.Cell
	}
	return nil
}

// Order returns the ids of all cells, in the order in which learners work them out.
func (p *Problem) Order() []string { return append([]string(nil), p.order...) }

// cell is a cell with the data needed to check it.
type cell struct {
	Cell
	step   string
	grader grader
	answer string    // the worked solution's answer
	shown  string    // the answer, formatted for reading
	hints  [3]string // if the third is empty, it is the arithmetic of the last line of work
	work   []Line    // add sets the last Result, which is the answer
}

// grader parses and grades the text of one cell. Its response is in language l.
type grader interface {
	grade(l *terms.Language, text string) Verdict
}

// add adds a cell to the last step. The cell's ID is completed with the step's.
func (p *Problem) add(c *cell) *Cell {
	c.step = p.last().ID
	c.ID = c.step + "." + c.ID
	if p.cells[c.ID] != nil {
		panic("drill: two cells are called " + c.ID)
	}
	c.shown = cmp.Or(c.shown, c.answer)
	line := &c.work[len(c.work)-1]
	line.Result = c.shown
	c.hints[2] = cmp.Or(c.hints[2], line.Eq+".")
	p.cells[c.ID] = c
	p.order = append(p.order, c.ID)
	return &c.Cell
}
