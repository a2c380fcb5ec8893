package drill

import (
	"math"

	"github.com/tokenbytoken/viz/infer/terms"
)

// quantity is one number to compute: a row of a step whose table is a list.
type quantity struct {
	id, name, how string // how is the formula in symbols
	form          Form
	unit          string
	want          []float64
	slips         []slip
	note          string
	answer        string // the answer, if it does not have the usual form
	hints         [3]string
	work          []Line
}

// list adds a step whose table is a list of quantities.
func (p *Problem) list(step Step, quantities ...quantity) *Step {
	step.Columns = []Column{
		{
			Key: "how", Head: p.lang.T("drill.list.column.head.from"),
			Title: p.lang.T("drill.list.column.column.worked_out_from"), State: Given,
		},
		{
			Key: "value", Head: p.lang.T("drill.list.column.head.value"),
			Title: p.lang.T("drill.list.column.head.value"), State: Live,
		},
	}
	for _, q := range quantities {
		step.Rows = append(
			step.Rows, Row{Key: q.id, Name: q.name, Items: []Item{{Text: q.how}, {Cell: p.quantity(step.ID, q)}}},
		)
	}
	p.Steps = append(p.Steps, &step)
	return &step
}

// quantity adds the cell of a quantity.
func (p *Problem) quantity(step string, q quantity) *Cell {
	n := newNumber(q.form, q.want, q.slips)
	n.note = q.note
	if q.answer == "" {
		q.answer = q.form.show(q.want[0])
	}
	return p.add(&cell{
		Cell: Cell{ID: step + "." + q.id, Label: q.name, Type: Number, Form: q.form, Unit: q.unit}, step: step,
		grader: n,
		answer: q.answer, hints: q.hints, work: q.work,
	})
}

// question adds a choice under the last step's table.
func (p *Problem) question(id, prompt, label string, c *choice, hints [3]string, work []Line) {
	step := p.Steps[len(p.Steps)-1]
	o, _ := find(c.options, c.right)
	made := p.add(&cell{
		Cell: Cell{ID: step.ID + "." + id, Label: label, Type: ChoiceOf, Options: c.options}, step: step.ID,
		grader: c, answer: c.right, shown: o.Text, hints: hints, work: work,
	})
	step.Asks = append(step.Asks, Ask{prompt, made})
}

// exactly returns v as the only right value.
func exactly[T int | int64 | float64](v T) []float64 { return []float64{float64(v)} }

// times formats a product.
func times(factors ...int) string {
	s := ""
	for i, f := range factors {
		if i > 0 {
			s += " × "
		}
		s += terms.Count(f)
	}
	return s
}

// inThousands converts bytes to GB, for learners who use GB instead of GiB.
func inThousands(bytes int64) float64 {
	v, i := float64(bytes), 0
	for v >= 1024 && i < 4 {
		v, i = v/1024, i+1
	}
	return v * math.Pow(1000, float64(i))
}
