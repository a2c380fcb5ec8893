package stage

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

func TestDrillSoftmax(t *testing.T) {
	v := English.New(sessiontest.Drill(t, sampling.Pure, infer.KindSoftmax, 0))
	var got []string
	for _, r := range v.Table.Rows {
		got = append(got, strings.Join([]string{r.Z, r.ZT, r.E, r.P, r.Cum, r.Ramp}, " "))
	}
	// e^{z−4}: 1, e^-1 = 0.3679, e^-2 = 0.1353, e^-3 = 0.0498, e^-3.5 = 0.0302
	want := []string{
		"4.00 4.0000 1.0000 0.6316 0.6316 p4",
		"3.00 3.0000 0.3679 0.2324 0.8640 p3",
		"2.00 2.0000 0.1353 0.0855 0.9495 p2",
		"1.00 1.0000 0.0498 0.0314 0.9809 p1",
		"0.50 0.5000 0.0302 0.0191 1.0000 p1",
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("row %d is %q, want %q", i+1, got[i], want[i])
		}
	}
	if all := v.Table.All; all.Label != "all 5" || all.Sum != "1.5832" || all.P != "1.0000" ||
		all.Badge != "sum = 1.0000" || !all.SumIsOne {
		t.Errorf(
			"the last row is %+v, want Label = %q, Sum = %q, P = %q, Badge = %q, SumIsOne = true", all, "all 5",
			"1.5832", "1.0000", "sum = 1.0000",
		)
	}
	if v.Table.Rest != nil {
		t.Error("there is a row for other tokens, but all five tokens have their own rows")
	}
	// 3/1 = 3; e^(3−4) = 0.3679; 0.3679/1.5832 = 0.2324
	line := v.Table.Rows[1].Work
	for i, want := range []string{
		"3.0000 / 1.00 = 3.0000", "e^(3.0000 − 4.0000) = 0.3679", "0.3679 / 1.5832 = 0.2324",
	} {
		if got := line.Cells[i].Sum.String(); got != want {
			t.Errorf("cell %d of the worked line is %q, want %q", i, got, want)
		}
	}
	if len(v.Segments.List) != 5 || v.Segments.List[1].X != "63.16%" || v.Segments.Mark != "" {
		t.Errorf(`the strip is %+v, want len(List) = 5, List[1].X = %q, Mark = ""`, v.Segments, "63.16%")
	}
}

