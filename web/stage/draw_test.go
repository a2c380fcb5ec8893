package stage

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

func TestPeekAtATokensStep(t *testing.T) {
	s := sessiontest.Drill(t, sampling.Pure, infer.KindSample, 0.7)
	s.Steps[0].Entropy = 1.4586
	p := English.NewPeek(s, 1)
	// u = 0.7 falls on the second token, whose segment is from 0.6316 to 0.8640.
	if got := p.Say.String(); !strings.HasSuffix(got, "0.2324, 2nd of 5, entropy 1.46 bits. Instead:") ||
		!strings.HasPrefix(got, "Token 4 ") {
		t.Errorf(
			"got %q, want it to end with %q and begin with %q", got,
			"0.2324, 2nd of 5, entropy 1.46 bits. Instead:", "Token 4 ",
		)
	}
	if len(p.Alts) != 4 || p.Alts[0].P != "0.63" || p.Alts[0].Cmd != `{"cmd":"choose","step":1,"token":0}` ||
		p.Alts[1].Cmd != `{"cmd":"choose","step":1,"token":2}` {
		t.Errorf(
			"instead: got %+v, want 4 elements, [0].P = %q, [0].Cmd = %q, [1].Cmd = %q", p.Alts, "0.63",
			`{"cmd":"choose","step":1,"token":0}`, `{"cmd":"choose","step":1,"token":2}`,
		)
	}
	if p.Seek != `{"cmd":"seek","step":1,"stage":"sample"}` || p.Step != 1 {
		t.Errorf("got p.Seek = %s, want %s and p.Step = 1", p.Seek, `{"cmd":"seek","step":1,"stage":"sample"}`)
	}
	s.Steps[0].Forced, s.Steps[0].Drawn = true, 0
	if got := English.NewPeek(s, 1).Say.String(); !strings.Contains(got, "chosen by a person; the draw fell on") {
		t.Errorf("a forced token: got %q, want it to contain %q", got, "chosen by a person; the draw fell on")
	}
	if got, want := English.NewPeek(s, 2).Say.String(), "There is no step 2: the run is at step 1."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Steps[0].Logits = nil
	if got := English.NewPeek(s, 1); !strings.Contains(got.Say.String(), "no scores yet") || got.Step != 0 {
		t.Errorf("before the logits: got %+v, want Say.String() with %q, Step = 0", got, "no scores yet")
	}
	if got := English.NewPeek(&session.State{Model: testmodel.Target(t)}, 1).Say.String(); !strings.Contains(
		got,
		"no text yet",
	) {
		t.Errorf("before a prompt: got %q, want it to contain %q", got, "no text yet")
	}
}

func TestFoundTokens(t *testing.T) {
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time"})
	st := sessiontest.Do(t, s, session.StepToken{})
	v := English.NewFound(st, 1, "the")
	if len(v.Rows) != 12 || v.Rows[0].Text.String() != "the" || v.Rows[1].Text.String() != "·the" ||
		!strings.HasPrefix(v.More, "and ") {
		t.Errorf(
			"%q: got %+v %q; want 12 elements, v.Rows[0].Text.String() = %q, v.Rows[1].Text.String() = %q, "+
				"v.More beginning with %q",
			v.Say, v.Rows, v.More, "the", "·the", "and ",
		)
	}
	ids := st.Model.Encode(" there") // the start token and the token for " there"
	st = sessiontest.Do(t, s, session.Choose{Step: 1, Token: ids[len(ids)-1]})
	if v := English.NewFound(st, 1, "·there"); v.Rows[0].Text.String() != "·there" || !v.Rows[0].Chosen {
		t.Errorf("a search with a mark for a space: got %+v, want [0].Text.String() = %q, [0].Chosen = true", v.Rows,
			"·there")
	}
	if v := English.NewFound(st, 1, "qqqq"); len(v.Rows) != 0 ||
		!strings.Contains(v.Say, "None of the 4,096 tokens contains “qqqq”") {
		t.Errorf("a search without a result: got %+v, want len(Rows) = 0, Say with %q", v,
			"None of the 4,096 tokens contains “qqqq”")
	}
	if v := English.NewFound(st, 1, ""); len(v.Rows) != 0 || !strings.HasPrefix(v.Say, "Type a part") {
		t.Errorf("an empty search: got %+v, want len(Rows) = 0, Say beginning with %q", v, "Type a part")
	}
	if v := English.NewFound(st, 9, "the"); v.Say != "There is no step 9: the run is at step 1." {
		t.Errorf("no such step: got %q, want %q", v.Say, "There is no step 9: the run is at step 1.")
	}
}

