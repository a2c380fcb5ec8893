package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/session"
)

// words finds the ids of single tokens of the bundled model.
func words(t *testing.T, texts ...string) []int {
	t.Helper()
	var ids []int
	for _, text := range texts {
		at := -1
		for id := range model(t).Config().Vocab {
			if model(t).Token(id).Text == text {
				at = id
				break
			}
		}
		if at < 0 {
			t.Fatalf("the model has no token %q", text)
		}
		ids = append(ids, at)
	}
	return ids
}

func TestBranches(t *testing.T) {
	s := drill(t, sampling.Pure, infer.KindSample, 0)
	w := words(t, " a", " the", " was", " in")
	if v := newBranches(s); v.Say != "" || len(v.List) != 0 {
		t.Errorf("one branch has a tree: %+v", v)
	}
	a, the, was, in := w[0], w[1], w[2], w[3]
	s.Branches = []session.Branch{
		{ID: 1, Chosen: []int{a, the, was, in}},
		{ID: 2, Chosen: []int{a, the, in}},
		{ID: 3, Chosen: []int{a, the}, Current: true},
	}
	v := newBranches(s)
	if v.Say != "3 branches" || len(v.List) != 1 {
		t.Fatalf("%+v", v)
	}
	// all share "·a·the", where branch 3 ends; 1 and 2 part there
	root := v.List[0]
	if root.Text.String() != "·a·the" || root.From != "token 4" || len(root.Lines) != 1 || !root.Lines[0].Current ||
		root.Lines[0].Cmd != "" {
		t.Errorf("the shared stretch is %+v", root)
	}
	if len(root.Parts) != 2 || root.Parts[0].Text.String() != "·was·in" || root.Parts[1].Text.String() != "·in" ||
		root.Parts[1].From != "token 6" {
		t.Errorf("it parts into %+v", root.Parts)
	}
	if got := root.Parts[1].Lines[0]; got.Name != "branch 2" || got.Tokens != "3 tokens" ||
		got.Cmd != `{"cmd":"branch","id":2}` {
		t.Errorf("branch 2 is %+v", got)
	}
	if got := stretch(s, []int{a, a, a, the, was, in, in, in}).String(); got != "·a·a·a … ·in·in·in" {
		t.Errorf("eight tokens are shortened to %q", got)
	}
}

func TestPeek(t *testing.T) {
	s := drill(t, sampling.Pure, infer.KindSample, 0.7)
	s.Steps[0].Entropy = 1.4586
	p := NewPeek(s, 1)
	// u = 0.7 falls on the second token, 0.6316 to 0.8640
	if got := p.Say.String(); !strings.HasSuffix(got, "0.2324, 2nd of 5, entropy 1.46 bits. Instead:") ||
		!strings.HasPrefix(got, "Token 4 ") {
		t.Errorf("says %q", got)
	}
	if len(p.Alts) != 4 || p.Alts[0].P != "0.63" || p.Alts[0].Cmd != `{"cmd":"choose","step":1,"token":0}` ||
		p.Alts[1].Cmd != `{"cmd":"choose","step":1,"token":2}` {
		t.Errorf("instead: %+v", p.Alts)
	}
	if p.Seek != `{"cmd":"seek","step":1,"stage":"sample"}` || p.Step != 1 {
		t.Errorf("leads to %s", p.Seek)
	}
	s.Steps[0].Forced, s.Steps[0].Drawn = true, 0
	if got := NewPeek(s, 1).Say.String(); !strings.Contains(got, "chosen by a person; the draw fell on") {
		t.Errorf("a forced token: %q", got)
	}
	if got, want := NewPeek(s, 2).Say.String(), "There is no step 2: the run has come to step 1."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Steps[0].Logits = nil
	if got := NewPeek(s, 1); !strings.Contains(got.Say.String(), "no scores yet") || got.Step != 0 {
		t.Errorf("before the logits: %+v", got)
	}
	if got := NewPeek(&session.State{Model: model(t)}, 1).Say.String(); !strings.Contains(got, "no text yet") {
		t.Errorf("before a prompt: %q", got)
	}
}

func TestFound(t *testing.T) {
	s := session.New(model(t), session.DefaultLimits())
	do(t, s, session.Start{Prompt: "Once upon a time"})
	st := do(t, s, session.StepToken{})
	v := NewFound(st, 1, "the")
	if len(v.Rows) != 12 || v.Rows[0].Text.String() != "the" || v.Rows[1].Text.String() != "·the" ||
		!strings.HasPrefix(v.More, "and ") {
		t.Errorf("%q %+v %q", v.Say, v.Rows, v.More)
	}
	ids := st.Model.Encode(" there") // the last of them, after a start mark
	st = do(t, s, session.Choose{Step: 1, Token: ids[len(ids)-1]})
	if v := NewFound(st, 1, "·there"); v.Rows[0].Text.String() != "·there" || !v.Rows[0].Chosen {
		t.Errorf("with a mark: %+v", v.Rows)
	}
	if v := NewFound(st, 1, "qqqq"); len(v.Rows) != 0 ||
		!strings.Contains(v.Say, "None of the 4,096 tokens contains “qqqq”") {
		t.Errorf("nothing: %+v", v)
	}
	if v := NewFound(st, 1, ""); len(v.Rows) != 0 || !strings.HasPrefix(v.Say, "Type a part") {
		t.Errorf("no text: %+v", v)
	}
	if v := NewFound(st, 9, "the"); v.Say != "There is no step 9: the run has come to step 1." {
		t.Errorf("no such step: %q", v.Say)
	}
}

