package plots

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot/plotter"

	"github.com/tokenbytoken/viz/infer/terms"
)

// BillSoFar draws the price of one request as its answer is written: it begins
// with the input's. costs are in dollars, after each output token.
func BillSoFar(input float64, costs []float64) (Chart, error) {
	c := Chart{
		Title: "The bill as the loop runs", Header: []string{"output tokens", "cost so far"},
		Rows: [][]string{{"0", terms.Dollars(input)}},
	}
	points := plotter.XYs{{X: 0, Y: input}}
	for i, cost := range costs {
		points = append(points, plotter.XY{X: float64(i + 1), Y: cost})
		c.Rows = append(c.Rows, []string{strconv.Itoa(i + 1), terms.Dollars(cost)})
	}
	total := points[len(points)-1].Y
	c.Description = fmt.Sprintf(
		"The prompt costs %s; after %d tokens of output the request costs %s.", terms.Dollars(input), len(costs),
		terms.Dollars(total),
	)
	f := newFigure(&c, wholes(0, len(costs), 5), upTo(total, 4, dollarsTick), 88)
	for _, err := range []error{
		f.line(plotter.XYs{{X: 0, Y: input}, {X: f.X.Max, Y: input}}, dashed, "input"),
		f.line(points, solid, terms.Dollars(total)),
	} {
		if err != nil {
			return c, err
		}
	}
	if input > total*0.97 { // the two labels would then say the same
		f.ends = f.ends[1:]
	}
	return c, f.done()
}

// Against are the costs of a day by number of requests: bought per token, or
// answered on one's own machine, whose cost is fixed.
type Against struct {
	EachRequest float64 // dollars, bought
	MachineDay  float64 // dollars a day
	MostADay    float64 // capacity of one machine
	Now         float64 // requests a day, as given
}

// BreakEven draws the two against requests a day and marks where they cross.
func BreakEven(a Against) (Chart, error) {
	c := Chart{
		Title:  "Bought per token, or on your own machine",
		Header: []string{"requests a day", "bought, $ a day", "own machine, $ a day"},
	}
	if a.EachRequest <= 0 || a.MachineDay <= 0 || a.MostADay <= 0 {
		return c, fmt.Errorf("draw %q: a price is 0", c.Title)
	}
	meet := a.MachineDay / a.EachRequest
	most := min(max(meet*2, a.Now*1.25), max(a.MostADay*3, meet*1.5))
	bought, own := plotter.XYs{{X: 0, Y: 0}, {X: most, Y: most * a.EachRequest}}, plotter.XYs{{X: 0, Y: a.MachineDay}}
	// A second machine, and a third, once one is not enough.
	for n := 1.0; own[len(own)-1].X < most && len(own) < 64; n++ {
		to := min(n*a.MostADay, most)
		own = append(own, plotter.XY{X: to, Y: n * a.MachineDay})
		if to < most {
			own = append(own, plotter.XY{X: to, Y: (n + 1) * a.MachineDay})
		}
	}
	c.Description = fmt.Sprintf("One machine costs %s a day; %s requests bought cost as much. One machine can answer "+
		"%s a day.",
		terms.Dollars(a.MachineDay), count(int64(meet)), count(int64(a.MostADay)))
	for _, x := range []float64{0, meet / 2, meet, most} {
		machines := max(1, float64(int64(x/a.MostADay+0.999999)))
		c.Rows = append(
			c.Rows,
			[]string{terms.Count(int64(x)), terms.Dollars(x * a.EachRequest), terms.Dollars(machines * a.MachineDay)},
		)
	}
	f := newFigure(&c, upTo(most, 4, countTick), upTo(max(bought[1].Y, own[len(own)-1].Y), 4, dollarsTick), 92)
	f.X.Max = most
	for _, err := range []error{
		f.line(own, dashed, "own machine"), f.line(bought, solid, "bought"),
	} {
		if err != nil {
			return c, err
		}
	}
	if a.Now > 0 && a.Now <= most {
		if err := f.upright(a.Now, mark); err != nil {
			return c, err
		}
		f.notes = append(f.notes, note{x: a.Now, y: f.Y.Max, dx: -6, dy: -7, words: "yours", color: ink, align: end})
	}
	return c, f.done()
}
