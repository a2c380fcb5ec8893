package stage

import (
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

// looked returns a state with the inside view of a pass over "Once upon" (a start token and two
// tokens). The pass has one block of made-up numbers, so that the output can be computed by hand.
func looked(t *testing.T) *session.State {
	t.Helper()
	s := sessiontest.Drill(t, sampling.Pure, infer.KindForward, 0)
	s.Looking = true
	head := []float32{0.25, 0.5, 0.25}
	s.Look = &infer.Inspection{
		Position: 2, Token: s.PromptTokens[2], Embedding: 1.25,
		Blocks: []infer.BlockView{{
			NormIn: 1.25, NormMid: 3, NormOut: 5,
			Attention: [][]float32{head, {0, 0, 1}, head, head, head, head},
			Query:     ramp(192), Key: ramp(64), Value: ramp(64), Hidden: []float32{-1, 0, 3, 0.5},
			Says: []infer.Reading{
				{Token: infer.Token{ID: 1, Text: " a"}, P: 0.5},
				{Token: infer.Token{ID: 2, Text: "b"}, P: 0.125},
			},
		}},
	}
	return s
}

// ramp returns 0, 1, 2, … n−1.
func ramp(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i)
	}
	return x
}

func TestLookListsHeads(t *testing.T) {
	p := English.New(looked(t))
	l := p.Forward.Look
	if l == nil {
		t.Fatal("the panel has no inside view")
	}
	if want := "6 heads a block; 1–3 and 4–6 share keys and values"; l.HeadsSay != want || l.Group != "3" {
		t.Errorf("got HeadsSay = %q and Group = %s, want HeadsSay = %q", l.HeadsSay, l.Group, want)
	}
	if got, want := l.In.String(), "embedding of ·upon: 192 numbers, norm 1.2"; got != want {
		t.Errorf("the input is %q, want %q", got, want)
	}
	b := l.Blocks[0]
	// The longest norm is 5, so 1.25 is a quarter of it.
	if b.Before != "1.2" || b.After != "5.0" || b.BeforeW != "25%" || b.AfterW != "100%" {
		t.Errorf(
			"norms %s (%s) and %s (%s); want %s, %s, %s, %s", b.Before, b.BeforeW, b.After, b.AfterW, "1.2", "25%",
			"5.0", "100%",
		)
	}
	if b.Top.Text.String() != "·a" || b.Top.P != "0.50" || b.Top.Bar != "50%" || b.Then.P != "0.12" ||
		len(b.All) != 2 {
		t.Errorf(
			"it would say %+v, then %+v; want b.Top.Text.String() = %q, b.Top.P = %q, b.Top.Bar = %q, "+
				"b.Then.P = %q, len(b.All) = 2",
			b.Top, b.Then, "·a", "0.50", "50%", "0.12",
		)
	}
	if len(b.Groups) != 2 || len(b.Groups[0]) != 3 {
		t.Fatalf("groups of heads: got %v, want 2 elements, len(b.Groups[0]) = 3", b.Groups)
	}
	if got, want := b.Groups[0][0].Aria, "Block 1, head 1 reads Once 0.50, start 0.25, ·upon 0.25"; got != want {
		t.Errorf("head 1 is called %q, want %q", got, want)
	}
	if got, want := b.Groups[0][1].Cmd, `{"cmd":"head","block":1,"head":2}`; got != want {
		t.Errorf("head 2 sends %s, want %s", got, want)
	}
	// Head 2 reads only one position, so its worked line is shown first.
	if !b.Groups[0][1].Worked || p.Work.Name != "Block 1, head 2" || p.Work.Cells[0].Sum.String() != "1.0000" {
		t.Errorf(
			"worked first: got %+v, want b.Groups[0][1].Worked = true, Name = %q, Cells[0].Sum.String() = %q", p.Work,
			"Block 1, head 2", "1.0000",
		)
	}
	s := looked(t)
	s.Look = nil
	if v := English.New(s); v.Forward.Look != nil || v.Work != nil {
		t.Error("got an inside view without a look inside")
	}
}

