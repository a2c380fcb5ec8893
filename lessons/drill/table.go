package drill

import "slices"

// begin adds a step with a table. All its columns are locked and its items are empty until
// [Problem.fill] fills them. Cells and questions are added to the step that was begun last, in the
// order in which learners work them out.
func (p *Problem) begin(step Step, rows []Row, columns ...Column) {
	for i := range columns {
		columns[i].State = Locked
	}
	for i := range rows {
		rows[i].Items = make([]Item, len(columns))
	}
	step.Columns, step.Rows = columns, rows
	p.Steps = append(p.Steps, &step)
}

// last returns the step that was begun last.
func (p *Problem) last() *Step { return p.Steps[len(p.Steps)-1] }

// column returns the index of a column of the last step.
func (p *Problem) column(key string) int {
	return slices.IndexFunc(p.last().Columns, func(c Column) bool { return c.Key == key })
}

// fill sets the state of a column and its item in each row, from the top down.
func (p *Problem) fill(key string, state ColumnState, item func(row int) Item) {
	step, c := p.last(), p.column(key)
	step.Columns[c].State = state
	for i := range step.Rows {
		step.Rows[i].Items[c] = item(i)
	}
}

// foot sets the item under a column, in the row of sums.
func (p *Problem) foot(key string, item Item) {
	step := p.last()
	if step.Foot == nil {
		step.Foot = []Row{{Key: "sum", Name: p.lang.T("drill.name.sum"), Items: make([]Item, len(step.Columns))}}
	}
	step.Foot[0].Items[p.column(key)] = item
}

// ask adds a question under the table of the last step.
func (p *Problem) ask(prompt string, c *Cell) {
	p.last().Asks = append(p.last().Asks, Ask{prompt, c})
}

// tokenRows returns a row for each token.
func tokenRows(tokens []string) []Row {
	rows := make([]Row, len(tokens))
	for i, t := range tokens {
		rows[i] = Row{Key: t, Name: " " + t, Token: true}
	}
	return rows
}

// item returns a given number as an item.
func (f Form) item(v float64) Item { return Item{Text: f.show(v), Value: v} }

// due returns an item that describes the sum that a column must have.
func due(text string) Item { return Item{Text: text, Due: true} }
