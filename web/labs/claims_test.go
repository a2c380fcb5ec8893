package labs

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

// plain returns the text of a sentence without its emphasis markup.
func plain(say stage.Rich) string { return say.String() }

// TestCachePageClaimsOnlyWhatIsTrue: the page claims that the logits, the columns and the counts
// are equal only if they really are.
func TestCachePageClaimsOnlyWhatIsTrue(t *testing.T) {
	t.Parallel()
	step := lab.CacheStep{
		Step: 1, Cached: lab.CacheSide{MultAdds: 9, Formula: 9}, Recomputed: lab.CacheSide{MultAdds: 20, Formula: 20},
	}
	c := &lab.Cache{SameLogits: true, Compared: 4096, Columns: lab.Columns{Compared: 640}, Steps: []lab.CacheStep{step}}
	if got := plain(sameText(stage.English, c)); !strings.Contains(got, "all the same bit for bit") ||
		!strings.Contains(got, "640 numbers compared, and none differs") {
		t.Errorf(
			"plain(sameText(c)) = %q, want it to contain %q and %q", got, "all the same bit for bit",
			"640 numbers compared, and none differs",
		)
	}
	if got := plain(partsText(stage.English, c, step)); !strings.Contains(got, "equal to the formulas at every token") {
		t.Errorf("plain(partsText(c, step)) = %q, want it to contain %q", got, "equal to the formulas at every token")
	}
	c.Columns.Different = 3
	if got := plain(sameText(stage.English, c)); strings.Contains(got, "none differs") || !strings.Contains(
		got, "640 numbers in the keys and values, 3 differ",
	) {
		t.Errorf(
			"got %q, want it without %q and with %q", got, "none differs",
			"640 numbers in the keys and values, 3 differ",
		)
	}
	c.SameLogits = false
	if got := plain(sameText(stage.English, c)); strings.Contains(got, "same bit") {
		t.Errorf("plain(sameText(c)) = %q, want it without %q", got, "same bit")
	}
	c.Steps[0].Recomputed.MultAdds++
	if got := plain(partsText(stage.English, c, step)); strings.Contains(got, "equal to the formulas") ||
		!strings.Contains(got, "at token 1 the count does not match the formulas") {
		t.Errorf(
			"got %q, want it without %q and with %q", got, "equal to the formulas",
			"at token 1 the count does not match the formulas",
		)
	}
	rows := columnRows(
		&lab.Columns{
			KeyA: []float32{1, 2}, KeyB: []float32{1, 2}, ValueA: []float32{3, 4}, ValueB: []float32{3, 4.0001},
		},
	)
	if !rows[0].Same || rows[1].Same || rows[0].All != 2 {
		t.Errorf("got %+v, want [0].Same = true, [1].Same = false, [0].All = 2", rows)
	}
}

// TestFittedNumbersInWords: integer counts are formatted without decimals, and times are formatted
// with their unit.
func TestFittedNumbersInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x        float64
		of, want string
	}{
		{3145727.9999999995, "multiply-adds", "3,145,728"},
		{-1152, "multiply-adds", "−1,152"},
		{0, "multiply-adds", "0"},
		{0.36, "ms", "0.36 ms"},
		{-0.0004, "ms", "−0.4 µs"},
		{0.0000248, "ms", "24.8 ns"},
	} {
		if got := fitted(stage.English, c.x, c.of == "ms"); got != c.want {
			t.Errorf("%v %s: %q, want %q", c.x, c.of, got, c.want)
		}
	}
}