func TestWhyNotExplainsTheDraw(t *testing.T) {
	// Under top-p 0.9, p′ is 0.6652, 0.2447 and 0.0900.
	set := sampling.Settings{Temperature: 1, TopP: 0.9}
	v := English.NewWhatIf(sessiontest.Drill(t, set, infer.KindSample, 0.7312))
	first := TokenText(testmodel.Target(t).Token(0)).String()
	want := "Why not the most likely? " + first + " is the likeliest, at 0.6652; u = 0.7312 falls past it. In 100 " +
		"draws it would win 67."
	if got := v.Say.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	v = English.NewWhatIf(sessiontest.Drill(t, set, infer.KindSample, 0.1))
	want = "Is it always the most likely? " + first + " is, at 0.6652, and u = 0.1000 falls on it. In 100 draws " +
		"others would win 33."
	if got := v.Say.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestWhatIfShowsOtherDraw(t *testing.T) {
	s := sessiontest.Drill(t, sampling.Settings{Temperature: 1, TopP: 0.9}, infer.KindSample, 0.7312)
	u := 0.95 // falls on the third token, 0.9100 to 1
	s.WhatIf = &u
	v := English.NewWhatIf(s)
	third := TokenText(testmodel.Target(t).Token(2)).String()
	want := "u = 0.9500 falls on " + third + ", from 0.9100 to 1.0000: the 3rd choice, p′ = 0.0900."
	if got := v.Say.String(); got != want || v.Take != `{"cmd":"choose","step":1,"token":2}` ||
		v.U != "0.95" || !v.Shown {
		t.Errorf("got  %q\nwant %q: %+v", got, want, v)
	}
	if seg := English.New(s).Segments; seg.What != "95%" || seg.List[2].Class != "p2 is-what" ||
		seg.WhatSay != "another u = 0.9500" {
		t.Errorf(
			"the strip: got %+v, want What = %q, List[2].Class = %q, WhatSay = %q", seg, "95%", "p2 is-what",
			"another u = 0.9500",
		)
	}
	u = 0.7 // falls on the chosen token
	if v := English.NewWhatIf(s); v.Take != "" || !strings.HasSuffix(v.Say.String(), "That is the chosen one.") ||
		English.New(s).Segments.List[1].Class != "is-pick" {
		t.Errorf(
			`got %+v, want Take = "", Say.String() ending with %q, English.New(s).Segments.List[1].Class = %q`, v,
			"That is the chosen one.", "is-pick",
		)
	}
	if v := English.NewWhatIf(sessiontest.Drill(t, sampling.Settings{TopP: 1}, infer.KindSample, 0)); v.Shown {
		t.Error("greedy decoding has a what-if question")
	}
}

func TestForcedTokenIsExplained(t *testing.T) {
	s := sessiontest.Drill(t, sampling.Settings{Temperature: 1, TopP: 0.9}, infer.KindSample, 0.7312)
	step := s.Steps[0]
	step.Forced, step.Drawn, step.Chosen, step.Rank, step.P, step.Q = true, 1, 4, 5, s.Dist.P[4], 0
	v := English.New(s)
	got := v.Verdict.String()
	for _, want := range []string{
		"because a person chose it: the 5th choice, p = 0.0191, though the filters had cut it.",
		"The draw, u = 0.7312, had fallen on",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not contain %q", got, want)
		}
	}
	for _, seg := range v.Segments.List {
		if strings.Contains(seg.Class, "is-pick") {
			t.Errorf("a token that is cut has the segment %+v, want Class without %q", seg, "is-pick")
		}
	}
	// u = 0.7312 is within the second token's segment, no matter which token was chosen.
	if got := v.Table.Rows[1].Work.Cells[2].Name.String(); got != "u lands inside" {
		t.Errorf("the second row is %q, want %q", got, "u lands inside")
	}
}

func TestLongNumbersAreShortened(t *testing.T) {
	set := sampling.Settings{Temperature: 1e-300, TopP: 1}
	if row := English.New(sessiontest.Drill(t, set, infer.KindSoftmax, 0)).Table.Rows[0]; row.ZT != "4.00e300" ||
		row.P != "1.0000" {
		t.Errorf("at T = 1e-300 the first row is %+v, want ZT = %q, P = %q", row, "4.00e300", "1.0000")
	}
}

func TestKVHeadsGridLayout(t *testing.T) {
	g := English.NewKVHeadsGrid("x", testmodel.Target(t).Shape(), 19, 1, true, 260)
	// With 6 layers of 2 heads, there are twelve rows of 12 and six labels.
	if g.BodyH != "144" || g.PitchY != "12" || len(g.Labels) != 6 ||
		g.Aria != "6 layers of 2 key/value heads by 19 positions filled; position 19 is new" {
		t.Errorf("got %+v, want a grid that is 144 high, with a pitch of 12, six labels and its size in words", g)
	}
}

func TestEnterOnlyWhenMovingForward(t *testing.T) {
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	st := sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time"})
	if p := English.New(st); p.Enter != "forward" || p.Pace != "" {
		t.Errorf(`got %q at pace %q; want %q, ""`, p.Enter, p.Pace, "forward")
	}
	sessiontest.Do(t, s, session.StepStage{})
	if p := English.New(sessiontest.Do(t, s, session.Back{})); p.Enter != "" {
		t.Errorf(`looking back: got Enter = %q, want ""`, p.Enter)
	}
	sessiontest.Do(t, s, session.SetSpeed{Speed: session.SpeedFour})
	sessiontest.Do(t, s, session.Play{})
	if st, err := s.Tick(t.Context()); err != nil || English.New(st).Pace != "4" {
		t.Errorf("at 4×, the pace is %q (%v); want %q, <nil>", English.New(st).Pace, err, "4")
	}
}

// TestSegmentFigureNeedsItsToken: a segment never shows a number without its token. A share of 0.07
// of 640 px is 44.8 px wide. That is enough for "0.07" (4 × 7.4 + 12 = 41.6) but not for "·girl"
// (49).
func TestSegmentFigureNeedsItsToken(t *testing.T) {
	if s := segment(0, 0.07, Text{{S: "·girl"}}, "p2"); s.Fit != "fit-x" || s.FitP != "fit-x" {
		t.Errorf("·girl has Fit = %s and FitP = %s, want %s and %s", s.Fit, s.FitP, "fit-x", "fit-x")
	}
	// "·a" needs 26.8 px, and its number needs another 41.6 px
	if s := segment(0, 0.07, Text{{S: "·a"}}, "p2"); s.Fit != "fit-m" || s.FitP != "fit-m" {
		t.Errorf("·a has Fit = %s and FitP = %s, want %s and %s", s.Fit, s.FitP, "fit-m", "fit-m")
	}
}
