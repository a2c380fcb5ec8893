package stage

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// MapForm is the layout of a map.
type MapForm string

// The layouts: in a column next to the stage; large, with named shares, as on the home page; of low
// height, as on a phone; and without shares, as in a lesson's [Picture].
const (
	MapSide   MapForm = "side"
	MapBig    MapForm = "big"
	MapBand   MapForm = "band"
	MapLesson MapForm = "lesson"
)

// MapOptions controls how a page shows the map. With the zero value, the map is in a side column,
// shows the state's stage, and has no buttons.
type MapOptions struct {
	// ID is the element's id; the default is "map". A page with two maps sets it for one of them.
	ID   string
	Form MapForm
	// Zoom adds a button over each row and cell. The button sends the zoom query, which
	// [Words.NewZoom] answers. A page with Zoom shows [Words.ZoomHTML] next to the map, loads
	// js/map.js and is connected to its run.
	Zoom bool
	// Say adds a sentence about what the picture shows at this stage.
	Say bool
	// Walk adds the shares of stages 4 and 5, for a page that contains all stages of a turn and
	// shows them one after another. Stages 4 and 5 must have run.
	Walk bool
	// At is the stage to show, if it is not the state's cursor. It must have run.
	At infer.Kind
	// Room is the minimum number of columns, including empty ones at the end.
	Room int
	// Ahead are columns after the end of the text, in place of the next token's column.
	Ahead []MapColumn
	// Dead, if not 0, is the first position, counted from 1, whose column is no longer valid.
	Dead int
}

// Map is a picture of the model. It has a row for each block, with the last block on top, and a
// column for each token. A filled cell is a key and a value in the cache. The last column's vector
// leaves the model at the top and becomes the shares of the next token. The map shows neither the
// shares nor the drawn token before the stages that determine them have run.
type Map struct {
	ID      string
	Form    MapForm
	Aria    string // what the picture shows, in a sentence
	Say     string // a sentence about what to see or do at this stage, or ""
	Box     string // its view box
	Rows    []MapRow
	Columns []MapColumn
	Bands   bool // there are too many blocks for cells, so each row is a band
	Shares  []MapShare
	Kept    []MapShare // the shares after the cut, for MapOptions.Walk
	Picked  []MapShare // the shares after the draw, for MapOptions.Walk
	Known   bool       // the shares are known
	Drawn   bool       // one of the shares has been drawn
	Read    bool       // the last vector has left the model at the top
	Again   bool       // the drawn token has returned as a column
	Elbow   string     // path from the last column to the vector above it
	Buttons bool       // there are buttons over rows and cells
	Twin    []MapFact

	// Heads and Lines replace rows and columns in a map of the form [MapText].
	Heads []MapKey
	Lines []MapLine
}

// MapRow is one block.
type MapRow struct {
	N     string
	Label bool // its number is shown; with many blocks, only some numbers are
	// Paths of the row's cells, in this order: kept from earlier passes, kept after this pass has
	// ended, written by this pass, written by this pass at its last position, not read yet, and no
	// longer valid.
	Kept, Fresh, Pass, Last, Next, Dead string
	Aria                                string   // label of the row's button
	Cmd                                 string   // opens the block
	Cells                               []string // labels of the buttons over its cells
}

// MapColumn is a token, several folded tokens, or the next token.
type MapColumn struct {
	Text  Text
	Pos   string // the position of its token, from 0; "" if the column is for no token or for several
	Small string // the text under the token, or ""
	// Class is "is-start", "is-gen", "is-fold", "is-next", "is-pad" (empty) or "". To this,
	// "is-quiet" is added if there is no space for the text, "is-wide" if the text extends over the
	// neighboring columns, and "is-no" for a rejected guess.
	Class string
}

// MapShare is one of the most probable next tokens, or everything else.
type MapShare struct {
	Text       Text
	Percent    string
	Y, H       string // its bar, as SVG lengths
	Rest, Pick bool
}

