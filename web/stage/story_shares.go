package stage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// learnedShares fills in the shares of stage 3, with ticks for the shares at T = 1, which are the
// ones that the model has learned.
func (w Words) learnedShares(s *session.State, v *Story) {
	d, step := s.Dist, s.Step()
	n := min(storyRows, len(d.Order))
	shares, rest := make([]float64, n), 1.0
	for r := range n {
		shares[r] = d.P[d.Order[r]]
		rest -= shares[r]
	}
	if n == len(d.Order) {
		rest = 0
	}
	t := w.shareRows(s, shares, rest)
	v.Shares = t
	if t := d.Settings.ShownTemperature(); t == 0 || t == 1 {
		return
	}
	p, _, _ := sampling.Softmax(step.Logits, 1)
	t.Ghost = w.T("story.ghost")
	left := 1.0
	for i := range t.Rows {
		if t.Rows[i].Rest {
			t.Rows[i].Ghost = Share(left)
			continue
		}
		x := p[d.Order[i]]
		t.Rows[i].Ghost, left = Share(x), left-x
	}
}

// shareRows returns rows for the most likely tokens and for all other tokens.
func (w Words) shareRows(s *session.State, shares []float64, rest float64) *StoryShares {
	t := &StoryShares{}
	list, others := wholeShares(shares, rest)
	for i, percent := range list {
		t.Rows = append(t.Rows, StoryShare{
			Text: TokenText(s.Model.Token(int(s.Dist.Order[i]))), Percent: percent, Bar: Share(shares[i]),
		})
	}
	if others != "" {
		for _, x := range shares[len(list):] {
			rest += x
		}
		t.Rows = append(t.Rows, StoryShare{Name: w.T("story.rest"), Percent: others, Bar: Share(rest), Rest: true})
	}
	return t
}

// keptShares fills in the shares of stage 4. A kept token has p′, and a cut token has the word
// "cut" instead. Ticks show the shares before the cut.
func (w Words) keptShares(s *session.State, st infer.Filter, v *Story) {
	d := s.Dist
	t := &StoryShares{Ghost: w.T("story.ghost.cut")}
	var kept []float64
	var cut []bool
	left, stay := 1.0, d.Keep
	for r := range min(storyRows, len(d.Order)) {
		left -= d.P[d.Order[r]]
		cut = append(cut, !d.Stays(r))
		if d.Stays(r) {
			kept, stay = append(kept, d.Q(r)), stay-1
		}
	}
	rest := 0.0
	if stay > 0 {
		rest = 1
		for _, q := range kept {
			rest -= q
		}
	}
	list, others := wholeShares(kept, max(rest, 0))
	for r, isCut := range cut {
		id := d.Order[r]
		row := StoryShare{Text: TokenText(s.Model.Token(int(id))), Ghost: Share(d.P[id]), Cut: isCut}
		switch {
		case isCut:
			row.Percent, row.Bar = w.T("cut"), row.Ghost
		case len(list) == 0: // the share is not listed ([wholeShares])
			rest += d.Q(r)
			left += d.P[id]
			stay++
			continue
		default:
			row.Percent, row.Bar = list[0], Share(d.Q(r))
			list = list[1:]
		}
		t.Rows = append(t.Rows, row)
	}
	row := StoryShare{
		Name: w.T("story.rest.kept", "n", terms.Count(stay)), Percent: others, Bar: Share(rest), Rest: true,
		Ghost: Share(max(left, 0)),
	}
	if stay == 0 {
		row.Name, row.Percent, row.Bar, row.Cut = w.T("story.rest"), w.T("cut"), row.Ghost, true
	}
	if len(d.Order) > len(t.Rows) {
		t.Rows = append(t.Rows, row)
	}
	v.Shares = t
	if st.Cut > 0 && stay > 0 {
		v.Foot = w.Rich("story.filter.foot", "cut", terms.Count(st.Cut))
	}
}

// StoryLine is stage 5: the shares end to end and, after the draw, where the marker fell.
type StoryLine struct {
	List  []Segment
	Names []StoryShare // the same in words
	Rest  *Segment     // the segment for all other tokens; nil if there is none
	Thin  string       // number of pieces of Rest that are too thin to be separate; "" if there are none
	Aria  string
	Open  bool // not drawn yet: neither the marker's position nor the pick is known
	Pin   string
	Side  string // whether its name starts or ends at the marker: "start" or "end"
	Dx    string
	Pick  Text
	Rings []string // where the markers of the other tries fell, as SVG lengths
	Tries string
}

