package stage

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

// TestMapColumns: the drill's prompt consists of a start token and two tokens, which this pass
// reads. The map therefore has three columns, and one more for the next token.
func TestMapColumns(t *testing.T) {
	m := English.NewMap(sessiontest.Drill(t, sampling.Pure, infer.KindForward, 0), MapOptions{})
	var got []string
	for _, c := range m.Columns {
		got = append(got, c.Text.String()+" "+c.Class)
	}
	if want := []string{"start is-start", "Once ", "·upon ", "? is-next"}; !slices.Equal(got, want) {
		t.Errorf("columns %q, want %q", got, want)
	}
	if len(m.Rows) != 6 || m.Rows[0].N != "6" || m.Rows[5].N != "1" {
		t.Fatalf("rows %+v, want 6 with the last block on top", m.Rows)
	}
	// There are four columns, and six rows of height 10. A cell is 6.8 × 6, with margins of 1.6 and
	// 2.
	if m.Box != "0 0 40 60" {
		t.Errorf("view box %q, want %q", m.Box, "0 0 40 60")
	}
	bottom := m.Rows[5]
	want := MapRow{
		N: "1", Label: true, Pass: "M1.6 52h6.8v6h-6.8zM11.6 52h6.8v6h-6.8z", Last: "M21.6 52h6.8v6h-6.8z",
		Next: "M31.6 52h6.8v6h-6.8z",
	}
	if bottom.Kept != want.Kept || bottom.Pass != want.Pass || bottom.Last != want.Last || bottom.Next != want.Next {
		t.Errorf("block 1 is %+v, want %+v", bottom, want)
	}
	// The middle of the newest column, below the vector, is at 2.5 of 4 columns.
	if m.Elbow != "M62.5 36V26" {
		t.Errorf("elbow %q, want %q", m.Elbow, "M62.5 36V26")
	}
	if want := "A map of the model: 3 tokens as columns, 6 blocks as rows. This pass read them all."; m.Aria != want {
		t.Errorf("label %q, want %q", m.Aria, want)
	}
}

// TestMapShowsOnlyCompletedStages: the map shows neither the shares nor the drawn token before
// their stage.
func TestMapShowsOnlyCompletedStages(t *testing.T) {
	for _, c := range []struct {
		at           infer.Kind
		known, drawn bool
	}{
		{infer.KindForward, false, false},
		{infer.KindLogits, false, false},
		{infer.KindSoftmax, true, false},
		{infer.KindFilter, true, false},
		{infer.KindSample, true, true},
		{infer.KindAppend, true, true},
	} {
		s := sessiontest.Drill(t, sampling.Pure, c.at, 0)
		m := English.NewMap(s, MapOptions{})
		picked := slices.ContainsFunc(m.Shares, func(v MapShare) bool { return v.Pick })
		if m.Known != c.known || m.Drawn != c.drawn || picked != c.drawn {
			t.Errorf(
				"%v: known %t, drawn %t, picked %t; want %t, %t, %t", c.at, m.Known, m.Drawn, picked, c.known, c.drawn,
				c.drawn,
			)
		}
		back := English.NewMap(sessiontest.Drill(t, sampling.Pure, infer.KindCache, 0), MapOptions{At: c.at})
		if back.Known != c.known || back.Drawn != c.drawn {
			t.Errorf(
				"looking back at %v: known %t, drawn %t; want %t, %t", c.at, back.Known, back.Drawn, c.known, c.drawn,
			)
		}
	}
}

// TestMapDescribesEachStage: the picture has a caption at each stage, and no caption reveals a draw
// before it is made.
func TestMapDescribesEachStage(t *testing.T) {
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	st := sessiontest.Do(t, s, session.Start{Prompt: "In the old house lived a"})
	said := map[string]bool{}
	for {
		m := English.NewMap(st, MapOptions{Say: true})
		if m.Say == "" || said[m.Say] {
			t.Errorf("stage %d has the sentence %q again, want a different one", st.Shown(), m.Say)
		}
		said[m.Say] = true
		if st.Undrawn != strings.Contains(m.Say, "in the air") {
			t.Errorf(
				"stage %d, not drawn %t, want %t: %q", st.Shown(), st.Undrawn, strings.Contains(m.Say, "in the air"),
				m.Say,
			)
		}
		if quiet := English.NewMap(st, MapOptions{}); quiet.Say != "" {
			t.Errorf("without MapOptions.Say: got %q, want no sentence", quiet.Say)
		}
		if st.Shown() == infer.KindCache {
			break
		}
		st = sessiontest.Do(t, s, session.StepStage{Withhold: true})
	}
	if len(said) != 8 {
		t.Errorf("got %d sentences, want one for each stage and one for the withheld draw", len(said))
	}
}