// lit returns the token by which js/lit.js identifies the share. It returns "" for the share of all
// other tokens, because these are different tokens in different parts of a page.
func (v MapShare) lit() string {
	if v.Rest {
		return ""
	}
	return v.Text.String()
}

// MapFact is one line of the map's text alternative.
type MapFact struct{ Name, Say string }

// Limits on what a map shows.
const (
	mapColumns = 24 // tokens; older ones are folded into the first column
	mapCells   = 12 // blocks; more are drawn as bands
	mapEmpty   = 8  // columns of the map before the first prompt, where only one is drawn
	mapShares  = 5
	mapLabels  = 14   // maximum number of columns that all have labels; if there are more, every second one has a label
	mapPitch   = 10.0 // pitch of rows and columns, in units of the view box
)

// NewMap draws the model at a state. Before the first prompt, the map has only its rows and one
// dashed column.
func (w Words) NewMap(s *session.State, o MapOptions) Map {
	m := Map{ID: o.ID, Form: o.Form, Buttons: o.Zoom && s.Started(), Bands: s.Model.Config().Layers > mapCells}
	if m.ID == "" {
		m.ID = "map"
	}
	if m.Form == "" {
		m.Form = MapSide
	}
	at := o.At
	if at == 0 {
		at = s.Cursor.Stage
	}
	m.Shares = w.mapShares(s, at)
	m.Known = m.Shares[0].Percent != ""
	if o.Walk {
		m.Kept, m.Picked = w.mapShares(s, infer.KindFilter), w.mapShares(s, infer.KindSample)
	}
	m.Drawn = m.Known && at >= infer.KindSample && s.Step().Ran >= infer.KindSample
	spans, classes := w.mapColumns(s, at, o, &m)
	w.mapRows(s, &m, spans, classes)
	w.mapText(s, &m, spans)
	if o.Say && s.Started() {
		m.Say = w.mapCaption(s, at, o.At == 0 && s.Undrawn)
	}
	return m
}

// mapColumns fills in the columns. It returns the positions that each column covers, and the row
// path to which the column's cells belong.
func (w Words) mapColumns(
	s *session.State, at infer.Kind, o MapOptions, m *Map,
) (spans []span, classes []string) {
	if !s.Started() {
		spans, classes = mapSpans(mapEmpty), make([]string, mapEmpty)
		m.Columns, classes[0] = make([]MapColumn, mapEmpty), "next"
		m.Columns[0] = MapColumn{Text: Text{{S: "?", Mark: true}}, Class: "is-next"}
		return spans, classes
	}
	step := s.Step()
	n, read := step.Positions(), len(step.Input)
	tokens := w.textTokens(s, n)
	for i, c := range mapSpans(n) {
		column := MapColumn{Text: tokens[c.from].Text, Pos: strconv.Itoa(c.from)}
		switch {
		case c.to-c.from > 1:
			column = MapColumn{Text: Text{{S: "+" + terms.Count(c.to-c.from), Mark: true}}, Class: "is-fold"}
		case i == 0 && s.PromptTokens[0].Special:
			column.Class = "is-start"
		case strings.Contains(tokens[c.from].Class, "is-gen"):
			column.Class = "is-gen"
		}
		m.Columns, spans = append(m.Columns, column), append(spans, c)
		class := mapClass(c, n, n-read, at)
		if o.Dead > 0 && c.from >= o.Dead-1 {
			class = "dead"
		}
		classes = append(classes, class)
	}
	m.Read = at >= infer.KindForward
	newest := float64(len(spans)) - 0.5
	switch {
	case len(o.Ahead) > 0:
		for i, c := range o.Ahead {
			m.Columns, spans = append(m.Columns, c), append(spans, span{n + i, n + i + 1})
			classes = append(classes, "next")
		}
	case n < s.Model.Config().Context:
		next := MapColumn{Text: Text{{S: "?", Mark: true}}, Class: "is-next"}
		if at >= infer.KindAppend && step.Ran >= infer.KindAppend {
			next.Text, m.Again = TokenText(s.Model.Token(step.Chosen)), true
			next.Class += " is-gen"
		}
		m.Columns, spans, classes = append(m.Columns, next), append(spans, span{n, n + 1}), append(classes, "next")
	}
	if o.Form != MapLesson { // there, many labels are upright, so all fit
		quiet(m.Columns)
	}
	for i := len(spans); i < o.Room; i++ {
		m.Columns, spans = append(m.Columns, MapColumn{Class: "is-pad"}), append(spans, span{i, i + 1})
		classes = append(classes, "")
	}
	m.Elbow = mapElbow(100 * newest / float64(len(spans)))
	return spans, classes
}

