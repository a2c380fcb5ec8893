package drill

import (
	"cmp"
	"math"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// quantity is one number to compute.
type quantity struct {
	id, name, how string // how is the formula in symbols, shown in a list
	form          Form
	unit          string
	want          []float64
	slips         []slip
	note          string
	answer        string // the answer, if it does not have the usual form

	question, rule, numbers string // the hints; numbers may be empty, as in [cell]
	work                    []Line
}

// list adds a step whose table is a list of quantities.
func (p *Problem) list(step Step, quantities ...quantity) {
	rows := make([]Row, len(quantities))
	for i, q := range quantities {
		rows[i] = Row{Key: q.id, Name: q.name}
	}
	value := p.lang.T("drill.list.column.head.value")
	p.begin(step, rows,
		Column{
			Key: "how", Head: p.lang.T("drill.list.column.head.from"),
			Title: p.lang.T("drill.list.column.column.worked_out_from"),
		},
		Column{Key: "value", Head: value, Title: value})
	p.fill("how", Given, func(i int) Item { return Item{Text: quantities[i].how} })
	p.fill("value", Live, func(i int) Item { return Item{Cell: p.number(quantities[i])} })
}

// number adds the cell of a quantity.
func (p *Problem) number(q quantity) *Cell {
	n := newNumber(p.lang, q.form, q.want, q.slips)
	n.note = q.note
	return p.add(&cell{
		Cell:   Cell{ID: q.id, Label: q.name, Type: Number, Form: q.form, Unit: q.unit},
		grader: n, answer: cmp.Or(q.answer, q.form.show(q.want[0])),
		hints: [3]string{q.question, q.rule, q.numbers}, work: q.work,
	})
}

// choose adds a choice under the table of the last step.
func (p *Problem) choose(id, prompt, label string, c *choice, hints [3]string, work Line) {
	o, _ := find(c.options, c.right)
	p.ask(prompt, p.add(&cell{
		Cell: Cell{ID: id, Label: label, Type: ChoiceOf, Options: c.options}, grader: c,
		answer: c.right, shown: strings.TrimSpace(o.Text), hints: hints, work: []Line{work},
	}))
}

// otherRows returns a slip for each row of a table except row i, with that row's value f(j) in the
// same column.
func otherRows(l *terms.Language, names []string, i int, what string, f func(j int) float64) (slips []slip) {
	for j, name := range names {
		if j != i {
			slips = append(slips, slip{
				mistake: OtherRow, value: f(j), title: l.T("drill.slip.belongs_another_row"),
				why: l.T("drill.slip.belongs_another_row.why", "what", what, "token", name, "token2", names[i]),
			})
		}
	}
	return slips
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