func TestDrillFilter(t *testing.T) {
	for _, c := range []struct {
		name             string
		set              sampling.Settings
		lead             string
		kept, cut, mass  string
		q                []string
		by               []string
		mark, say, worry string
	}{
		{
			// 0.8640 < 0.9 ≤ 0.9495, so the crossing token stays; 0.6316/0.9495 = 0.6652
			"top-p",
			sampling.Settings{Temperature: 1, TopP: 0.9},
			"Keep the fewest tokens that together reach 0.90, cut the rest, rescale to 1.",
			"3", "2", "0.9495",
			[]string{"0.6652", "0.2447", "0.0900", "–", "–"},
			[]string{"", "", "", "top-p", "top-p"},
			"90%", ", so it is the last one kept", "",
		},
		{
			"top-k",
			sampling.Settings{Temperature: 1, TopK: 3, TopP: 1},
			"Keep the 3 most probable tokens, cut the rest, rescale to 1.",
			"3", "2", "0.9495",
			[]string{"0.6652", "0.2447", "0.0900", "–", "–"},
			[]string{"", "", "", "top-k", "top-k"},
			"94.95%", ", by top-k", "",
		},
		{
			// 0.1 × 0.6316 = 0.0632, so 0.0855 is kept and 0.0314 is cut
			"min-p",
			sampling.Settings{Temperature: 1, TopP: 1, MinP: 0.1},
			"Keep every token at least 0.10 times as probable as the first, cut the rest, rescale to 1.",
			"3", "2", "0.9495",
			[]string{"0.6652", "0.2447", "0.0900", "–", "–"},
			[]string{"", "", "", "min-p", "min-p"},
			"94.95%", ", by min-p", "",
		},
		{
			// If the shares were rescaled between the two filters, {0.6652, 0.2447} = 0.9099 would
			// reach 0.9, and only two tokens would be kept.
			"top-k and top-p",
			sampling.Settings{Temperature: 1, TopK: 3, TopP: 0.9},
			"A token stays only if every filter keeps it: top-k leaves 3 and top-p 3. So 3 stay, rescaled to sum to 1.",
			"3", "2", "0.9495",
			[]string{"0.6652", "0.2447", "0.0900", "–", "–"},
			[]string{"", "", "", "top-k", "top-k"},
			"90%", ", so it is the last one kept", "would keep 2, not 3",
		},
		{
			"greedy",
			sampling.Settings{Temperature: 0, TopP: 1},
			"Temperature 0 is greedy: keep the most probable token, cut the other 4.",
			"1", "4", "0.6316",
			[]string{"1.0000", "–", "–", "–", "–"},
			[]string{"", "greedy", "greedy", "greedy", "greedy"},
			"63.16%", ", however far it reaches", "",
		},
		{
			"pure", sampling.Pure, "No filter is on: all 5 tokens stay in the draw, and p′ is p.",
			"5", "0", "1.0000",
			[]string{"0.6316", "0.2324", "0.0855", "0.0314", "0.0191"},
			[]string{"", "", "", "", ""},
			"", "", "",
		},
	} {
		p := English.New(sessiontest.Drill(t, c.set, infer.KindFilter, 0))
		if got := p.Lead.String(); got != c.lead {
			t.Errorf("%s: the sentence is %q, want %q", c.name, got, c.lead)
		}
		if p.Facts[0].Value != c.kept || p.Facts[1].Value != c.cut || p.Facts[2].Value != c.mass {
			t.Errorf("%s: facts %v, want %s, %s, %s", c.name, p.Facts, c.kept, c.cut, c.mass)
		}
		for i, r := range p.Table.Rows {
			if r.Q != c.q[i] || r.CutBy != c.by[i] {
				t.Errorf("%s: row %d has p′ %s, cut by %q; want %s, %q", c.name, i+1, r.Q, r.CutBy, c.q[i], c.by[i])
			}
		}
		if p.Segments.Mark != c.mark || p.Segments.SayEnd != c.say {
			t.Errorf("%s: mark at %s, %q; want %s, %q", c.name, p.Segments.Mark, p.Segments.SayEnd, c.mark, c.say)
		}
		worry := ""
		for _, n := range p.Notes {
			worry += n.String()
		}
		if !strings.Contains(worry, c.worry) || (c.worry == "") != (worry == "") {
			t.Errorf("%s: the note is %q, want %q in it", c.name, worry, c.worry)
		}
		if p.Table.All.Q != "1.0000" || p.Table.All.Kept != c.kept {
			t.Errorf("%s: the last row is %+v; want Q = %q, Kept = %q", c.name, p.Table.All, "1.0000", c.kept)
		}
	}
}

func TestDrillCutLine(t *testing.T) {
	rows := English.New(
		sessiontest.Drill(t, sampling.Settings{Temperature: 1, TopP: 0.9}, infer.KindFilter, 0),
	).Table.Rows
	for i, r := range rows {
		if (r.Line != nil) != (i == 3) {
			t.Errorf("row %d has a line: %v, want one in row 4 only", i+1, r.Line)
		}
	}
	want := CutLine{
		Kept: "0.9495", KeptWhy: ", the first sum that reaches 0.90", Cut: "0.0505", CutWhy: ", shared out among the 3",
	}
	if l := *rows[3].Line; l != want {
		t.Errorf("the line is %+v, want %+v", l, want)
	}
	if got, want := rows[3].Work.Cells[3].Sum.String(), "Σ p before it 0.9495 ≥ 0.90"; got != want {
		t.Errorf("the cut row's calculation is %q, want %q", got, want)
	}
}

// TestCutLineBelowTheRows: if the line is below the last row, the table says so in words that fit
// next to the line.
func TestCutLineBelowTheRows(t *testing.T) {
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	sessiontest.Do(t, s, session.SetPreset{Key: "top_p"}) // T = 1 and top-p 0.9 keep more tokens than there are rows
	sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time there was a"})
	for range 2 {
		sessiontest.Do(t, s, session.StepStage{})
	}
	table := English.New(sessiontest.Do(t, s, session.StepStage{})).Table
	for i, r := range table.Rows {
		if r.Line != nil {
			t.Errorf("row %d has a line, want it below the rows", i+1)
		}
	}
	if l := table.Rest.Line; l == nil || l.Note == "" || l.KeptWhy != "" || l.CutWhy != ", shared out" {
		t.Errorf(
			`the last row's line is %+v, want l not nil, Note not empty, KeptWhy = "", CutWhy = %q`, l, ", shared out",
		)
	}
}