// TestStreamingChangesTheWait: the streaming setting changes the page's description of the wait.
func TestStreamingChangesTheWait(t *testing.T) {
	t.Parallel()
	p := &lab.Prefill{Stream: true, Streamed: lab.Wait{First: 2, Last: 30}, Whole: lab.Wait{First: 30, Last: 30}}
	if got := waitText(stage.English, p); got != "Streaming is on: there is something to read after 2.0 ms, and "+
		"everything after 30.0 ms." {
		t.Errorf("with streaming: got %q, want 2.0 ms until the first text and 30.0 ms for all of it", got)
	}
	p.Stream = false
	if got := waitText(stage.English, p); !strings.HasPrefix(
		got, "Streaming is off: there is nothing to read until everything is written, after 30.0 ms.",
	) {
		t.Errorf("without streaming: got %q, want no text until the answer is complete, after 30.0 ms", got)
	}
	b := &lab.Bill{Stop: "max_tokens", Ticks: []lab.Tick{{Ms: 2}, {Ms: 30}}}
	off := plain(paidText(stage.English, b))
	b.Request.Stream = true
	if on := plain(paidText(stage.English, b)); on == off || !strings.Contains(on, "after 2.0 ms") ||
		!strings.Contains(off, "until 30.0 ms") {
		t.Errorf(
			"on: got %s, off: %s; want on to differ from %s and to contain %q, off to contain %q", on, off, off,
			"after 2.0 ms", "until 30.0 ms",
		)
	}
	p.Constant, p.PerToken = -0.02, 0.08
	if got := plain(firstText(stage.English, p)); strings.Contains(got, "call") {
		t.Errorf("a negative time: got %s, want it without %q", got, "call")
	}
	p.Constant = 0.02
	if got := plain(firstText(stage.English, p)); !strings.Contains(got,
		"20 µs for the call and 80 µs for each prompt token") {
		t.Errorf(
			"plain(firstText(p)) = %q, want it to contain %q", got,
			"20 µs for the call and 80 µs for each prompt token",
		)
	}
}

// TestExceedingTheWindowIsReported: if the calculated text is longer than the model's context
// window, the page says so.
func TestExceedingTheWindowIsReported(t *testing.T) {
	t.Parallel()
	m := &lab.Memory{Positions: 4096, Model: lab.MemoryModel{Context: 512}}
	if got := windowText(stage.English, m); !strings.Contains(got,
		"4,096 positions exceed this model’s window of 512") {
		t.Errorf(
			"windowText(m) = %q, want it to contain %q", got,
			"4,096 positions exceed this model’s window of 512",
		)
	}
	if m.Positions = 512; windowText(stage.English, m) != "" {
		t.Error("got a warning for a text that is exactly as long as the window")
	}
	if m.Model.Note = lab.Text("So it is."); windowText(stage.English, m) != "So it is." {
		t.Error("the model's note is missing")
	}
}

// TestSingleKeptTokenIsExplained: if the filters keep only one token, the page explains that the
// draws cannot show the 1/√n law.
func TestSingleKeptTokenIsExplained(t *testing.T) {
	t.Parallel()
	d := &lab.Draw{
		Kept: 1, Sizes: []int{10}, Tokens: []lab.DrawToken{{Token: lab.Token{Text: " Paris"}, Q: 1, Counts: []int{10}}},
		Distances: []lab.Distance{{N: 10}},
	}
	list := drawSections(stage.English, d)
	last := list[len(list)-1]
	if len(list) != 2 || last.Chart != nil || !strings.Contains(plain(last.Say), "keep only ·Paris") {
		t.Errorf(
			"got %d sections, the last with the text %s; want len(list) = 2, last.Chart = nil, plain(last.Say) with %q",
			len(list), plain(last.Say), "keep only ·Paris",
		)
	}
}

// TestUnexpectedRatioIsReported: if the measured times do not support the section's claim, the
// section says so.
func TestUnexpectedRatioIsReported(t *testing.T) {
	t.Parallel()
	if got := plain(whyText(stage.English, &lab.Prefill{Ratio: 0.8})); !strings.Contains(got,
		"Little of that shows in this run") {
		t.Errorf("got %q, want it to contain %q", got, "Little of that shows in this run")
	}
	if got := plain(whyText(stage.English, &lab.Prefill{Ratio: 3})); strings.Contains(got, "Little") {
		t.Errorf("got %q, want it without %q", got, "Little")
	}
}

