package loop

import (
	"sync"
	"weak"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// CostChart shows the work of the run so far, as a chart and as a table.
type CostChart struct {
	Empty  bool
	SVG    string // one <svg> element, safe to put into a page
	Less   string // "7.4× less"
	Header []string
	Rows   [][]string
	Note   string // set if steps are omitted
}

// chartPoints is the maximum number of steps in the chart. More steps would not change how a curve
// of this size looks.
const chartPoints = 64

func newCostChart(w stage.Words, s *session.State) CostChart {
	points := costPoints(s.Steps[:min(s.Cursor.Step, len(s.Steps))]) // up to the step shown
	if len(points) == 0 {
		return CostChart{Empty: true}
	}
	thin := thinned(points)
	drawn := charts.draw(w, s.Steps[len(points)-1], thin)
	last := points[len(points)-1]
	v := CostChart{
		SVG: drawn.SVG, Less: w.Less(last.Recomputed, last.Cached), Header: drawn.Header,
		Rows: drawn.Rows,
	}
	if len(thin) < len(points) {
		v.Note = w.T("loop.total.thin", "n", len(points), "listed", len(thin))
	}
	return v
}

// costPoints returns the totals after each completed step.
func costPoints(steps []*infer.Step) []plots.CostPoint {
	var points []plots.CostPoint
	for _, step := range steps {
		if step.Ran == infer.KindCache {
			points = append(
				points, plots.CostPoint{Step: step.N, Cached: step.TotalCached, Recomputed: step.TotalRecomputed},
			)
		}
	}
	return points
}

// thinned keeps at most chartPoints of the points, evenly spaced, including the first and
// the last.
func thinned(points []plots.CostPoint) []plots.CostPoint {
	n := len(points)
	if n <= chartPoints {
		return points
	}
	kept := make([]plots.CostPoint, chartPoints)
	for i := range kept {
		kept[i] = points[i*(n-1)/(chartPoints-1)]
	}
	return kept
}

// charts caches the most recently used charts. Drawing a chart takes milliseconds. A chart is
// requested at every stage, but it changes only once per token. Steps are immutable, so the last
// step identifies all steps before it.
var charts = chartMemory{byStep: map[chartKey]plots.Chart{}}

type chartMemory struct {
	mu     sync.Mutex
	byStep map[chartKey]plots.Chart
	order  []chartKey
}

// chartKey identifies a chart by its language and its last step. The step is a weak pointer, so the
// cache does not keep a step and its scores in memory when the run is gone.
type chartKey struct {
	words stage.Words
	last  weak.Pointer[infer.Step]
}

// rememberedCharts is the size of the cache, which is enough for a class of learners. The charts
// take a few hundred KB.
const rememberedCharts = 64

func (m *chartMemory) draw(w stage.Words, last *infer.Step, points []plots.CostPoint) plots.Chart {
	key := chartKey{w, weak.Make(last)}
	m.mu.Lock()
	c, ok := m.byStep[key]
	m.mu.Unlock()
	if ok {
		return c
	}
	c, err := plots.CumulativeCost(w.Language, points)
	if err != nil {
		c.SVG = "" // cannot happen with the points of a run; the table has the same figures
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.byStep[key]; !ok {
		m.byStep[key] = c
		m.order = append(m.order, key)
		if len(m.order) > rememberedCharts {
			delete(m.byStep, m.order[0])
			m.order = m.order[1:]
		}
	}
	return c
}
