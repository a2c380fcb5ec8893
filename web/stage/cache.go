package stage

import (
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// BytesPerValue is the size of a cached number, which is a float32.
const BytesPerValue = 4

// Compare compares the work that was done with the work that would be needed without a cache.
type Compare struct {
	Less          string // "14.4× less"
	Cached        Rich   // "3.19 M, 1.8 ms"; the time only if it was measured
	CachedBar     string
	Recomputed    Rich // "46.05 M, not run"
	RecomputedBar string
}

// KVGrid is a picture of the cache, with a row for each layer and a column for each position.
// Lengths are in the units of its view box.
type KVGrid struct {
	ID            string // id of the grid's pattern
	W, H          string // view box
	PitchX        string
	PitchY        string
	CellW, CellH  string
	X, Top        string
	OldW          string // width of the columns from earlier passes; "0" if there are none
	NewX, NewW    string
	BodyH         string
	NextX         string // the dashed column; "" if there is none
	NextW, NextH  string
	Labels        []GridLabel
	First, Newest string
	NewestX       string
	Anchor        string
	LabelY        string
	Aria, Note    string
}

// GridLabel names a layer.
type GridLabel struct{ Y, Text string }

// CacheText describes the contents of the cache and its size in bytes.
func (w Words) CacheText(sh cost.Shape) Rich {
	return append(append(w.Rich("cache.say"), Span{S: " "}), w.kvFormula(sh)...)
}

// kvFormula returns the formula for the bytes of one position, 2 × L × g × s × 4 B.
func (w Words) kvFormula(sh cost.Shape) Rich {
	return w.Rich(
		"cache.formula",
		"bytes",
		bold(w.Bytes(sh.KVBytes(1, BytesPerValue))),
		"layers",
		w.Counted(sh.Layers, "layer"),
		"heads",
		w.Counted(sh.KVHeads, "head"),
		"dim",
		terms.Count(sh.HeadDim),
		"size",
		w.Bytes(BytesPerValue),
	)
}

// NewCompare compares two counts of multiply-adds. took is the measured time, or 0.
func (w Words) NewCompare(run, without int64, took time.Duration) Compare {
	c := Compare{
		Less: w.Less(without, run), Cached: rich(bold(w.MultAdds(run))),
		CachedBar:  Share(float64(run) / float64(max(without, 1))),
		Recomputed: w.Rich("work.not-run", "work", bold(w.MultAdds(without))), RecomputedBar: "100%",
	}
	if took > 0 {
		c.Cached = append(c.Cached, rich(", ", bold(w.Took(took)))...)
	}
	return c
}

// Less describes the factor by which the cache reduces the work.
func (w Words) Less(without, run int64) string {
	if run == without {
		return w.T("work.same")
	}
	return w.T("work.less", "times", terms.Times(without, run))
}

// Sizes of the grid, in view-box units.
const (
	gridLeft, gridTop = 17.0, 6.0
	gridCell          = 11.8 // pitch of a column if there is enough room
	gridRow           = 12.0
	gridBody          = 84.0 // maximum total height of the rows
	leastCell         = 3.0  // narrower columns are drawn as a band
	gap               = 1.4

	fullGrid = 420.0 // width of stage 7's box
	fewGrid  = 204.0 // the part of it that a phone shows at the same scale
)

func num(x float64) string { return strconv.FormatFloat(x, 'f', -1, 32) }

// NewKVGrid draws layers × positions in a box of the given width. The last grew positions are new.
// If there are many positions, the columns get narrower and eventually become one band, which the
// note mentions.
func (w Words) NewKVGrid(id string, layers, positions, grew int, next bool, wide float64) KVGrid {
	return w.kvRows(id, layers, 1, positions, grew, next, wide)
}

// NewKVHeadsGrid returns the grid with a row for each head of each layer.
func (w Words) NewKVHeadsGrid(id string, sh cost.Shape, positions, grew int, next bool, wide float64) KVGrid {
	return w.kvRows(id, sh.Layers, sh.KVHeads, positions, grew, next, wide)
}

// kvRows returns a grid with the given number of rows per layer.
func (w Words) kvRows(id string, layers, per, positions, grew int, next bool, wide float64) KVGrid {
	left := gridLeft
	if layers > 9 { // "L32" is wider than "L6"
		left += 6
	}
	slots := float64(positions)
	if next {
		slots++
	}
	px := min(gridCell, (wide-left-2)/slots)
	tall := gridBody
	if per > 1 {
		tall = 1.75 * gridBody
	}
	py := min(gridRow, tall/float64(layers*per))
	gx, gy := gap, gap
	g := KVGrid{ID: id, W: num(wide), X: num(left), Top: num(gridTop)}
	if px < leastCell {
		gx = 0
		g.Note = w.T("grid.note", "n", terms.Count(positions))
	}
	if py < leastCell {
		gy = 0
	}
	body := py * float64(layers*per)
	newX := left + px*float64(positions-grew)
	end := left + px*float64(positions)
	g.PitchX, g.PitchY, g.CellW, g.CellH = num(px), num(py), num(px-gx), num(py-gy)
	g.OldW, g.NewX, g.NewW, g.BodyH = num(newX-left), num(newX), num(max(end-newX, 1.5)), num(body)
	if next {
		g.NextX, g.NextW, g.NextH = num(end+0.5), num(max(px-gx-1, 2)), num(body-gy-1)
	}
	g.H, g.LabelY = num(gridTop+body+20), num(gridTop+body+12)
	for l := range layers {
		if layers <= 8 || l == 0 || l == layers-1 {
			g.Labels = append(
				g.Labels,
				GridLabel{
					num(gridTop + py*float64(l*per) + min(py*float64(per), 12)/2 + 3.5),
					w.T("grid.layer", "n", strconv.Itoa(l+1)),
				},
			)
		}
	}
	g.First, g.Newest, g.NewestX, g.Anchor = w.T("grid.first"), w.newestLabel(positions, grew), num(end-gx), "end"
	if end < 180 {
		g.First, g.NewestX, g.Anchor = "", num(left), "start"
	}
	rows := w.Counted(layers, "layer")
	if per > 1 {
		rows = w.T("grid.rows", "layers", rows, "heads", w.Counted(per, "key/value head"))
	}
	g.Aria = w.T(
		"grid.aria",
		"rows",
		rows,
		"positions",
		w.Counted(positions, "position"),
		"new",
		w.newColumns(positions, grew),
	)
	return g
}

// newestLabel returns the label of the columns that the pass wrote.
func (w Words) newestLabel(positions, grew int) string {
	key := "grid.newest"
	switch grew {
	case positions:
		key = "grid.newest.all"
	case 1:
		key = "grid.newest.one"
	}
	return w.T(key, "from", terms.Count(positions-grew+1), "to", terms.Count(positions))
}

func (w Words) newColumns(positions, grew int) string {
	key := "grid.new"
	switch grew {
	case positions:
		key = "grid.new.all"
	case 1:
		key = "grid.new.one"
	}
	return w.T(key, "to", terms.Count(positions), "n", terms.Count(grew))
}

// CachePanel is the body of stage 7.
type CachePanel struct {
	Grid     KVGrid
	Few      bool // the columns fill only part of the box, so the picture is narrower too
	GridSay  Rich
	Formula  Rich
	Sum      Rich
	Work     Compare
	Total    Compare
	WorkRows []WorkRow
}

// WorkRow is one kind of work, with the cache and without it.
type WorkRow struct{ Name, Cached, Recomputed string }

func (w Words) cachePanel(s *session.State, st infer.CacheGrowth, p *Stage) {
	shape := s.Model.Shape()
	newest := TokenText(s.Model.Token(s.Step().Chosen))
	c := &CachePanel{Few: gridLeft+gridCell*float64(st.Positions+1)+2 <= fewGrid}
	wide := fullGrid
	if c.Few {
		wide = fewGrid
	}
	c.Grid = w.NewKVGrid("kv-l", st.Layers, st.Positions, st.Grew, st.Positions < st.Context, wide)
	c.GridSay = w.Rich("cache.grid", "token", gen(newest))
	one := w.Bytes(shape.KVBytes(1, st.BytesPerValue))
	c.Formula = w.Rich(
		"cache.one", "layers", w.Counted(st.Layers, "layer"), "heads", w.Counted(st.KVHeads, "key/value head"),
		"dim", terms.Count(st.HeadDim), "size", w.Bytes(int64(st.BytesPerValue)), "bytes", bold(one),
	)
	c.Sum = w.Rich(
		"cache.sum", "positions", w.Counted(st.Positions, "position"), "n", terms.Count(st.Positions), "one", one,
		"bytes", bold(w.Bytes(st.Bytes)),
	)
	c.Work = w.NewCompare(
		st.Cached.Total(), st.Recomputed.Total(), s.Step().Took[infer.KindForward]+s.Step().Took[infer.KindLogits],
	)
	c.Total = w.NewCompare(st.TotalCached, st.TotalRecomputed, 0)
	for _, r := range []struct {
		name string
		a, b int64
	}{
		{"projections", st.Cached.Projections, st.Recomputed.Projections},
		{"feed_forward", st.Cached.FeedForward, st.Recomputed.FeedForward},
		{"attention", st.Cached.Attention, st.Recomputed.Attention},
		{"output", st.Cached.Output, st.Recomputed.Output},
		{"token", st.Cached.Total(), st.Recomputed.Total()},
		{"all", st.TotalCached, st.TotalRecomputed},
	} {
		c.WorkRows = append(c.WorkRows, WorkRow{w.T("part." + r.name), w.MultAdds(r.a), w.MultAdds(r.b)})
	}
	p.Cache = c
}