// quiet hides every second label if there is not enough space for all of them. It keeps the newest
// label, which becomes the next token's once that token is drawn. It also keeps the label of the
// fold, and hides the one next to it.
func quiet(columns []MapColumn) {
	if len(columns) <= mapLabels {
		return
	}
	newest := len(columns) - 2
	if columns[newest+1].Class == "is-next is-gen" {
		newest++
	}
	for i := range newest {
		c, folded := &columns[i], columns[0].Class == "is-fold"
		if (newest-i)%2 == 1 && !(folded && i == 0) || folded && i == 1 {
			c.Class = strings.TrimSpace(c.Class + " is-quiet")
		}
	}
}

// mapElbow returns the path from the middle of a column, at x percent of the width, up to the
// vector above the middle of the map.
func mapElbow(x float64) string {
	const left, right = 28, 72
	x = math.Round(x*10) / 10
	if x >= left && x <= right {
		return "M" + num(x) + " 36V26"
	}
	return fmt.Sprintf("M%s 36V21H%s", num(x), num(min(max(x, left), right)))
}

// mapSpans returns the columns of n positions. If there are more than [mapColumns], the oldest
// positions share one column.
func mapSpans(n int) []span {
	var list []span
	from := 0
	if n > mapColumns {
		from = n - mapColumns + 1
		list = append(list, span{0, from})
	}
	for i := from; i < n; i++ {
		list = append(list, span{i, i + 1})
	}
	return list
}

// mapClass returns the row path to which a column's cells belong. Earlier passes have read the
// first old of the n positions. At the last stage, the columns of this pass count as kept.
func mapClass(c span, n, old int, at infer.Kind) string {
	switch {
	case c.from < old:
		return "kept"
	case at >= infer.KindCache:
		return "fresh"
	case c.to == n:
		return "last"
	}
	return "pass"
}

func (w Words) mapRows(s *session.State, m *Map, spans []span, classes []string) {
	layers := s.Model.Config().Layers
	m.Box = fmt.Sprintf("0 0 %s %s", num(float64(len(spans))*mapPitch), num(float64(layers)*mapPitch))
	for i := range layers {
		block := layers - i // the last is on top
		r := MapRow{N: terms.Count(block), Label: !m.Bands || block == 1 || block == layers || block%8 == 0}
		paths := map[string]*strings.Builder{}
		for _, c := range mapRuns(classes, m.Bands) {
			b := paths[classes[c.from]]
			if b == nil {
				b = new(strings.Builder)
				paths[classes[c.from]] = b
			}
			mapCell(b, c, i, m.Bands)
		}
		path := func(class string) string {
			if b := paths[class]; b != nil {
				return b.String()
			}
			return ""
		}
		r.Kept, r.Fresh, r.Pass, r.Last, r.Next = path("kept"), path("fresh"), path("pass"), path("last"), path("next")
		r.Dead = path("dead")
		if m.Buttons {
			w.mapButtons(s, m, &r, block, spans)
		}
		m.Rows = append(m.Rows, r)
	}
}