// lineOf lays the shares end to end. It does not use the draw.
func (w Words) lineOf(s *session.State, v *Story) {
	d := s.Dist
	n := min(storyRows, d.Keep)
	shares, rest := make([]float64, n), 1.0
	for i := range n {
		shares[i] = d.KeptQ(i)
		rest -= shares[i]
	}
	if n == d.Keep {
		rest = 0
	}
	list, others := wholeShares(shares, max(rest, 0))
	line := &StoryLine{Open: true}
	at := 0.0
	for i, percent := range list {
		text := TokenText(s.Model.Token(int(d.Order[d.KeptRank(i)])))
		g := segment(at, shares[i], text, Ramp(shares[i]))
		g.P, g.Title = percent, text.String()+" "+percent
		line.List = append(line.List, g)
		line.Names = append(line.Names, StoryShare{Text: text, Percent: percent, Fit: g.FitP})
		at += shares[i]
	}
	if others != "" {
		w.layRest(line, d, len(list), at, others)
	}
	line.Aria = w.T("story.line.aria")
	top := d.KeptQ(0)
	v.Line = line
	v.Foot = w.Rich(
		"story.favorite", "token", TokenText(s.Model.Token(int(d.Order[d.KeptRank(0)]))), "n", w.OfHundred(top),
		"others", w.others100(1-top),
	)
}

// layRest lays out the unnamed tokens, starting at a rank. Each piece is as wide as its share,
// except that the pieces that would be too thin to see form one block.
func (w Words) layRest(line *StoryLine, d *sampling.Distribution, from int, at float64, share string) {
	name := w.T("story.rest")
	g := segment(at, 1-at, Text{{S: name}}, "is-rest")
	g.P = w.T("story.pieces", "share", share, "pieces", w.Counted(d.Keep-from, "piece"))
	g.FitP = fit(max(len([]rune(g.P)), len([]rune(name))), 1-at)
	g.Title = name + " " + g.P
	var gaps strings.Builder
	i, end := from, at
	for ; i < d.Keep && d.KeptQ(i) >= least; i++ {
		q := d.KeptQ(i)
		if end += q; i+1 < d.Keep {
			gap := min(q/4, widestGap)
			fmt.Fprintf(&gaps, "M%.2f 0h%.2fv1H%.2fz", gapsWide*(end-gap-at)/(1-at), gapsWide*gap/(1-at),
				gapsWide*(end-gap-at)/(1-at))
		}
	}
	g.Gaps = gaps.String()
	switch n := d.Keep - i; n {
	case 0:
	case 1:
		line.Thin = w.T("story.thin.one", "pieces", w.Counted(n, "piece"))
	default:
		line.Thin = w.T("story.thin", "pieces", w.Counted(n, "piece"))
	}
	line.Rest = &g
	line.List = append(line.List, g)
	line.Names = append(line.Names, StoryShare{Name: name, Percent: g.P, Rest: true, Fit: g.FitP})
}

// The gaps between the pieces of the segment for all other tokens are drawn as one path, which is
// gapsWide units wide. A gap is a quarter as wide as its piece, and at most widestGap of the line.
const (
	gapsWide  = 1000
	widestGap = 0.003
)

var gapsBox = fmt.Sprintf("0 0 %d 1", gapsWide)

// landed adds the position where the marker fell.
func (w Words) landed(s *session.State, st infer.Sample, v *Story) {
	line, text := v.Line, TokenText(st.Chosen.Token)
	line.Open, line.Pick = false, text
	span := pick(text)
	v.Foot = w.Rich("story.next", "token", span)
	if !st.Greedy && st.Likely.ID != st.Chosen.ID {
		was := w.Rich(
			"story.favorite.was", "token", TokenText(st.Likely.Token), "n", w.OfHundred(st.Likely.Q),
		)
		v.Foot = slices.Concat(v.Foot, Rich{{S: " "}}, was)
	}
	line.Aria = w.T("story.line.aria.down", "token", text)
	if st.Greedy || st.Forced {
		w.markPick(line, st)
		return
	}
	line.Pin, line.Side, line.Dx = Share(st.U), "start", "20"
	if st.U > 0.6 {
		line.Side, line.Dx = "end", "-20"
	}
	w.markPick(line, st)
	w.tries(s, line)
}

// markPick marks the winning piece, which may be part of the segment for all other tokens.
func (w Words) markPick(line *StoryLine, st infer.Sample) {
	if st.To <= st.From {
		return // the token was cut, so it has no piece
	}
	for i := range line.List {
		if line.List[i].X == Share(st.From) && line.List[i].Class != "is-rest" {
			line.List[i].Ramp, line.List[i].Class = line.List[i].Class, "is-pick"
			return
		}
	}
	g := segment(st.From, st.To-st.From, TokenText(st.Chosen.Token), "is-pick")
	g.P, g.Fit, g.FitP, g.Title = "", fitsNowhere, fitsNowhere, g.Text.Inline()+" "+terms.Percent(st.Chosen.Q)
	line.List = lay(line.List, g, st.From, st.To)
}

// otherTries is the number of other seeds shown as rings.
const otherTries = 11

