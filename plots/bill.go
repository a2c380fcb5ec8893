package plots

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Bill plots the price of one request: a constant floor for the input tokens and, on top of it, a
// wedge that grows with the output tokens. All prices are in dollars.
type Bill struct {
	Read    float64   // price of the whole prompt
	Written float64   // price of each token of the answer
	Most    int       // maximum number of tokens in the answer
	Costs   []float64 // total cost after each output token; empty before a run
	Narrow  bool      // whether to draw the version for phones
}

// Draw plots the price against the number of output tokens. The line is solid up to the number of
// tokens generated, and dashed from there to the maximum.
func (r Bill) Draw(l *terms.Language) (Chart, error) {
	c := Chart{
		Title:  l.T("plot.bill"),
		Header: []string{l.T("plot.bill.tokens"), l.T("plot.bill.cost")},
		Rows:   [][]string{{"0", terms.Dollars(r.Read)}},
	}
	if r.Most < 1 || len(r.Costs) > r.Most || !(r.Read >= 0) || !(r.Written >= 0) {
		return c, fmt.Errorf(
			"draw %q: invalid values: %d costs, at most %d tokens, prices %g and %g",
			c.Title, len(r.Costs), r.Most, r.Read, r.Written,
		)
	}
	points := plotter.XYs{{X: 0, Y: r.Read}}
	for i, cost := range r.Costs {
		points = append(points, plotter.XY{X: float64(i + 1), Y: cost})
		c.Rows = append(c.Rows, []string{strconv.Itoa(i + 1), terms.Dollars(cost)})
	}
	last, most := points[len(points)-1], plotter.XY{X: float64(r.Most), Y: r.Read + float64(r.Most)*r.Written}
	with := []any{
		"read", terms.Dollars(r.Read), "most", l.Counted(r.Most, "token"), "end", terms.Dollars(most.Y),
		"written", l.Counted(len(r.Costs), "token"), "cost", terms.Dollars(last.Y),
	}
	c.Description = l.T("plot.bill.say", with...)
	if len(r.Costs) == 0 {
		c.Description = l.T("plot.bill.say.before", with...)
	}
	if len(r.Costs) < r.Most {
		c.Rows = append(c.Rows, []string{l.T("plot.bill.most", "most", terms.Count(r.Most)), terms.Dollars(most.Y)})
	}
	f := newFigure(&c, wholes(0, r.Most, 4), upTo(most.Y, 4, dollarsTick), 124)
	if r.Narrow {
		f = newFigure(&c, wholes(0, r.Most, 2), upTo(most.Y, 4, dollarsTick), 104)
		f.width = narrowWidth
	}
	return c, r.lines(l, f, points, most)
}

// lines draws the floor, the wedge, and the maximum possible price.
func (r Bill) lines(l *terms.Language, f *figure, points plotter.XYs, most plotter.XY) error {
	from, last := points[0], points[len(points)-1]
	if err := f.box(0, 0, most.X, r.Read, sunken, draw.LineStyle{}); err != nil {
		return err
	}
	f.ends = append(f.ends, label{r.Read, l.T("plot.bill.read", "cost", terms.Dollars(r.Read)), ink2, false})
	if last.X < most.X {
		end := l.T("plot.bill.most", "most", terms.Dollars(most.Y))
		if err := f.line(plotter.XYs{last, most}, dashed, end); err != nil {
			return err
		}
	}
	if last.X > 0 {
		wedge := plotter.XYs{from, last, {X: last.X, Y: r.Read}}
		if err := f.area(wedge, ramp3, draw.LineStyle{}); err != nil {
			return err
		}
		if err := f.line(points, solid, terms.Dollars(last.Y)); err != nil {
			return err
		}
	}
	return f.done(l)
}

// Against holds the data for comparing two daily costs: the cost of an API, which charges for each
// request, and the fixed cost of your own machine.
type Against struct {
	EachRequest float64 // dollars for one request to the API
	MachineDay  float64 // dollars per day
	MostADay    float64 // capacity of one machine
	Now         float64 // the given number of requests per day
}

// BreakEven plots both costs against the number of requests per day, and marks the point at which
// they are equal.
func BreakEven(l *terms.Language, a Against) (Chart, error) {
	c := Chart{
		Title:  l.T("plot.even"),
		Header: []string{l.T("plot.even.requests"), l.T("plot.even.bought"), l.T("plot.even.own")},
	}
	if a.EachRequest <= 0 || a.MachineDay <= 0 || a.MostADay <= 0 {
		return c, fmt.Errorf("draw %q: the prices and the capacity must be positive", c.Title)
	}
	meet := a.MachineDay / a.EachRequest
	most := min(max(meet*2, a.Now*1.25), max(a.MostADay*3, meet*1.5))
	bought, own := plotter.XYs{{X: 0, Y: 0}, {X: most, Y: most * a.EachRequest}}, plotter.XYs{{X: 0, Y: a.MachineDay}}
	// When one machine is not enough, more are added.
	for n := 1.0; own[len(own)-1].X < most && len(own) < 64; n++ {
		to := min(n*a.MostADay, most)
		own = append(own, plotter.XY{X: to, Y: n * a.MachineDay})
		if to < most {
			own = append(own, plotter.XY{X: to, Y: (n + 1) * a.MachineDay})
		}
	}
	c.Description = l.T("plot.even.say", "cost", terms.Dollars(a.MachineDay), "requests", count(l, int64(meet)),
		"most", count(l, int64(a.MostADay)))
	for _, x := range []float64{0, meet / 2, meet, most} {
		machines := max(1, float64(int64(x/a.MostADay+0.999999)))
		c.Rows = append(
			c.Rows,
			[]string{terms.Count(int64(x)), terms.Dollars(x * a.EachRequest), terms.Dollars(machines * a.MachineDay)},
		)
	}
	f := newFigure(&c, upTo(most, 4, countTick(l)), upTo(max(bought[1].Y, own[len(own)-1].Y), 4, dollarsTick), 92)
	f.X.Max = most
	for _, err := range []error{
		f.line(own, dashed, l.T("plot.even.line.own")), f.line(bought, solid, l.T("plot.even.line.bought")),
	} {
		if err != nil {
			return c, err
		}
	}
	if a.Now > 0 && a.Now <= most {
		if err := f.upright(a.Now, mark); err != nil {
			return c, err
		}
		f.notes = append(f.notes, note{
			x: a.Now, y: f.Y.Max, dx: -6, dy: -7, words: l.T("plot.even.yours"), color: ink, align: end,
		})
	}
	return c, f.done(l)
}
