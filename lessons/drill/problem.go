package drill

import (
	"cmp"
	"fmt"
	"strings"
)

// Kind is the name of a drill, as used in addresses.
type Kind string

// The drills.
const (
	Five         Kind = "five"
	Softmax      Kind = "softmax"
	Shift        Kind = "shift"
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

// fiveTokens describes what makes the levels of the two five-token drills
// harder.
var fiveTokens = [MaxLevel]string{
	"Five tokens in order, logits in halves.",
	"Five tokens in order, logits in tenths.",
	"Six tokens out of order, some logits below 0, and other cuts.",
}

// Kinds lists the drills in teaching order.
func Kinds() []Info {
	return []Info{
		{
			Kind: Five, Title: "The five-token drill", Taught: true,
			Lead:    "One prediction by hand, in fifteen answers: shares, three ways to choose, two temperatures.",
			Minutes: 8, Levels: MaxLevel,
			Harder: fiveTokens,
		},
		{
			Kind: Softmax, Title: "All of the five-token drill", Taught: true,
			Lead:    "The same prediction with every number on paper: each power of e, each sum, and the draw.",
			Minutes: 20, Levels: MaxLevel,
			Harder: fiveTokens,
		},
		{
			Kind: Shift, Title: "A constant on every logit",
			Lead:    "Add the same number to every logit and see what becomes of the probabilities.",
			Minutes: 5, Levels: MaxLevel,
			Harder: [MaxLevel]string{
				"Three tokens, logits in halves.",
				"Four tokens, logits in tenths.",
				"Five tokens, logits in tenths.",
			},
		},
		{
			Kind: KVBytes, Title: "The size of the cache", Taught: true,
			Lead:    "Count the bytes of keys and values, from the shape of the model.",
			Minutes: 6, Levels: MaxLevel,
			Harder: [MaxLevel]string{
				"One cache at two lengths.",
				"Shared heads and other number formats.",
				"And how much text fits into a given memory.",
			},
		},
		{
			Kind: MultiplyAdds, Title: "Work with and without the cache",
			Lead:    "Count multiply-adds of one token, with a cache and from scratch.",
			Minutes: 8, Levels: MaxLevel,
			Harder: [MaxLevel]string{
				"A small model.",
				"A large model.",
				"A large model, and where attention catches up.",
			},
		},
		{
			Kind: Bill, Title: "The bill", Taught: true,
			Lead:    "Price a call by what goes in and what comes out.",
			Minutes: 5, Levels: MaxLevel,
			Harder: [MaxLevel]string{
				"One call.",
				"One call, and a month of them.",
				"And a conversation that is sent again with each turn.",
			},
		},
		{
			Kind: Speculation, Title: "Tokens for one verification", Taught: true,
			Lead:    "How many tokens one pass of the large model yields when a draft goes ahead.",
			Minutes: 6, Levels: MaxLevel,
			Harder: [MaxLevel]string{
				"Expected tokens.",
				"And how much faster that is.",
				"And which draft length is best.",
			},
		},
		{
			Kind: Stops, Title: "What stops it",
			Lead:    "Read a run token by token and say which stop condition fires first.",
			Minutes: 4, Levels: MaxLevel,
			Harder: [MaxLevel]string{
				"The stop string is a token.",
				"The stop string is cut across tokens.",
				"It begins inside a token, and the context window counts.",
			},
		},
	}
}

// Find returns the drill with the given name.
func Find(kind string) (Info, bool) {
	for _, i := range Kinds() {
		if string(i.Kind) == kind {
			return i, true
		}
	}
	return Info{}, false
}

// UnknownError means that a drill or a level does not exist.
type UnknownError struct{ What string }

func (e *UnknownError) Error() string { return e.What }

// New returns the problem for a kind, a seed and a level from 1 to [MaxLevel]. Seed 0 at level 1 is
// the lesson's own example. The error is an *[UnknownError].
func New(kind Kind, seed uint64, level int) (*Problem, error) {
	info, ok := Find(string(kind))
	if !ok {
		return nil, &UnknownError{fmt.Sprintf("there is no drill %q", kind)}
	}
	if level < 1 || level > info.Levels {
		return nil, &UnknownError{fmt.Sprintf("level is %d; it must be 1 to %d", level, info.Levels)}
	}
	p := &Problem{Kind: kind, Seed: seed, Level: level, Title: info.Title, Lead: info.Lead, cells: map[string]*cell{}}
	map[Kind]func(*Problem){
		Five: buildFive, Softmax: buildSoftmax, Shift: buildShift, KVBytes: buildKVBytes,
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
	Option string // in a column that selects rows: the option of Cell that stands for this row
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

// quoted puts a token in quotes: "p for “the”".
func quoted(token string) string { return "“" + token + "”" }

func quotedAll(tokens []string) string { return "“" + strings.Join(tokens, "”, “") + "”" }

// Cell is a field to fill in.
type Cell struct {
	ID      string
	Label   string // accessible name: "p for “the”"
	Type    CellType
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
	answer string // the worked solution's answer
	shown  string // the answer, formatted for reading
	hints  [3]string
	work   []Line
}

// grader checks the text of one cell after parsing.
type grader interface {
	grade(text string) Verdict
}

// add adds a cell to the problem.
func (p *Problem) add(c *cell) *Cell {
	if p.cells[c.ID] != nil {
		panic("drill: two cells are called " + c.ID)
	}
	c.shown = cmp.Or(c.shown, c.answer)
	p.cells[c.ID] = c
	p.order = append(p.order, c.ID)
	return &c.Cell
}
