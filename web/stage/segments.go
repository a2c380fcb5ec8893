package stage

import (
	"strconv"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Segments is the strip from 0 to 1 on which every token is as wide as its probability.
type Segments struct {
	Big        bool // stage 5: p′, with space for u
	Aria       string
	List       []Segment
	Mark       string // SVG length of the marker; "" if there is none
	Anchor     string // whether the marker's text starts or ends at the marker: "start" or "end"
	Dx         string // the text's distance from the marker
	Say        string
	SayEnd     string // more text, omitted on narrow screens
	Ticks      []Tick
	What       string // SVG length of the marker for another u; "" if there is none
	WhatAnchor string
	WhatDx     string
	WhatSay    string
}

// Segment is one token's share.
type Segment struct {
	X, W  string // SVG lengths
	Text  Text
	P     string // next to the text if there is room
	Class string // p1 to p5, "is-cut", "is-pick" or "is-rest"
	Ramp  string // for the pick: its class before the draw and while the marker falls
	Fit   string // "fit-s": the text fits on a phone; "fit-m": on a wide screen; or fitsNowhere
	FitP  string // the same for P, which is never shown without the text
	Title string
	TextX string // start of the text, as an SVG length, if a piece on top of this segment covers part of it

	Over bool   // a piece of the rest, drawn on top of the segment for the rest
	Thin bool   // too thin to see without a mark
	Gaps string // for the Story's rest: the gaps between its pieces, as an SVG path gapsWide wide and 1 high

	at, wide float64 // X and W as shares of the strip
}

// carry returns a name for a segment. [StoryShare.carry] returns the same name for the
// corresponding bar.
func (g Segment) carry() string {
	if g.Class == "is-rest" {
		return carryRest
	}
	return g.Text.String()
}

// lit is like [MapShare.lit]. It returns "" for a segment of several tokens.
func (g Segment) lit() string {
	if g.Class == "is-rest" || g.Class == "is-cut" {
		return ""
	}
	return g.Text.String()
}

// Widths in CSS pixels: the minimum width of the strip on a phone and on a wide screen, and the
// width of one character of its labels.
const (
	narrowStrip, wideStrip = 280, 640
	labelChar              = 7.4
	labelPad               = 12
)

// fitsNowhere is the class of a label that fits on no screen. It is not drawn.
const fitsNowhere = "fit-x"

// fit returns the screens on which a label of n characters fits into a segment. The segment's width
// is a share w of the strip.
func fit(n int, w float64) string {
	need := float64(n)*labelChar + labelPad
	switch {
	case w*narrowStrip >= need:
		return "fit-s"
	case w*wideStrip >= need:
		return "fit-m"
	}
	return fitsNowhere
}

func segment(x, w float64, text Text, class string) Segment {
	n := utf8.RuneCountInString(text.String())
	return Segment{
		X: Share(x), W: Share(w), Text: text, P: terms.ProbShort(w), Class: class,
		Fit: fit(n, w), FitP: fit(max(n, len(terms.ProbShort(w))), w), Title: text.String() + " " + terms.Prob(w),
		TextX: "0", at: x, wide: w,
	}
}

// beside moves the text of a segment to the side of a piece on top of it where there is more space.
func (g *Segment) beside(from, to float64) {
	space := from - g.at
	if after := g.at + g.wide - to; after > space {
		g.TextX, space = Share((to-g.at)/g.wide), after
	}
	n := utf8.RuneCountInString(g.Text.String())
	g.Fit, g.FitP = fit(n, space), fit(max(n, utf8.RuneCountInString(g.P)), space)
}

// lay puts a winner's piece on top of the rest of a strip. It is for winners that have no segment
// of their own.
func lay(list []Segment, winner Segment, from, to float64) []Segment {
	for i := range list {
		if list[i].Class == "is-rest" {
			list[i].beside(from, to)
		}
	}
	winner.Over, winner.Thin = true, to-from < thinnest
	return append(list, winner)
}

// least is the width of the narrowest segment that is drawn, as a share of the strip.
const least = 0.002

// thinnest is the minimum width, as a share of the strip, at which a winner is visible next to its
// marker.
const thinnest = 0.005

// adjacent returns the rows before the first missing rank, whose segments are laid end to end. If
// keptAlone is true, it returns only the kept ones.
func adjacent(rows []infer.Row, keptAlone bool) []infer.Row {
	var list []infer.Row
	for i, r := range rows {
		if r.Rank != i+1 {
			break
		}
		if r.Kept || !keptAlone {
			list = append(list, r)
		}
	}
	return list
}

// segmentsOf lays tokens end to end, with the width of each given by the function width. All other
// tokens form one segment at the end.
func segmentsOf(rows []infer.Row, width func(infer.Row) float64, restText, restClass string) []Segment {
	var list []Segment
	var x float64
	for _, r := range rows {
		w := width(r)
		if w < least || x+w > 1 {
			break
		}
		list = append(list, segment(x, w, TokenText(r.Token), Ramp(w)))
		x += w
	}
	if 1-x > least {
		list = append(list, segment(x, 1-x, Text{{S: restText}}, restClass))
	}
	return list
}

func probability(r infer.Row) float64 { return r.P }

func (w Words) softmaxSegments(s *session.State, st infer.Softmax) *Segments {
	v := &Segments{Ticks: unitTicks, Aria: w.T("segments.softmax")}
	v.List = segmentsOf(adjacent(st.Rows.Rows, false), probability, w.T("segments.others"), "is-rest")
	set := s.Step().Settings
	if set.TopP < 1 && !set.Greedy() && set.Order == sampling.OrderOwn && s.Dist != nil {
		last := crossing(s.Dist, s)
		v.mark(
			set.TopP, w.T("segments.inside", "p", terms.Setting(set.TopP), "token", last), w.T("segments.look"),
		)
	}
	return v
}

// crossing returns the text of the token on which top-p's mark falls.
func crossing(d *sampling.Distribution, s *session.State) string {
	return TokenText(s.Model.Token(int(d.Order[d.Reach(sampling.RuleTopP)-1]))).String()
}

func (v *Segments) mark(at float64, words, more string) {
	v.Mark, v.Say, v.SayEnd = Share(at), words, more
	v.Anchor, v.Dx = "start", "9"
	if at > 0.5 {
		v.Anchor, v.Dx = "end", "-9"
	}
	v.Aria += ". " + words + more
}

func (w Words) filterSegments(s *session.State, st infer.Filter) *Segments {
	v := &Segments{Ticks: unitTicks, Aria: w.T("segments.filter")}
	v.List = segmentsOf(adjacent(st.Rows.Rows, true), probability, "", "is-cut")
	v.splitCut(w, st)
	set := st.Settings
	switch {
	case set.Greedy():
		v.mark(st.Mass, w.T("segments.greedy"), w.T("segments.greedy.end"))
	case st.Fallback:
		v.mark(st.Mass, w.T("segments.kept", "p", terms.Prob(st.Mass)), w.T("segments.nothing"))
	case set.TopP < 1 && set.Order == sampling.OrderOwn && st.Kept == st.Reach(sampling.RuleTopP) && st.Leading:
		v.mark(
			set.TopP, w.T("segments.inside", "p", terms.Setting(set.TopP), "token", crossing(s.Dist, s)),
			w.T("segments.last"),
		)
	case st.Cut > 0:
		v.mark(
			st.Mass, w.T("segments.kept", "p", terms.Prob(st.Mass)), w.T("segments.by", "rule", w.bindingRule(st)),
		)
	}
	return v
}

// splitCut divides the tokens without segments of their own into kept and cut tokens.
func (v *Segments) splitCut(w Words, st infer.Filter) {
	if len(v.List) == 0 {
		return
	}
	last := len(v.List) - 1
	if v.List[last].Class != "is-cut" {
		return
	}
	from := 0.0
	for _, seg := range v.List[:last] {
		w, _ := strconv.ParseFloat(seg.W[:len(seg.W)-1], 64)
		from += w / 100
	}
	v.List = v.List[:last]
	if st.Mass-from > least {
		v.List = append(v.List, segment(from, st.Mass-from, Text{{S: w.T("segments.kept.others")}}, "is-rest"))
		from = st.Mass
	}
	if 1-st.Mass > 1e-6 {
		v.List = append(v.List, segment(from, 1-from, Text{{S: w.T("cut")}}, "is-cut"))
	}
}

// bindingRule returns the name of the filter that decides how many tokens are kept.
func (w Words) bindingRule(st infer.Filter) string {
	for _, c := range st.Cuts {
		if c.Keeps == st.Kept {
			return w.Rule(c.Rule)
		}
	}
	return w.T("segments.several")
}

// laidSegments returns the kept tokens end to end, before the draw.
func (w Words) laidSegments(f infer.Filter) *Segments {
	v := &Segments{Big: true, Ticks: unitTicks, Aria: w.T("segments.sample")}
	kept := adjacent(f.Rows.Rows, true)
	v.List = segmentsOf(kept, func(r infer.Row) float64 { return r.Q }, w.T("segments.kept.others"), "is-rest")
	return v
}

func (w Words) sampleSegments(st infer.Sample, f infer.Filter) *Segments {
	v := w.laidSegments(f)
	kept := adjacent(f.Rows.Rows, true)
	picked := false
	for i := range min(len(v.List), len(kept)) {
		if kept[i].ID == st.Chosen.ID && v.List[i].Class != "is-rest" {
			v.List[i].Ramp, v.List[i].Class, picked = v.List[i].Class, "is-pick", true
		}
	}
	if st.Greedy {
		return v
	}
	v.mark(st.U, "u = "+terms.Prob(st.U), "")
	if !st.Chosen.Kept {
		return v
	}
	if !picked {
		v.List = lay(v.List, Segment{
			X: Share(st.From), W: Share(st.To - st.From), Class: "is-pick", Fit: fitsNowhere, FitP: fitsNowhere,
			Title: TokenText(st.Chosen.Token).String(),
		}, st.From, st.To)
	}
	return v
}

// what marks the what-if u, and highlights the segment in which it falls.
func (v *Segments) what(w Words, s *session.State) {
	if s.WhatIf == nil || s.Dist == nil {
		return
	}
	u := *s.WhatIf
	i := s.Dist.DrawKept(u)
	r := s.Dist.KeptRank(i)
	v.What, v.WhatSay, v.WhatAnchor, v.WhatDx = Share(u), w.T("segments.what", "u", terms.Prob(u)), "start", "9"
	if u > 0.5 {
		v.WhatAnchor, v.WhatDx = "end", "-9"
	}
	v.Aria += ". " + v.WhatSay
	from, to := s.Dist.Segment(r)
	if i < len(v.List) && v.List[i].X == Share(from) && v.List[i].Class != "is-rest" {
		if v.List[i].Class != "is-pick" {
			v.List[i].Class += " is-what"
		}
		return
	}
	text := TokenText(s.Model.Token(int(s.Dist.Order[r])))
	v.List = append(
		v.List,
		Segment{
			X: Share(from), W: Share(to - from), Text: text, Class: "is-what", Fit: fitsNowhere, FitP: fitsNowhere,
			Title: text.String(),
		},
	)
}