// mapRuns returns the cells of a row. Normally, each column is a cell. In a band, adjacent columns
// of the same class form one cell.
func mapRuns(classes []string, bands bool) []span {
	var runs []span
	for i, class := range classes {
		if last := len(runs) - 1; bands && last >= 0 && classes[runs[last].from] == class {
			runs[last].to = i + 1
			continue
		}
		runs = append(runs, span{i, i + 1})
	}
	return runs
}

// mapCell draws the columns in c as one cell of row i.
func mapCell(b *strings.Builder, c span, i int, band bool) {
	gapX, gapY := 1.6, 2.0
	if band {
		gapX, gapY = 0.5, 0.5
	}
	wide := float64(c.to-c.from)*mapPitch - 2*gapX
	fmt.Fprintf(
		b, "M%s %sh%sv%sh-%sz", num(float64(c.from)*mapPitch+gapX), num(float64(i)*mapPitch+gapY), num(wide),
		num(mapPitch-2*gapY), num(wide),
	)
}

// mapButtons fills in the buttons of a block: one for the block's row and, unless the row is a
// band, one for each cell.
func (w Words) mapButtons(s *session.State, m *Map, r *MapRow, block int, spans []span) {
	r.Aria = w.T("map.open", "n", r.N)
	r.Cmd = zoomCmd(ZoomTo{Block: block})
	if m.Bands {
		return
	}
	n := s.Step().Positions()
	for i, c := range spans {
		if c.from < n {
			r.Cells = append(r.Cells, w.T("map.cell", "n", r.N, "token", m.Columns[i].Text.Inline()))
		}
	}
}

// mapTab returns the tabindex of a row's button. The Tab key reaches only the first row's button.
func mapTab(row int) string {
	if row == 0 {
		return "0"
	}
	return "-1"
}

// mapShares returns the shares of the most probable next tokens and of all other tokens. The shares
// are empty outlines before the softmax, p at the softmax, and p′ at the filter and later stages.
func (w Words) mapShares(s *session.State, at infer.Kind) []MapShare {
	step, d := s.Step(), s.Dist
	if step == nil || d == nil || at < infer.KindSoftmax || step.Ran < infer.KindSoftmax {
		return make([]MapShare, mapShares+1)
	}
	n := min(mapShares, len(d.Order))
	list, all := make([]MapShare, 0, n+1), make([]float64, 0, n+1)
	rest, drawn := 1.0, at >= infer.KindSample && step.Ran >= infer.KindSample
	for r := range n {
		id := int(d.Order[r])
		p := d.P[id]
		if at >= infer.KindFilter {
			p = d.Q(r)
		}
		list = append(list, MapShare{Text: TokenText(s.Model.Token(id)), Pick: drawn && step.Chosen == id})
		all, rest = append(all, p), rest-p
	}
	others := MapShare{Text: Text{{S: w.T("map.rest")}}, Rest: true}
	others.Pick = drawn && !slices.ContainsFunc(list, func(v MapShare) bool { return v.Pick })
	list, all = append(list, others), append(all, max(rest, 0))
	percents := mapPercents(all)
	for i := range list {
		list[i].Percent, list[i].Y, list[i].H = percents[i], Share(1-all[i]), Share(all[i])
	}
	return list
}

// mapPercents formats shares that sum to 1, rounded by [wholeShares]. The last share is that of all
// other tokens. Since all of them are shown, each is rounded by itself if wholeShares omits one.
func mapPercents(shares []float64) []string {
	last := len(shares) - 1
	some := slices.DeleteFunc(slices.Clone(shares[:last]), func(p float64) bool { return p <= 0 })
	whole, others := wholeShares(some, shares[last])
	if len(whole) < len(some) {
		whole, others = nil, terms.Percent(shares[last])
		for _, p := range some {
			whole = append(whole, terms.Percent(p))
		}
	}
	list := make([]string, 0, len(shares))
	for _, p := range shares[:last] {
		if p <= 0 {
			list = append(list, terms.Percent(0))
			continue
		}
		list, whole = append(list, whole[0]), whole[1:]
	}
	return append(list, cmp.Or(others, terms.Percent(0)))
}