func TestHeadsInWords(t *testing.T) {
	for want, c := range map[string][2]int{
		"4 heads a block; each has its own keys and values":            {4, 4},
		"4 heads a block; all share their keys and values":             {4, 1},
		"8 heads a block; 1–2, 3–4, 5–6 and 7–8 share keys and values": {8, 4},
		"32 heads a block; every 4 share keys and values":              {32, 8},
	} {
		if got := English.headsText(c[0], c[1]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestHeatColumnsFoldOldPositions(t *testing.T) {
	if cols := heatColumns(48); len(cols) != 48 || cols[1] != (span{1, 2}) {
		t.Errorf("48 positions: got %v, want 48 elements, [1] = %+v", cols, span{1, 2})
	}
	// For 100 positions, the columns are the first, a column for 53 positions, and the newest 46.
	cols := heatColumns(100)
	if len(cols) != HeatColumns || cols[0] != (span{0, 1}) || cols[1] != (span{
		1, 54,
	}) || cols[2] != (span{54, 55}) || cols[47] != (span{99, 100}) {
		t.Errorf(
			"100 positions: got %v, want %d elements, [0] = %+v, [1] = %+v, [2] = %+v, [47] = %+v", cols, HeatColumns,
			span{0, 1}, span{1, 54}, span{54, 55}, span{99, 100},
		)
	}
	w := make([]float32, 100)
	w[0], w[10], w[50], w[99] = 0.2, 0.3, 0.1, 0.4
	q := quantised(w, cols)
	// The columns have shares of 0.2, 0.3 + 0.1 and 0.4 of 255.
	if q[0] != 51 || q[1] != 102 || q[2] != 0 || q[47] != 102 {
		t.Errorf("weights %v, want [0] = 51, [1] = 102, [2] = 0, [47] = 102", q)
	}
}

func TestHeatmapWeights(t *testing.T) {
	h := English.NewHeat(looked(t))
	if got := strings.Join(h.Columns, " "); got != "start Once ·upon" {
		t.Errorf("columns %q, want %q", got, "start Once ·upon")
	}
	if len(h.Rows) != 1 || len(h.Rows[0]) != 6 || string(h.Rows[0][0]) != string([]byte{64, 128, 64}) {
		t.Errorf(
			"rows %v, want 1 element, len(h.Rows[0]) = 6, string(h.Rows[0][0]) = %q", h.Rows,
			string([]byte{64, 128, 64}),
		)
	}
	s := looked(t)
	s.Look = nil
	if English.NewHeat(s) != nil {
		t.Error("got a heatmap without a look inside")
	}
}

func TestHeadListsItsPositions(t *testing.T) {
	s := looked(t)
	v := English.NewHead(s, 1, 4)
	if v.Title != "Block 1, head 4 reads" || v.Shares != "heads 4–6 share keys and values" || v.Rest != "" {
		t.Errorf(
			`got %+v, want Title = %q, Shares = %q, Rest = ""`, v, "Block 1, head 4 reads",
			"heads 4–6 share keys and values",
		)
	}
	if len(v.Rows) != 3 || v.Rows[0].Text.String() != "Once" || v.Rows[0].At != "at 2" || v.Rows[0].W != "0.5000" ||
		v.Rows[0].Bar != "50%" || v.Rows[1].At != "at 1" {
		t.Errorf(
			"rows %+v, want 3 elements, [0].Text.String() = %q, [0].At = %q, [0].W = %q, [0].Bar = %q, [1].At = %q",
			v.Rows, "Once", "at 2", "0.5000", "50%", "at 1",
		)
	}
	for _, c := range []struct {
		block, head int
		want        string
	}{
		{2, 1, "There is no block 2: the model has 1 block."},
		{0, 1, "There is no block 0: the model has 1 block."},
		{1, 7, "There is no head 7: a block has 6 heads."},
		{1, 0, "There is no head 0: a block has 6 heads."},
	} {
		if got := English.NewHead(s, c.block, c.head).Missing; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	// Each of the 40 positions has a weight of 1/40. 16 are listed, and the other 24 sum to 0.6.
	long := make([]float32, 40)
	for i := range long {
		long[i] = 1.0 / 40
	}
	for len(s.PromptTokens) < 40 {
		s.PromptTokens = append(s.PromptTokens, s.PromptTokens[1])
	}
	s.Look.Blocks[0].Attention[0] = long
	if v := English.NewHead(s, 1, 1); len(v.Rows) != 16 || v.Rest != "the other 24 together" || v.RestW != "0.6000" {
		t.Errorf("got %d rows, %s %s; want 16, %s, %s", len(v.Rows), v.Rest, v.RestW, "the other 24 together", "0.6000")
	}
	s.Look.Blocks[0].Attention[0] = long[:17]
	if v := English.NewHead(s, 1, 1); len(v.Rows) != 17 || v.Rest != "" {
		t.Errorf(`17 positions: got %d rows, %q; want 17, ""`, len(v.Rows), v.Rest)
	}
}

func TestInsideOneBlock(t *testing.T) {
	v := English.NewInside(looked(t), 1)
	if v.Title != "Inside block 1, at token 3" || len(v.Heads) != 6 || len(v.Says) != 2 {
		t.Errorf("got %+v, want Title = %q, len(Heads) = 6, len(Says) = 2", v, "Inside block 1, at token 3")
	}
	// The norms are 1.25, 3 and 5, and the longest is 5.
	if v.Steps[0].Bar != "25%" || v.Steps[1].Bar != "60%" || v.Steps[2].Norm != "5.00" {
		t.Errorf("steps %+v, want [0].Bar = %q, [1].Bar = %q, [2].Norm = %q", v.Steps, "25%", "60%", "5.00")
	}
	q := v.Tensors[0]
	// The values are 0 to 191, so the mean is 95.5.
	if q.Shape != "6 heads × 32" || q.Min != "0.00" || q.Max != "191.00" || q.Mean != "95.500" || len(q.Values) != 6 {
		t.Errorf(
			"q: got %+v, want Shape = %q, Min = %q, Max = %q, Mean = %q, len(Values) = 6", q, "6 heads × 32", "0.00",
			"191.00", "95.500",
		)
	}
	if q.Values[1].Name != "head 2" || !strings.HasPrefix(q.Values[1].Values, "32.00 33.00 ") {
		t.Errorf(
			"q's second row: got %+v, want Name = %q, Values beginning with %q", q.Values[1], "head 2", "32.00 33.00 ",
		)
	}
	// The mean of −1, 0, 3 and 0.5 is 0.625. The bar of 3 has a length of 20, which is half of the
	// strip, and the bar of −1 is a third as long.
	f := v.Tensors[3]
	if f.Min != "−1.00" || f.Max != "3.00" || f.Mean != "0.625" || f.Pos != "M2.5 20v-20M3.5 20v-3.3" ||
		f.Neg != "M0.5 20v6.7" {
		t.Errorf(
			"feed-forward: got %+v, want Min = %q, Max = %q, Mean = %q, Pos = %q, Neg = %q", f, "−1.00", "3.00",
			"0.625", "M2.5 20v-20M3.5 20v-3.3", "M0.5 20v6.7",
		)
	}
	if f.ValuesSummary != "all 4 values" || f.Values[0].Values != "−1.00 0.00 3.00 0.50" ||
		f.Values[0].Name != "1–4" {
		t.Errorf(
			"its values: got %+v, want f.ValuesSummary = %q, [0].Values = %q, [0].Name = %q", f.Values, "all 4 values",
			"−1.00 0.00 3.00 0.50", "1–4",
		)
	}
	many := English.tensor("q", "", "", ramp(2000), valuesInRow)
	// 2,000 values are drawn as 500 bars of four values each, and 1,024 values are listed, in rows
	// of 16.
	if many.W != "500" || many.Note != "each bar is the largest of 4 neighbors" || len(many.Values) != 64 ||
		many.ValuesSummary != "the first 1,024 of 2,000 values" {
		t.Errorf(
			"2,000 values: width %s, %q, %d rows, %q; want %s, %q, 64, %q", many.W, many.Note, len(many.Values),
			many.ValuesSummary, "500", "each bar is the largest of 4 neighbors", "the first 1,024 of 2,000 values",
		)
	}
	s := looked(t)
	s.Look = nil
	if got := English.NewInside(s, 1).Missing; !strings.Contains(got, "Look inside") {
		t.Errorf("nothing to open: got %q, want it to contain %q", got, "Look inside")
	}
}

func TestLookInsideOmitsManyHeads(t *testing.T) {
	s := looked(t)
	// If a block has more heads than can be listed, it lists none, and its label says where they
	// are.
	b := English.lookBlock(s, English.textTokens(s, 3), 0, 5, false)
	if len(b.Groups) != 0 || !strings.Contains(b.Aria, "its inside describes it") {
		t.Errorf("got %+v, want len(Groups) = 0, Aria with %q", b, "its inside describes it")
	}
}

// TestHeadThroughAWindow: with a sliding window, a head reads only the most recent positions.
// Earlier positions are not listed, and the panel says so.
func TestHeadThroughAWindow(t *testing.T) {
	c, err := checkpoint.OpenPath("../../testdata/models/mistral-window")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m, err := infer.Load(c)
	if err != nil {
		t.Fatal(err)
	}
	run := session.New(m, session.DefaultLimits())
	s, err := run.Apply(t.Context(), session.Start{Prompt: "9 8 7 6 5 4 3 2 1 0 and zero"})
	if err != nil {
		t.Fatal(err)
	}
	n := len(s.PromptTokens)
	if s.Look == nil || n <= 17 {
		t.Fatalf("got %d tokens, a look inside: %v; want s.Look not nil, n more than 17", n, s.Look != nil)
	}
	v := English.NewHead(s, 1, 2)
	if !strings.HasSuffix(v.Shares, "; in this block a token sees the last 16 positions") || len(v.Rows) != 16 ||
		v.Rest != "" {
		t.Errorf(
			`got %q, %d rows, rest %q; want it ending with %q, 16, ""`, v.Shares, len(v.Rows), v.Rest,
			"; in this block a token sees the last 16 positions",
		)
	}
	for _, r := range v.Rows {
		if at, _ := strconv.Atoi(strings.TrimPrefix(r.At, "at ")); at <= n-16 || at > n {
			t.Errorf("position %s of %d is listed, want only the last 16", r.At, n)
		}
	}
	if got := English.New(s).Forward.Each; !strings.Contains(
		got, "4 heads look back over the last 16 positions, then",
	) {
		t.Errorf("got %q, want it to contain %q", got, "4 heads look back over the last 16 positions, then")
	}
	for name, want := range map[string]string{
		"gemma3": "all positions so far (in 6 blocks over the last 16 only)", "qwen3": "all positions so far",
		"mistral-window": "the last 16 positions",
	} {
		c, err := checkpoint.OpenPath("../../testdata/models/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if got := English.reach(c.Config, 17); got != want {
			t.Errorf("%s looks back over %s, want %s", name, got, want)
		}
		if got := English.reach(c.Config, 16); got != "all positions so far" {
			t.Errorf("%s, whole: got %s, want %s", name, got, "all positions so far")
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
