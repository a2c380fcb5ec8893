package drill

// State is the state of an answer.
type State string

// The states of an answer.
const (
	Empty   State = "empty"
	Right   State = "right"
	Part    State = "part" // nearly right; earns part of the credit
	Wrong   State = "wrong"
	Refused State = "refused" // not an answer; costs nothing
)

// Mistake identifies a mistake. It is empty if there was no mistake or none was recognized.
type Mistake string

// The mistakes, each of which is recognized from the answer alone.
const (
	OtherT      Mistake = "other-t"      // gave the value at another temperature
	Largest     Mistake = "largest"      // divided by the largest instead of the sum
	Renormalize Mistake = "renormalise"  // forgot to renormalize
	TimesT      Mistake = "times-t"      // multiplied by T instead of dividing
	IgnoredT    Mistake = "ignored-t"    // left out T or the constant
	AfterT      Mistake = "after-t"      // applied T or the constant at the wrong step
	Multiplied  Mistake = "multiplied"   // multiplied by a number instead of adding it or raising to its power
	Crossing    Mistake = "crossing"     // left out the token that crosses the border
	OneTooFew   Mistake = "one-too-few"  // kept one token too few
	OneTooMany  Mistake = "one-too-many" // kept one token too many
	Rounding    Mistake = "rounding"
	Base10      Mistake = "base-10" // raised 10 instead of e
	Base2       Mistake = "base-2"
	TimesE      Mistake = "times-e"      // multiplied by e instead of raising e
	NoExp       Mistake = "no-exp"       // used the logits themselves
	Shifted     Mistake = "shifted"      // subtracted the largest first
	NoRoot      Mistake = "no-root"      // did not divide by the root of the head size
	NoQuery     Mistake = "no-query"     // used the keys without the query
	LookedAhead Mistake = "looked-ahead" // gave weight to a later token
	NotAdded    Mistake = "not-added"    // did not add the message to the vector
	Swapped     Mistake = "swapped"      // a number from another column
	OtherRow    Mistake = "row"          // a number from another row
	Unsorted    Mistake = "unsorted"     // added up in the wrong order
	NotRunning  Mistake = "running"      // gave a single number instead of the running total
	LeftOut     Mistake = "left-out"     // left a number out of a sum
	NotCut      Mistake = "not-cut"      // a cut token kept its probability
	Percent     Mistake = "percent"      // a percentage without its sign
	Printed     Mistake = "printed"      // the value that a source misprints
	KeysAlone   Mistake = "keys-alone"
	QueryHeads  Mistake = "query-heads"
	NoBytes     Mistake = "no-bytes"
	Units       Mistake = "units" // used the wrong unit, such as GB for GiB
	Missing     Mistake = "missing"
	OffByOne    Mistake = "off-by-one"
	Averaged    Mistake = "averaged"
	OtherOption Mistake = "option"
)

// Verdict is the response to one answer.
type Verdict struct {
	Cell       string
	State      State
	Credit     float64 // 0 to 1
	Understood string  // how the answer was parsed: "63.2% is 0.632"
	Converted  bool    // Understood differs from the answer
	Value      float64 // the parsed value; 0 if it is not a number
	Mistake    Mistake
	Title      string // the mistake in a sentence: "You divided by the largest exponential instead of the sum."
	Why        string // the arithmetic behind the title
	Note       string // something worth knowing about a right answer

	either bool // two slips lead to the number, so Title and Why name both
}

// Check grades the answer for a cell. For an unknown cell, the answer counts as refused.
func (p *Problem) Check(cellID, text string) Verdict {
	c := p.cells[cellID]
	if c == nil {
		return Verdict{Cell: cellID, State: Refused, Title: p.lang.T("drill.refused.cell")}
	}
	v := c.grader.grade(p.lang, text)
	v.Cell = cellID
	return v
}

// Score is the state of a whole problem.
type Score struct {
	Right, Part, ToFix, ToGo, Of int     // numbers of cells
	Credit                       float64 // 0 to 1, all cells weighted equally
	Steps                        []StepScore
	Verdicts                     map[string]Verdict
	Complete                     bool // whether every cell is right
}

// StepScore is the state of one step.
type StepScore struct {
	ID                           string
	Right, Part, ToFix, ToGo, Of int
	Complete                     bool
	Open                         bool // whether the steps that it needs are complete
}

// Score grades all answers, which are keyed by cell. ToGo counts the cells whose answer is missing
// or refused.
func (p *Problem) Score(answers map[string]string) Score {
	s := Score{Verdicts: map[string]Verdict{}, Of: len(p.order)}
	at := map[string]*StepScore{}
	for _, step := range p.Steps {
		s.Steps = append(s.Steps, StepScore{ID: step.ID})
	}
	for i := range s.Steps {
		at[s.Steps[i].ID] = &s.Steps[i]
	}
	for _, id := range p.order {
		v := p.Check(id, answers[id])
		s.Verdicts[id] = v
		s.Credit += v.Credit
		step := at[p.cells[id].step]
		step.Of++
		switch v.State {
		case Right:
			step.Right++
		case Part:
			step.Part++
		case Wrong:
			step.ToFix++
		default:
			step.ToGo++
		}
	}
	for i, step := range p.Steps {
		x := &s.Steps[i]
		x.Complete = x.Right == x.Of
		x.Open = true
		for _, need := range step.Needs {
			x.Open = x.Open && at[need].Complete
		}
		s.Right, s.Part, s.ToFix, s.ToGo = s.Right+x.Right, s.Part+x.Part, s.ToFix+x.ToFix, s.ToGo+x.ToGo
	}
	s.Credit /= float64(max(1, s.Of))
	s.Complete = s.Right == s.Of
	return s
}