func TestDrillSample(t *testing.T) {
	// p′ is 0.6652, 0.2447 and 0.0900. The second token's segment extends from 0.6652 to 0.9100.
	p := English.New(sessiontest.Drill(t, sampling.Settings{Temperature: 1, TopP: 0.9}, infer.KindSample, 0.7312))
	r := p.Table.Rows[1]
	if !r.Pick || !r.Worked || r.From != "0.6652" || r.To != "0.9100" || r.LaneX != "66.52%" {
		t.Errorf(
			"the chosen row is %+v, want Pick = true, Worked = true, From = %q, To = %q, LaneX = %q", r, "0.6652",
			"0.9100", "66.52%",
		)
	}
	// 1 − 0.6652 = 0.3348: of 100 draws, 33 land after the first token.
	want := []string{"0.6652", "0.6652 + 0.2447 = " + r.To, "0.6652 ≤ 0.7312 < " + r.To, "33 draws in 100"}
	for i, w := range want {
		if got := p.Work.Cells[i].Sum.String(); got != w {
			t.Errorf("cell %d is %q, want %q", i, got, w)
		}
	}
	if got := p.Table.Rows[0].Work.Cells[2]; got.Name.String() != "u lands after it" ||
		got.Sum.String() != "0.7312 ≥ 0.6652" {
		t.Errorf(
			"the first row says %v, want Name.String() = %q, Sum.String() = %q", got, "u lands after it",
			"0.7312 ≥ 0.6652",
		)
	}
	if got := p.Table.Rows[2].Work.Cells[2].Name.String(); got != "u lands before it" {
		t.Errorf("the third row is %q, want %q", got, "u lands before it")
	}
	if p.Table.Marker != "73.12%" || p.Segments.Mark != "73.12%" || p.Segments.List[1].Class != "is-pick" {
		t.Errorf(
			"u stands at %s and %s, on %+v; want p.Table.Marker = %s, p.Segments.Mark = %s, Class = %q", p.Table.Marker,
			p.Segments.Mark, p.Segments.List[1], "73.12%", "73.12%", "is-pick",
		)
	}
	if got := p.Verdict.String(); !strings.Contains(got, "the 2nd choice of 3 (p′ = 0.2447)") {
		t.Errorf("the verdict is %q, want it to contain %q", got, "the 2nd choice of 3 (p′ = 0.2447)")
	}
	g := English.New(sessiontest.Drill(t, sampling.Settings{Temperature: 0, TopP: 1}, infer.KindSample, 0))
	if g.Table.Marker != "" || g.Segments.Mark != "" || !strings.Contains(g.Lead.String(), "No u is drawn") {
		t.Errorf(
			`greedy shows a u: got %+v %q; want g.Table.Marker = "", g.Segments.Mark = "", g.Lead.String() with %q`,
			g.Segments, g.Lead, "No u is drawn",
		)
	}
}

func TestKVGridLayout(t *testing.T) {
	small := English.NewKVGrid("a", 6, 19, 1, true, 260)
	if small.Note != "" || small.PitchX != "11.8" || len(small.Labels) != 6 || small.Newest != "19, new" ||
		small.NextX == "" {
		t.Errorf(
			`19 positions: got %+v, want Note = "", PitchX = %q, len(Labels) = 6, Newest = %q, NextX not empty`, small,
			"11.8", "19, new",
		)
	}
	if small.Aria != "6 layers by 19 positions filled; position 19 is new" {
		t.Errorf(
			"19 positions are called %q, want %q", small.Aria, "6 layers by 19 positions filled; position 19 is new",
		)
	}
	large := English.NewKVGrid("a", 32, 512, 1, false, 260)
	if large.Note == "" || len(large.Labels) != 2 || large.NextX != "" {
		t.Errorf(`512 positions: got %+v, want Note not empty, len(Labels) = 2, NextX = ""`, large)
	}
	if first := English.NewKVGrid("a", 6, 8, 8, true, 260); first.OldW != "0" || first.Newest != "1 to 8, all new" {
		t.Errorf("prefill: got %+v, want OldW = %q, Newest = %q", first, "0", "1 to 8, all new")
	}
}