// TestMapAfterTheTurn: at the last stage, the columns of the pass count as kept, and the drawn
// token is the next column.
func TestMapAfterTheTurn(t *testing.T) {
	s := sessiontest.Drill(t, sampling.Pure, infer.KindCache, 0)
	m := English.NewMap(s, MapOptions{})
	if m.Rows[0].Pass != "" || m.Rows[0].Last != "" || strings.Count(m.Rows[0].Fresh, "z") != 3 {
		t.Errorf("the top row is %+v, want three kept cells", m.Rows[0])
	}
	next := m.Columns[len(m.Columns)-1]
	if want := TokenText(s.Model.Token(s.Step().Chosen)).String(); !m.Again || next.Text.String() != want {
		t.Errorf("the next token's column is %q, want %q", next.Text, want)
	}
}

// TestMapFoldsTheOldest: since 30 positions are more than 24, the oldest 7 share the first column,
// and each of the other 23 has its own.
func TestMapFoldsTheOldest(t *testing.T) {
	for n, want := range map[int][2]int{24: {24, 1}, 25: {24, 2}, 30: {24, 7}, 500: {24, 477}} {
		spans := mapSpans(n)
		first := spans[0].to - spans[0].from
		if len(spans) != want[0] || first != want[1] || spans[len(spans)-1].to != n {
			t.Errorf(
				"%d positions: %d columns, the first of %d, to %d; want %d, %d, %d", n, len(spans), first,
				spans[len(spans)-1].to, want[0], want[1], n,
			)
		}
	}
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	st := sessiontest.Do(t, s, session.Start{Prompt: strings.Repeat("the cat ", 20)})
	m := English.NewMap(st, MapOptions{})
	n := st.Step().Positions()
	first := m.Columns[0]
	if len(m.Columns) != 25 || first.Class != "is-fold" || first.Text.String() != "+"+strconv.Itoa(n-23) {
		t.Errorf(
			"%d positions: %d columns, the first is %+v; want len(m.Columns) = 25, Class = %q, Text.String() = %q", n,
			len(m.Columns), first, "is-fold", "+"+strconv.Itoa(n-23),
		)
	}
	// Only every second label fits: the newest token's, the third newest's, and so on.
	if c := m.Columns; strings.Contains(c[23].Class, "is-quiet") || !strings.Contains(c[22].Class, "is-quiet") ||
		strings.Contains(c[21].Class, "is-quiet") {
		t.Errorf("the newest columns are %+v, want only the label before the last to be quiet", c[21:])
	}
	if strings.Contains(first.Class, "is-quiet") || !strings.Contains(m.Columns[1].Class, "is-quiet") {
		t.Errorf("the fold and its neighbor are %+v, want only the neighbor to be quiet", m.Columns[:2])
	}
	for _, c := range English.NewMap(st, MapOptions{Form: MapLesson}).Columns { // its labels are upright
		if strings.Contains(c.Class, "is-quiet") {
			t.Errorf("in a lesson, the label %s is left out", c.Text)
		}
	}
	came := make([]MapColumn, 16)
	came[15].Class = "is-next is-gen" // a word, so the label of the token before it is hidden
	quiet(came)
	if came[14].Class != "is-quiet" || came[13].Class != "" || came[15].Class != "is-next is-gen" {
		t.Errorf("next to the drawn token, the labels are %+v, want only its neighbor to be quiet", came[13:])
	}
	if !strings.Contains(m.Aria, "The oldest "+strconv.Itoa(n-23)+" share a column.") {
		t.Errorf(
			"the label does not name the fold: got %q, want it to contain %q", m.Aria,
			"The oldest "+strconv.Itoa(n-23)+" share a column.",
		)
	}
}

// TestMapMergesBlocksIntoBands: if there are many blocks, they are drawn as bands, in which
// adjacent cells of the same kind form one rectangle.
func TestMapMergesBlocksIntoBands(t *testing.T) {
	classes := []string{"kept", "kept", "kept", "last", "next"}
	if got, want := mapRuns(classes, true), []span{{0, 3}, {3, 4}, {4, 5}}; !slices.Equal(got, want) {
		t.Errorf("got runs %v, want %v", got, want)
	}
	if got := mapRuns(classes, false); len(got) != 5 {
		t.Errorf("got runs %v, want one for each column", got)
	}
}