func TestWhyNot(t *testing.T) {
	// p′ under top-p 0.9: 0.6652, 0.2447, 0.0900
	set := sampling.Settings{Temperature: 1, TopP: 0.9}
	v := NewLoop(drill(t, set, infer.KindSample, 0.7312))
	first := TokenText(model(t).Token(0)).String()
	want := "Why not the most likely? " + first + " is the likeliest, at 0.6652; u = 0.7312 falls past it. In 100 " +
		"draws it would win 67."
	if got := v.WhatIf.Say.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	v = NewLoop(drill(t, set, infer.KindSample, 0.1))
	want = "Is it always the most likely? " + first + " is, at 0.6652, and u = 0.1000 falls on it. In 100 draws " +
		"others would win 33."
	if got := v.WhatIf.Say.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestWhatIf(t *testing.T) {
	s := drill(t, sampling.Settings{Temperature: 1, TopP: 0.9}, infer.KindSample, 0.7312)
	u := 0.95 // on the third, 0.9100 to 1
	s.WhatIf = &u
	v := NewLoop(s)
	third := TokenText(model(t).Token(2)).String()
	want := "u = 0.9500 falls on " + third + ", from 0.9100 to 1.0000: the 3rd choice, p′ = 0.0900."
	if got := v.WhatIf.Say.String(); got != want || v.WhatIf.Take != `{"cmd":"choose","step":1,"token":2}` ||
		v.WhatIf.U != "0.95" || !v.WhatIf.Shown {
		t.Errorf("got  %q\nwant %q: %+v", got, want, v.WhatIf)
	}
	if seg := v.Panel.Segments; seg.What != "95%" || seg.List[2].Class != "p2 is-what" ||
		seg.WhatSay != "another u = 0.9500" {
		t.Errorf("the strip: %+v", seg)
	}
	u = 0.7 // on the one that was taken
	if v := NewLoop(s); v.WhatIf.Take != "" || !strings.HasSuffix(v.WhatIf.Say.String(), "It is the one taken.") ||
		v.Panel.Segments.List[1].Class != "is-pick" {
		t.Errorf("%+v", v.WhatIf)
	}
	if v := NewLoop(drill(t, sampling.Settings{TopP: 1}, infer.KindSample, 0)); v.WhatIf.Shown {
		t.Error("greedy has another u")
	}
}

func TestForced(t *testing.T) {
	s := drill(t, sampling.Settings{Temperature: 1, TopP: 0.9}, infer.KindSample, 0.7312)
	step := s.Steps[0]
	step.Forced, step.Drawn, step.Chosen, step.Rank, step.P, step.Q = true, 1, 4, 5, s.Dist.P[4], 0
	v := NewLoop(s)
	got := v.Panel.Verdict.String()
	for _, want := range []string{
		"because a person chose it: the 5th choice, p = 0.0191, though the filters had cut it.",
		"The draw, u = 0.7312, had fallen on",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	for _, seg := range v.Panel.Segments.List {
		if strings.Contains(seg.Class, "is-pick") {
			t.Errorf("a token that is cut has the segment %+v", seg)
		}
	}
	// u = 0.7312 lands inside the second, whoever was chosen
	if got := v.Panel.Table.Rows[1].Work.Cells[2].Name.String(); got != "u lands inside" {
		t.Errorf("the second row says %q", got)
	}
}

func TestScrubAndProgress(t *testing.T) {
	s := session.New(model(t), session.DefaultLimits())
	if c := NewLoop(s.State()).Console; !c.Scrub.Off || c.Progress.On || c.CanFinish {
		t.Errorf("before a prompt: %+v", c)
	}
	do(t, s, session.Start{Prompt: "Once upon a time"})
	do(t, s, session.StepToken{})
	do(t, s, session.StepStage{})
	st := do(t, s, session.Seek{Step: 1, Stage: infer.KindFilter})
	c := NewLoop(st).Console
	// eight stages have run, the fourth is shown; the prompt is 5 positions
	if c.Scrub != (Scrub{Value: "4", Max: "8", Say: "token 6, stage 4"}) || !c.CanFinish {
		t.Errorf("%+v", c.Scrub)
	}
	st = do(t, s, session.Finish{})
	c = NewLoop(st).Console
	if !c.Progress.On || c.Progress.Say != "1 token of at most 64" || c.Progress.Bar != "1.56%" || c.CanFinish {
		t.Errorf("%+v", c.Progress)
	}
	for s.State().Playing {
		if _, err := s.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c = NewLoop(s.State()).Console
	if !c.Ended || !c.CanGoOn || c.Progress.On {
		t.Errorf("at the end: %+v", c)
	}
	st = s.State()
	full := *st
	full.Stopped = infer.StopContext
	if v := NewLoop(&full); v.Console.CanGoOn || !strings.Contains(v.Notice.Say, "window") {
		t.Errorf("a full window can be passed: %+v", v.Notice)
	}
}

func TestCostChart(t *testing.T) {
	points := make([]plots.CostPoint, 1000)
	for i := range points {
		points[i].Step = i + 1
	}
	thin := thinned(points)
	if len(thin) != chartPoints || thin[0].Step != 1 || thin[chartPoints-1].Step != 1000 {
		t.Errorf("%d points from %d to %d", len(thin), thin[0].Step, thin[len(thin)-1].Step)
	}
	if !slices.IsSortedFunc(thin, func(a, b plots.CostPoint) int { return a.Step - b.Step }) ||
		len(thinned(points[:64])) != 64 {
		t.Error("the points are not in order, or too few are too many")
	}
	s := session.New(model(t), session.DefaultLimits())
	if v := NewLoop(s.State()); !v.Chart.Empty {
		t.Errorf("a chart of nothing: %+v", v.Chart)
	}
	do(t, s, session.Start{Prompt: "Once upon a time"})
	if v := NewLoop(s.State()); !v.Chart.Empty {
		t.Error("a chart before the first whole turn")
	}
	do(t, s, session.StepToken{})
	st := do(t, s, session.StepToken{})
	v := NewLoop(st).Chart
	last := st.Steps[1]
	if len(v.Rows) != 2 || v.Rows[1][0] != "2" || v.Rows[1][1] != terms.Count(last.TotalCached) ||
		v.Rows[1][2] != terms.Count(last.TotalRecomputed) {
		t.Errorf("rows %v", v.Rows)
	}
	if !strings.HasPrefix(v.SVG, "<svg") || v.Less != terms.Times(last.TotalRecomputed, last.TotalCached)+" less" {
		t.Errorf("%s: %.40s", v.Less, v.SVG)
	}
	first := do(t, s, session.Seek{Step: 1, Stage: infer.KindCache})
	if v := NewLoop(first).Chart; len(v.Rows) != 1 || v.Less != "the same so far" {
		t.Errorf("looking back: %d rows, %s", len(v.Rows), v.Less)
	}
}

func TestEnter(t *testing.T) {
	s := session.New(model(t), session.DefaultLimits())
	st := do(t, s, session.Start{Prompt: "Once upon a time"})
	if p := NewLoop(st).Panel; p.Enter != "forward" || p.Pace != "" {
		t.Errorf("%q at pace %q", p.Enter, p.Pace)
	}
	do(t, s, session.StepStage{})
	if p := NewLoop(do(t, s, session.Back{})).Panel; p.Enter != "" {
		t.Errorf("looking back, %q arrives", p.Enter)
	}
	do(t, s, session.SetSpeed{Speed: session.SpeedFour})
	do(t, s, session.Play{})
	if st, err := s.Tick(t.Context()); err != nil || NewLoop(st).Panel.Pace != "4" {
		t.Errorf("at 4× the pace is %q (%v)", NewLoop(st).Panel.Pace, err)
	}
}

func TestLongNumbers(t *testing.T) {
	set := sampling.Settings{Temperature: 1e-300, TopP: 1}
	if row := NewLoop(drill(t, set, infer.KindSoftmax, 0)).Panel.Table.Rows[0]; row.ZT != "4.00e300" ||
		row.P != "1.0000" {
		t.Errorf("at T = 1e-300 the first row is %+v", row)
	}
}

func TestNotices(t *testing.T) {
	if n := Expired(""); len(n.Acts) != 1 || n.Acts[0].Toggle != "prompt-box" || n.Kind != NoticeWarn {
		t.Errorf("%+v", n)
	}
	if n := Expired("x"); len(n.Acts) != 2 || n.Acts[0].Href != "/loop?log=x" {
		t.Errorf("%+v", n)
	}
	if v := NewLoading(&session.State{Model: model(t)}, "one moment"); v.Panel.Loading != "one moment" ||
		v.Spoken != "one moment" {
		t.Errorf("%+v", v.Panel)
	}
}

func TestKVHeads(t *testing.T) {
	g := kvHeadsGrid("x", model(t).Shape(), 19, 1, true, 260)
	// 6 layers of 2 heads: twelve rows of 12, six labels
	if g.BodyH != "144" || g.PitchY != "12" || len(g.Labels) != 6 ||
		g.Aria != "6 layers of 2 key/value heads by 19 positions filled; position 19 is new" {
		t.Errorf("%+v", g)
	}
}