// TestPartingStrips: each lane's strip shows two tokens, its own and the other lane's, each at its
// segment of the lane's distribution. A greedy lane has no u.
func TestPartingStrips(t *testing.T) {
	t.Parallel()
	s := &lab.Strategies{
		Lanes: []lab.Lane{
			{Name: terms.Verbatim("Greedy")},
			{Name: terms.Verbatim("Pure"), Settings: sampling.Settings{Temperature: 1, TopP: 1}},
		},
		Partings: []lab.Parting{{
			Lanes: [2]int{0, 1}, Step: 3, U: 0.75, Say: lab.Text("why"), Tokens: [2]lab.Token{
				{Text: "a"},
				{Text: " b"},
			},
			Segments: [2][2]lab.Segment{{{From: 0, To: 1}, {}}, {{From: 0, To: 0.5}, {From: 0.7, To: 0.8}}},
		}},
	}
	v := partingsOf(stage.English, s)[0]
	if v.Lanes != "1 Greedy and 2 Pure" || v.Step != "3" || v.U != "0.7500" || v.Why != "why" {
		t.Errorf(
			"got %+v, want Lanes = %q, Step = %q, U = %q, Why = %q", v, "1 Greedy and 2 Pure", "3", "0.7500", "why",
		)
	}
	a := stripView{Lane: "1 Greedy", Takes: stage.Marked("a"), OwnX: "0%", OwnW: "100%"}
	b := stripView{
		Lane: "2 Pure", Takes: stage.Marked(" b"), OwnX: "70%", OwnW: "10%", OtherX: "0%", OtherW: "50%", UAt: "75%",
	}
	for i, want := range []stripView{a, b} {
		got := v.Strips[i]
		if got.Takes.String() != want.Takes.String() {
			t.Errorf("the lane takes %v, want %q", got.Takes, want.Takes.String())
		}
		if got.Takes, want.Takes = nil, nil; got.Lane != want.Lane || got.OwnX != want.OwnX || got.OwnW != want.OwnW ||
			got.OtherX != want.OtherX || got.OtherW != want.OtherW || got.UAt != want.UAt {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// TestEveryFieldShowsItsRange: the hint below each number, list and text field states the field's
// range.
func TestEveryFieldShowsItsRange(t *testing.T) {
	t.Parallel()
	for _, l := range lab.All() {
		i := l.Info(terms.English)
		f := newForm(stage.English, i, i.Inputs.Defaults(), "", nil)
		for _, c := range append(f.Main, f.More...) {
			switch c.Kind {
			case terms.KindInt, terms.KindFloat, terms.KindList:
				if !strings.Contains(hint(stage.English, c), short(c.Min)+" to "+short(c.Max)) &&
					(c.Key != "top_k" || !strings.Contains(hint(stage.English, c), "0 or more")) {
					t.Errorf(
						"%s, %s: got hint %q, want its range, %s to %s", i.Name, c.Key, hint(stage.English, c),
						short(c.Min),
						short(c.Max),
					)
				}
			case terms.KindLines:
				if !strings.Contains(hint(stage.English, c), "at most 8, each up to 100 bytes") {
					t.Errorf(
						"%s, %s: got %q, want it to contain %q", i.Name, c.Key, hint(stage.English, c),
						"at most 8, each up to 100 bytes",
					)
				}
			}
		}
	}
}

// TestLinkNamesItsModel: a link identifies the model that it was made with, and a page with another
// model points out the difference.
func TestLinkNamesItsModel(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link, ok := s.get("/labs/cache?tokens=12", 200).Find(".lab__link").Attr("href")
	if !ok || !strings.Contains(link, "tokens=12") || !strings.Contains(link, "model="+s.pages.Target.Hash()[:12]) {
		t.Fatalf("got %q, want ok = true, link with %q and %q", link, "tokens=12", "model="+s.pages.Target.Hash()[:12])
	}
	if got := text(s.get(link, 200).Find("#lab-trouble")); got != "" {
		t.Errorf(`the same model: got %q, want ""`, got)
	}
	other := strings.Replace(link, s.pages.Target.Hash()[:12], "0123456789ab", 1)
	if got := text(s.get(other, 200).Find("#lab-trouble")); !strings.Contains(got, "made with a model other than") {
		t.Errorf("another model: got %q, want it to contain %q", got, "made with a model other than")
	}
}

// TestSmallDivergenceIsNotZero: a small divergence is never formatted as 0.
func TestSmallDivergenceIsNotZero(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{
		0: "0.0000", 0.0159: "0.0159", 4.56e-6: "4.6 · 10⁻⁶", 1.2e-10: "1.2 · 10⁻¹⁰",
	} {
		if got := kl(x); got != want {
			t.Errorf("%v is formatted as %q, want %q", x, got, want)
		}
	}
}
