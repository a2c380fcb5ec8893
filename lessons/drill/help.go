package drill

// Line is one line of a worked solution: a description, the arithmetic, and the result.
type Line struct {
	Say    string
	Eq     string // "20.086 / 86.440"
	Result string // "0.2324"
}

// Hint is one of the three hints for a cell.
type Hint struct {
	Rung int
	Text string
	Last bool
}

// Rungs is the number of hints for a cell: the first asks a question, the second gives the rule,
// and the third applies it to the numbers.
const Rungs = 3

// Hint returns a hint for a cell. rung is clamped to the range from 1 to [Rungs]. An unknown cell
// has no hints.
func (p *Problem) Hint(cellID string, rung int) Hint {
	c := p.cells[cellID]
	if c == nil {
		return Hint{}
	}
	rung = min(max(rung, 1), Rungs)
	return Hint{Rung: rung, Text: c.hints[rung-1], Last: rung == Rungs}
}

// Work returns the worked solution of a cell. The Result of the last line is the answer.
func (p *Problem) Work(cellID string) []Line {
	c := p.cells[cellID]
	if c == nil {
		return nil
	}
	return append([]Line(nil), c.work...)
}

// Answer returns the worked solution's answer for a cell, in a form that Check accepts. It returns
// "" for an unknown cell.
func (p *Problem) Answer(cellID string) string {
	if c := p.cells[cellID]; c != nil {
		return c.answer
	}
	return ""
}

// Working is the worked solution of one step.
type Working struct {
	Step    *Step
	Lines   []Line            // one for each cell: the last line of its solution
	Answers map[string]string // by cell, in the form shown to learners
}

// Worked returns the worked solution of each step.
func (p *Problem) Worked() []Working {
	var list []Working
	for _, s := range p.Steps {
		w := Working{Step: s, Answers: map[string]string{}}
		for _, id := range p.order {
			if c := p.cells[id]; c.step == s.ID {
				w.Answers[id] = c.shown
				if len(c.work) > 0 {
					last := c.work[len(c.work)-1]
					last.Say = p.lang.T("drill.work.cell", "label", c.Label, "say", last.Say)
					w.Lines = append(w.Lines, last)
				}
			}
		}
		list = append(list, w)
	}
	return list
}

// Summary is the result of one step of the softmax drill.
type Summary struct {
	Step, Name, Note, Remark string
	Rows                     []SummaryRow
	Cut                      bool // whether some tokens were cut and Q is renormalized
}

// SummaryRow is one token, with its p after the temperature and its q after the cut.
type SummaryRow struct {
	Name string
	P, Q float64
	Kept bool
}

// Overview returns a summary of each step of the softmax drill, or nil for other drills. The
// summaries contain all answers.
func (p *Problem) Overview() []Summary { return append([]Summary(nil), p.overview...) }

// TrendPoint is a temperature T with the largest probability P at it.
type TrendPoint struct {
	T, P float64
}

// Trend returns the largest probability at several temperatures for the softmax drill, or nil for
// other drills. The probability falls as T rises.
func (p *Problem) Trend() []TrendPoint { return append([]TrendPoint(nil), p.trend...) }
