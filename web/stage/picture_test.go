package stage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
)

// wizard runs a text to a stage and returns the state, with the inside view.
func wizard(t *testing.T, text string, at infer.Kind, more ...session.Command) *session.State {
	t.Helper()
	run := session.New(testmodel.Target(t), session.DefaultLimits())
	set := infer.DefaultSettings()
	set.Settings, set.Seed = sampling.Pure, 4
	for _, c := range slices.Concat(session.Begin(set, text), more) {
		if _, err := run.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	st := run.State()
	for st.Cursor.Stage < at {
		var err error
		if st, err = run.Apply(t.Context(), session.StepStage{}); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

const sentence = "The wizard lived in a"

func twin(p Picture) string {
	var list []string
	for _, f := range p.Twin {
		list = append(list, f.Name+" "+f.Say)
	}
	return strings.Join(list, ", ")
}

// TestPictureTokens: the sentence has 21 letters, and its tokens are The·w izard·lived·in·a. The
// model therefore cuts after the 3rd, 5th, 10th, 16th and 19th letter.
func TestPictureTokens(t *testing.T) {
	t.Parallel()
	p := English.PictureText(wizard(t, sentence, infer.KindForward), true)
	var cuts []int
	for i, l := range p.Letters {
		if l.Cut {
			cuts = append(cuts, i)
		}
	}
	if want := []int{3, 5, 10, 16, 19}; len(p.Letters) != 21 || !slices.Equal(cuts, want) {
		t.Errorf("got %d letters, cut at %v, want cuts at %v", len(p.Letters), cuts, want)
	}
	// "The" covers letters 0 to 3 of 21 and is in column 1 of 10, with a margin of .12.
	if want := "0,0 14.29,0 18.8,100 11.2,100"; p.Flows[0] != want {
		t.Errorf("the first token's flow is %s, want %s", p.Flows[0], want)
	}
	if typed := English.PictureText(wizard(t, sentence, infer.KindForward), false); typed.State != "text" ||
		slices.ContainsFunc(typed.Letters, func(l PictureLetter) bool { return l.Cut }) {
		t.Error("the sentence as typed is already cut")
	}
}

// TestPictureAttention compares the weights of block 4, head 5 with attention computed in the
// simplest way from this model's weights. There is an arrow to each column except the last, to
// which the arrow would return.
func TestPictureAttention(t *testing.T) {
	t.Parallel()
	p := English.PictureAttention(wizard(t, sentence, infer.KindForward, session.SetLook{On: true}), 4, 5)
	const want = "start 0.0219, The 0.0294, ·w 0.0291, izard 0.2250, ·lived 0.4607, ·in 0.1612, ·a 0.0726"
	if got := twin(p); got != want {
		t.Errorf("weights %s, want %s", got, want)
	}
	if len(p.Arcs) != 6 || p.Weights[4].Percent != "46%" || p.Arcs[4].W != "6.5" { // 1 + 12 × 0.4607
		t.Errorf(
			"got %d arcs, %+v, %+v; want len(p.Arcs) = 6, p.Weights[4].Percent = %q, p.Arcs[4].W = %q", len(p.Arcs),
			p.Weights, p.Arcs, "46%", "6.5",
		)
	}
	if p.Row != Share(2./6) { // block 4 of 6, of which the 6th is on top
		t.Errorf("the row begins at %s, want %s", p.Row, Share(2./6))
	}
}

// TestPictureStreamIsAReading: before the last block, the picture reads an unfinished vector. The
// reading after block 5, ·cottage, is not the model's answer, and the sentence says so.
func TestPictureStreamIsAReading(t *testing.T) {
	t.Parallel()
	p := English.PictureStream(wizard(t, sentence, infer.KindForward, session.SetLook{On: true}))
	got := twin(p)
	for _, want := range []string{"Block 5 reads ·cottage, 89%", "Block 6 reads ·hollow, 20%"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if !strings.Contains(p.Say, "the logit lens reads") || !strings.Contains(p.Say, "Only the reading at the top") {
		t.Errorf("got %q, want it to call the readings before the top unfinished", p.Say)
	}
}

// TestPictureScoresAndShares: scores and shares come from the same run and are in the same order.
func TestPictureScoresAndShares(t *testing.T) {
	t.Parallel()
	s := wizard(t, sentence, infer.KindSoftmax)
	if got, want := twin(English.PictureScores(s)), "·hollow 13.14, ·far 12.89, ·cottage 12.85, ·stone 12.75, "+
		"·little 12.74, 4,091 others up to 12.53"; got != want {
		t.Errorf("scores %s, want %s", got, want)
	}
	if got, want := twin(English.PictureShares(s)), "·hollow 20%, ·far 16%, ·cottage 15%, ·stone 14%, "+
		"·little 14%, 4,091 others 21%"; got != want {
		t.Errorf("shares %s, want %s", got, want)
	}
	cold := wizard(t, sentence, infer.KindSoftmax, session.Set{Knobs: infer.Knobs{"temperature": 0.5}})
	p := English.PictureShares(cold)
	plain, _, _ := sampling.Softmax(cold.Step().Logits, 1)
	if want := Share(plain[cold.Dist.Order[0]]); p.Rows[0].Tick != want {
		t.Errorf("the tick is at %s, want %s, the share at T = 1", p.Rows[0].Tick, want)
	}
}

// TestPictureCut: the picture says how many tokens are kept and how many are cut, and which token
// crosses the border of top-p; its rows add up to the vocabulary. At T = 1 the shares 0.2025, 0.1578,
// 0.1508, 0.1366, 0.1353 and 0.1099 add up to 0.8929, and the seventh, 0.0924 for ·small, makes that
// 0.9853. Rescaled by it, the first is 0.2055.
func TestPictureCut(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		knobs      infer.Knobs
		head, rows string
		kept       int
	}{
		{
			infer.Knobs{"top_p": 0.9},
			"7 kept, 4,089 cut: ·small crosses 0.9",
			"·hollow 21%, ·far 16%, ·cottage 15%, ·stone 14%, 3 others 34%, 4,089 others cut", 7,
		},
		{
			infer.Knobs{"top_k": 3},
			"3 kept and rescaled, 4,093 cut",
			"·hollow 40%, ·far 31%, ·cottage 29%, ·stone cut, ·little cut, 4,091 others cut", 3,
		},
		{
			infer.Knobs{"temperature": 0},
			"1 kept and rescaled, 4,095 cut",
			"·hollow 100%, ·far cut, ·cottage cut, ·stone cut, ·little cut, 4,091 others cut", 1,
		},
	} {
		s := wizard(t, sentence, infer.KindFilter, session.Set{Knobs: row.knobs})
		p := English.PictureCut(s)
		if p.Head != row.head || twin(p) != row.rows {
			t.Errorf("%v: got %q over %s, want %q over %s", row.knobs, p.Head, twin(p), row.head, row.rows)
		}
		kept, cut := 0, 0
		for _, r := range p.Rows {
			n := 1
			if strings.HasPrefix(r.Class, "is-rest") {
				if _, err := fmt.Sscanf(strings.ReplaceAll(r.Text.String(), ",", ""), "%d others", &n); err != nil {
					t.Fatal(err)
				}
			}
			if strings.HasSuffix(r.Class, "is-cut") {
				cut += n
			} else {
				kept += n
			}
		}
		if kept != row.kept || kept+cut != s.Model.Config().Vocab {
			t.Errorf("%v: the rows keep %d and cut %d tokens of %d", row.knobs, kept, cut, s.Model.Config().Vocab)
		}
	}
	d := wizard(t, sentence, infer.KindFilter, session.Set{Knobs: infer.Knobs{"top_p": 0.9}}).Dist
	if d.Cum[5] >= 0.9 || d.Cum[6] < 0.9 {
		t.Errorf("the running sum is %v, then %v; want the seventh token to cross 0.9", d.Cum[5], d.Cum[6])
	}
}

// TestPictureDraw: with seed 4, u is 0.4315, which falls in ·cottage's segment. That token fills
// the open column.
func TestPictureDraw(t *testing.T) {
	t.Parallel()
	p := English.PictureStrip(wizard(t, sentence, infer.KindAppend), true)
	if !strings.Contains(p.Say, "0.4315") || !strings.Contains(p.Say, "from 0.3603 to 0.5111") {
		t.Errorf("got %q, want it to contain %q and %q", p.Say, "0.4315", "from 0.3603 to 0.5111")
	}
	if next := p.Map.Columns[7]; next.Text.String() != "·cottage" || !strings.Contains(next.Class, "is-gen") {
		t.Errorf("the open column has %+v, want Text.String() = %q, Class with %q", next, "·cottage", "is-gen")
	}
	strip := English.PictureStrip(wizard(t, sentence, infer.KindFilter), false)
	if strip.Strip.Mark != "" || strip.Map.Columns[7].Text.String() != "?" {
		t.Error("the strip reveals the draw")
	}
}

// TestPictureCache checks the work for the eighth token against the formula in FACTS: 4,128,768 for
// the matrices, 2,304 for each position attended to, and 786,432 for the scores. Recomputing
// everything takes 8 × 4,128,768 + 1,152 × 8 × 9 + 786,432.
func TestPictureCache(t *testing.T) {
	t.Parallel()
	s := wizard(t, sentence, infer.KindAppend, session.StepToken{}, session.StepStage{})
	p := English.PictureCache(s)
	if got, want := twin(p), "with the cache 4,933,632, all read again 33,899,520"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	row := p.Map.Rows[0]
	if n := strings.Count(row.Kept, "M"); n != 7 || strings.Count(row.Last, "M") != 1 || row.Pass != "" {
		t.Errorf("%d columns are kept, want 7 and one new column: %+v", n, row)
	}
}

// TestPictureEdit: the two sentences share only the start token and The, so five columns become
// invalid.
func TestPictureEdit(t *testing.T) {
	t.Parallel()
	p := English.PictureEdit(
		wizard(t, sentence, infer.KindSoftmax), wizard(t, "The weaver lived in a", infer.KindSoftmax),
	)
	row := p.Map.Rows[0]
	if kept, dead := strings.Count(row.Fresh, "M"), strings.Count(row.Dead, "M"); kept != 2 || dead != 5 {
		t.Errorf("%d columns stay and %d are invalid, want 2 and 5", kept, dead)
	}
	if got, want := twin(p), "The wizard lived in a 15%, The weaver lived in a 48%"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPictureGuesses: a rejected guess and the guesses after it have no effect on the text.
func TestPictureGuesses(t *testing.T) {
	t.Parallel()
	s := wizard(t, sentence, infer.KindForward)
	token := func(text string) infer.Token { return infer.Token{Text: text} }
	p := English.PictureGuesses(s, []PictureGuess{
		{Token: token(" old"), Chance: 1, Accepted: true, Judged: true},
		{Token: token(" tree"), Chance: .5, Judged: true},
		{Token: token(".")},
		{Token: token(" house"), Own: true},
	})
	const want = "·old 100%, kept, ·tree 50%, refused, . thrown away, ·house the large model’s own"
	if got := twin(p); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var classes []string
	for _, c := range p.Map.Columns[7:] {
		classes = append(classes, c.Class)
	}
	if want := []string{"is-next is-gen", "is-next is-no", "is-next is-no"}; !slices.Equal(classes, want) {
		t.Errorf("the columns in front have the classes %q, want %q", classes, want)
	}
}

// TestPictureWideLabelsDoNotOverlap: a long word extends over short neighbors, but never
// over another long one.
func TestPictureWideLabelsDoNotOverlap(t *testing.T) {
	t.Parallel()
	var columns []MapColumn
	for _, s := range []string{"start", "·a", "·cottage", "?", "·capital", "·lived", "·hollow", "·stones", ""} {
		columns = append(columns, MapColumn{Text: Text{{S: s}}, Class: "is-gen"})
	}
	wideLabels(columns)
	var wide []string
	for _, c := range columns {
		if c.Class == "is-gen is-wide" {
			wide = append(wide, c.Text.String())
		}
	}
	if want := []string{"·cottage"}; !slices.Equal(wide, want) {
		t.Errorf("the labels %q extend over their neighbors, want %q", wide, want)
	}
}

// TestPictureKeepsColumnCount: the map has the same number of columns in each state, so every part
// keeps its position.
func TestPictureKeepsColumnCount(t *testing.T) {
	t.Parallel()
	s := wizard(t, sentence, infer.KindAppend, session.SetLook{On: true})
	later := wizard(t, sentence, infer.KindAppend, session.StepToken{}, session.StepStage{})
	for _, p := range []Picture{
		English.PictureText(s, false), English.PictureText(s, true), English.PictureColumns(s),
		English.PictureScores(s), English.PictureCut(s), English.PictureStrip(s, true),
		English.PictureCache(later), English.PictureGuesses(s, []PictureGuess{{}, {}, {}}),
	} {
		if n := len(p.Map.Columns); n != 10 || p.Map.Box != "0 0 100 60" {
			t.Errorf("%s has %d columns in %s, want 7 and 3 more", p.State, n, p.Map.Box)
		}
	}
}