// tries adds the results of draws at the same step with other seeds.
func (w Words) tries(s *session.State, line *StoryLine) {
	d, step := s.Dist, s.Step()
	var order []int32
	count := map[int32]int{}
	for seed := uint64(1); len(line.Rings) < otherTries; seed++ {
		if seed == step.Settings.Seed {
			continue
		}
		u := sampling.U(seed, step.N)
		line.Rings = append(line.Rings, Share(u))
		id := d.Order[d.Draw(u)]
		if count[id]++; count[id] == 1 {
			order = append(order, id)
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return count[b] - count[a] })
	var names []string
	for _, id := range order {
		names = append(names, w.T(
			"story.try", "token", TokenText(s.Model.Token(int(id))), "times", w.HowOften(count[id]),
		))
	}
	line.Tries = w.T("story.tries", "n", terms.Count(otherTries), "list", w.List(names))
}

// StoryEnd is a stop condition, described in plain words.
type StoryEnd struct {
	Name  string
	State string
	Fired bool
}

func (w Words) storyEnds(s *session.State, st infer.Append, v *Story) {
	strings := false
	for _, c := range st.Conditions {
		key := "story.stop." + string(c.Kind)
		state := w.T(
			key+".state", "have", terms.Count(c.Have), "limit", terms.Count(c.Limit), "share", terms.Percent(c.P),
			"text", Marked(c.String),
		)
		switch c.Kind {
		case infer.StopString:
			strings = true
		case infer.StopContext:
			if !c.Fired {
				continue
			}
		}
		v.Ends = append(v.Ends, StoryEnd{w.T(key), state, c.Fired})
	}
	if !strings {
		v.Ends = append(v.Ends, StoryEnd{Name: w.T("story.stop.stop_string"), State: w.T("story.stop.none")})
	}
	v.Foot = w.Rich("story.append.foot")
	if st.Stop != infer.StopNone {
		v.Foot = w.Rich("story.append.over")
	}
}

// StoryMemory is stage 7: the work that the cache saves.
type StoryMemory struct {
	Kept, New    string // texts about columns
	Bytes        string
	With         string // SVG lengths: the work with the cache
	WithSay, Say string
	Without      string
	Grows        *StoryGrowth // nil before the second token
}

// StoryGrowth holds the two curves of a run's cost, with the cache and without it. Each accumulates
// the multiplications token by token.
type StoryGrowth struct {
	With, Without string // points of polylines, in a picture of growthWidth by growthHeight
	WithSay, Say  string
	Aria          string
}

// growthWidth and growthHeight are the dimensions of a StoryGrowth's picture. growthPoints is the
// maximum number of steps plotted per curve.
const (
	growthWidth, growthHeight = 100, 40
	growthPoints              = 64
)

var growthBox = fmt.Sprintf("0 0 %d %d", growthWidth, growthHeight)

// growth draws both curves over the tokens generated so far, on the same scale.
func (w Words) growth(s *session.State) *StoryGrowth {
	steps := s.Steps[:min(s.Cursor.Step, len(s.Steps))]
	n := len(steps)
	if n < 2 {
		return nil
	}
	last := steps[n-1]
	var with, without strings.Builder
	at := func(b *strings.Builder, i int, total int64) {
		fmt.Fprintf(b, "%.2f,%.2f ", growthWidth*float64(i)/float64(n),
			growthHeight*(1-float64(total)/float64(max(last.TotalRecomputed, 1))))
	}
	at(&with, 0, 0)
	at(&without, 0, 0)
	for i, step := range steps {
		if n > growthPoints && i < n-1 && i*growthPoints/n == (i+1)*growthPoints/n {
			continue
		}
		at(&with, i+1, step.TotalCached)
		at(&without, i+1, step.TotalRecomputed)
	}
	g := &StoryGrowth{
		With: with.String(), Without: without.String(),
		WithSay: w.work(last.TotalCached), Say: w.work(last.TotalRecomputed),
	}
	g.Aria = w.T("story.cache.grows.aria", "tokens", w.Counted(n, "token"), "with", g.WithSay, "without", g.Say)
	return g
}

// work formats a count of multiplications in words: "33.90 million".
func (w Words) work(n int64) string {
	switch {
	case n < 1e4:
		return terms.Count(n)
	case n < 1e9:
		return w.T("story.work.million", "n", terms.Decimals(float64(n)/1e6, 2))
	}
	return w.T("story.work.billion", "n", terms.Decimals(float64(n)/1e9, 2))
}

func (w Words) storyMemory(s *session.State, st infer.CacheGrowth, v *Story) {
	with, without := st.Cached.Total(), st.Recomputed.Total()
	v.Memory = &StoryMemory{
		Kept: terms.Count(st.Positions - st.Grew), New: terms.Count(st.Grew), Bytes: w.Bytes(st.Bytes),
		With: Share(float64(with) / float64(max(without, 1))), Without: Share(1),
		WithSay: w.work(with), Say: w.work(without), Grows: w.growth(s),
	}
	v.Foot = w.Rich("story.cache.foot", "times", terms.Times(without, with))
	if st.Step == 1 && st.Grew == st.Positions {
		v.Foot = w.Rich("story.cache.foot.first")
	}
}