// TestMapPercentsAddUp: whole percents add up to 100 if they can. A share below 1% counts as 1, and the share
// of all other tokens is the remainder.
func TestMapPercentsAddUp(t *testing.T) {
	got := mapPercents([]float64{0.2250, 0.1574, 0.1292, 0.0034, 0, 0.4850})
	if want := []string{"23%", "16%", "13%", "<1%", "0%", "47%"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// Counted as 98 + 2 + 1 + 1 + 1, these do not fit into 100 beside the others.
	got = mapPercents([]float64{0.9790, 0.0190, 0.0010, 0.0005, 0.0001, 0.0004})
	if want := []string{"98%", "2%", "<1%", "<1%", "<1%", "<1%"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// mixed returns the state of [looked] with the output of its first head: two numbers, computed
// from three positions with the weights 0.25, 0.5 and 0.25.
func mixed(t *testing.T) *session.State {
	t.Helper()
	s := looked(t)
	s.Look.Blocks[0].Mixes = []infer.Mix{{
		Sum:   []float32{1, -0.5},
		Terms: []infer.Term{{Position: 1, Value: []float32{1, -2}}, {Position: 0, Value: []float32{4, 1}}},
	}}
	return s
}

func TestZoomIntoABlock(t *testing.T) {
	z := English.NewZoom(mixed(t), ZoomTo{Block: 1})
	if z.Missing != "" || len(z.Lanes) != 6 || len(z.Columns) != 3 || z.Inside == nil {
		t.Fatalf(`got %+v, want Missing = "", len(Lanes) = 6, len(Columns) = 3, Inside not nil`, z)
	}
	// 0.25 is in the third range, which ends at 0.5, and 0.5 is in the fourth.
	want := []ZoomShade{{"p3", "M0.5 0.5h9v9h-9zM20.5 0.5h9v9h-9z"}, {"p4", "M10.5 0.5h9v9h-9z"}}
	if got := z.Lanes[0]; !slices.Equal(got.Shades, want) || got.Cmd != `{"cmd":"zoom","block":1,"head":1}` {
		t.Errorf("head 1 is %+v, want %+v", got, want)
	}
	if len(z.Crumbs) != 2 || z.Crumbs[0].Cmd != "" || !z.Crumbs[1].Now {
		t.Errorf(`crumbs %+v, want 2 elements, [0].Cmd = "", [1].Now = true`, z.Crumbs)
	}
	head := English.NewZoom(mixed(t), ZoomTo{Block: 1, Head: 2})
	if z.Why.Off != "L1" || head.Why.Off != "L1.H2" {
		t.Errorf("links to the prediction without the part: got %+v, %+v; want z.Why.Off = %q, head.Why.Off = %q",
			z.Why, head.Why, "L1", "L1.H2")
	}
}

// TestZoomIntoASum: 0.5 × (1, −2) + 0.25 × (4, 1) = (1.5, −0.75). If the sum is (1, −0.5), the
// third position must therefore contribute (−0.5, 0.25).
func TestZoomIntoASum(t *testing.T) {
	z := English.NewZoom(mixed(t), ZoomTo{Block: 1, Head: 1, Sum: true})
	if z.Sum == nil || len(z.Sum.Terms) != 3 || len(z.Sum.Work) != 2 {
		t.Fatalf("got %+v, want Sum not nil, len(Sum.Terms) = 3, len(Sum.Work) = 2", z)
	}
	for i, want := range []string{"0.5000", "0.2500", "0.2500"} {
		if got := z.Sum.Terms[i].W; got != want {
			t.Errorf("weight %d is %s, want %s", i+1, got, want)
		}
	}
	for i, want := range []string{
		"number 1: 0.5000 × 1.000 + 0.2500 × 4.000 + (−0.500) = 1.000",
		"number 2: 0.5000 × (−2.000) + 0.2500 × 1.000 + 0.250 = −0.500",
	} {
		if got := z.Sum.Work[i].String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := z.Sum.Values[0].Values; got != "1.00 −0.50" {
		t.Errorf("the sum in numbers is %q, want %q", got, "1.00 −0.50")
	}
}

func TestZoomOutsideForwardStage(t *testing.T) {
	z := English.NewZoom(sessiontest.Drill(t, sampling.Pure, infer.KindSoftmax, 0), ZoomTo{Block: 2, Head: 3})
	if z.Missing != English.T("zoom.here") || z.ActCmd != `{"cmd":"seek","step":1,"stage":"forward"}` {
		t.Errorf("got %+v, want the words %q and a button to the forward stage of step 1", z, English.T("zoom.here"))
	}
	if z.Ask != `{"cmd":"zoom","block":2,"head":3}` || len(z.Crumbs) != 3 {
		t.Errorf(
			"it would not ask for the head again: got %+v, want Ask = %q, len(Crumbs) = 3", z,
			`{"cmd":"zoom","block":2,"head":3}`,
		)
	}
}

// TestMapBeforeTheFirstPrompt: before the first prompt, the map is empty, with one dashed
// column.
func TestMapBeforeTheFirstPrompt(t *testing.T) {
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	m := English.NewMap(s.State(), MapOptions{Zoom: true})
	if m.Buttons || m.Known || m.Read || len(m.Rows) != 6 {
		t.Errorf("got %+v, want Buttons = false, Known = false, Read = false, len(Rows) = 6", m)
	}
	top := m.Rows[0]
	if top.Kept+top.Fresh+top.Pass+top.Last != "" || top.Next != "M1.6 2h6.8v6h-6.8z" {
		t.Errorf("the top row is %+v, want one dashed cell", top)
	}
}