func TestCompareCachedWork(t *testing.T) {
	sh := cost.Shape{Layers: 6, Width: 192, Heads: 6, KVHeads: 2, HeadDim: 32, FFN: 512, Vocab: 4096}
	c := English.NewCompare(sh.Step(19).Total(), sh.Pass(19).Total(), 1_800_000)
	if c.Less != "14.4× less" || c.Cached.String() != "3.19 M, 1.8 ms" ||
		c.Recomputed.String() != "46.05 M, not run" ||
		c.CachedBar != "6.93%" {
		t.Errorf(
			"got %+v, want Less = %q, Cached.String() = %q, Recomputed.String() = %q, CachedBar = %q", c, "14.4× less",
			"3.19 M, 1.8 ms", "46.05 M, not run", "6.93%",
		)
	}
	if got, want := English.kvFormula(sh).String(), "3,072 B = 2 × 6 layers × 2 heads × 32 × 4 B."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if c := English.NewCompare(100, 100, 0); c.Less != "the same so far" || c.Cached.String() != "100" {
		t.Errorf("got %+v, want Less = %q, Cached.String() = %q", c, "the same so far", "100")
	}
}

// TestDrillTypical: typical-p 0.2 cuts the most probable token, whose surprise of 0.4594 nats is
// 0.5644 below the average of 1.0239. It keeps the second token, whose surprise is 0.4356 above the
// average. If the first token is cut, no line is drawn below the kept tokens.
func TestDrillTypical(t *testing.T) {
	set := sampling.Settings{Temperature: 1, TopP: 1, TypicalP: 0.2}
	s := sessiontest.Drill(t, set, infer.KindSample, 0.5)
	p := English.New(s)
	for i, row := range p.Table.Rows {
		if row.Kept != (i == 1) || row.Line != nil {
			t.Errorf("row %d: kept %v, line %v; want %v, nil", i, row.Kept, row.Line, i == 1)
		}
	}
	if r := p.Table.Rows[1]; r.From != "0.0000" || r.To != "1.0000" || !r.Pick {
		t.Errorf("the only segment is %+v", r)
	}
	if l := p.Segments.List; len(l) != 1 || l[0].Class != "is-pick" || l[0].W != "100%" {
		t.Errorf("the strip is %+v, want 1 element, [0].Class = %q, [0].W = %q", l, "is-pick", "100%")
	}
	if got := p.Verdict.String(); !strings.Contains(got, "the 1st choice of 1 ") {
		t.Errorf("the verdict is %q, want it to contain %q", got, "the 1st choice of 1 ")
	}
	if got := p.Work.Cells; got[0].Sum.String() != "0" || got[3].Sum.String() != "by typical-p" {
		t.Errorf(
			"the draw is worked as %v, want [0].Sum.String() = %q, [3].Sum.String() = %q", got, "0", "by typical-p",
		)
	}
	if got := English.NewWhatIf(s).Say.String(); !strings.Contains(got, "at 0.6316, but typical-p cuts it") {
		t.Errorf("the reason why the most likely token was not chosen: got %q, want it to contain %q", got,
			"at 0.6316, but typical-p cuts it")
	}
	p = English.New(sessiontest.Drill(t, set, infer.KindFilter, 0.5))
	if got, want := p.Lead.String(), "Keep the tokens whose surprise is closest to the average here, until together "+
		"they reach 0.20, cut the rest, rescale to 1."; got != want {
		t.Errorf("the lead is %q, want %q", got, want)
	}
	cells := p.Table.Rows[0].Work.Cells
	if got := cells[len(cells)-1]; got.Name.String() != "cut by typical-p" ||
		got.Sum.String() != "|−ln p − average| = |0.4594 − 1.0239| = 0.5644; the last one kept is 0.4356 away" {
		t.Errorf("the first row is cut by %q: %q; want it cut by typical-p, 0.5644 off the average", got.Name, got.Sum)
	}
	if l := p.Segments.List; len(l) != 2 || l[0].X != "0%" || l[1].Class != "is-cut" {
		t.Errorf("the strip is %+v, want 2 elements, [0].X = %q, [1].Class = %q", l, "0%", "is-cut")
	}
}
