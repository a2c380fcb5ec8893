package infer

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// drillModel returns a model with the logits of the five-token drill after x ("the" 4, "a" 3, "an"
// 2, "and" 1, "or" 0.5). After each of the five, half a euro sign has the logit 2 and "b" has 1.
func drillModel(tb testing.TB) *Model {
	tb.Helper()
	next := map[int]map[int]float32{'x': {257: 4, 258: 3, 259: 2, 260: 1, 261: 0.5}}
	for id := 257; id <= 261; id++ {
		next[id] = map[int]float32{0xe2: 2, 'b': 1}
	}
	return bigram(tb, []string{"the", " a", " an", " and", " or"}, next)
}

// drillLoop runs the drill with a seed whose first u falls on the last of the
// five tokens.
func drillLoop(tb testing.TB, change func(*Settings)) *Loop {
	tb.Helper()
	s := pure(0)
	for sampling.U(s.Seed, 1) < 0.99 {
		s.Seed++
	}
	s.Stop = Stop{MaxTokens: 2, Strings: []string{"b!"}}
	if change != nil {
		change(&s)
	}
	return newLoop(tb, drillModel(tb), "x", s)
}

// TestDrillThroughTheLoop: the loop gives the same numbers for the drill as infer/sampling.
func TestDrillThroughTheLoop(t *testing.T) {
	l := drillLoop(t, func(s *Settings) { s.TopP = 0.9 })
	l.Rows = 5
	runTo(t, l, 1, KindLogits)
	softmax, filter := next(t, l).(Softmax), next(t, l).(Filter)
	for i, want := range []struct{ p, cum, q float64 }{
		{0.6316, 0.6316, 0.6652},
		{0.2324, 0.8640, 0.2447},
		{0.0855, 0.9495, 0.0900},
		{0.0314, 0.9809, 0},
		{0.0191, 1, 0},
	} {
		p, q := softmax.Rows.Rows[i], filter.Rows.Rows[i]
		if !(math.Abs(p.P-want.p) <= 5e-5) || !(math.Abs(p.Cum-want.cum) <= 5e-5) || !(math.Abs(q.Q-want.q) <= 5e-5) {
			t.Errorf(
				"row %d: p %.4f, cumulative %.4f, q %.4f; want %.4f, %.4f, %.4f", i, p.P, p.Cum, q.Q, want.p, want.cum,
				want.q,
			)
		}
		if p.ID != 257+i || p.Rank != i+1 || p.ZT != float64(p.Z) ||
			!(math.Abs(p.E-math.Exp(float64(p.Z)-4)) <= 1e-12) {
			t.Errorf(
				"row %d: got %+v; want ID = %d, Rank = %d, ZT = %v, E ≈ %v", i, p, 257+i, i+1, float64(p.Z),
				math.Exp(float64(p.Z)-4),
			)
		}
	}
	if !(math.Abs(softmax.SumExp*math.Exp(softmax.MaxZ)-86.4397) <= 5e-5) {
		t.Errorf("Σe^z is %v, want 86.4397", softmax.SumExp*math.Exp(softmax.MaxZ))
	}
	if filter.Kept != 3 || filter.Cut != 262-3 || filter.Reach(sampling.RuleTopP) != 3 ||
		filter.Reach(sampling.RuleTopK) != 262 ||
		filter.KeptRenormalizing != 3 {
		t.Errorf(
			"kept %d, cut %d, reach %d, %d; want filter.Kept = 3, filter.Cut = 262-3, "+
				"filter.Reach(sampling.RuleTopP) = 3, filter.Reach(sampling.RuleTopK) = 262, "+
				"filter.KeptRenormalizing = 3",
			filter.Kept, filter.Cut, filter.Reach(sampling.RuleTopP), filter.Reach(sampling.RuleTopK),
		)
	}
}

// TestRowsAndRestCoverTheVocabulary: rows are sorted by score; a chosen token that would not be
// listed replaces the last row; and the rows and the rest add up to the whole vocabulary. With 0
// rows, all tokens are listed.
func TestRowsAndRestCoverTheVocabulary(t *testing.T) {
	for _, m := range []*Model{smallModel(t), bundledModel(t)} {
		vocab := m.Config().Vocab
		s := pure(2)
		s.Temperature, s.TopK, s.TopP, s.Stop.MaxTokens = 1.5, 200, 0.95, 4
		l := newLoop(t, m, "Hi", s)
		finish(t, l)
		for _, step := range l.Steps() {
			for _, n := range []int{1, 5, 20, vocab - 1, vocab, vocab + 1, 0} {
				want := n
				if n == 0 || n > vocab {
					want = vocab
				}
				for _, kind := range []Kind{KindLogits, KindSoftmax, KindFilter} {
					rows := rowsOf(m.Stage(step, kind, nil, n))
					if len(rows.Rows) != want || rows.Rest.N != vocab-want || rows.Vocab != vocab {
						t.Fatalf(
							"%v with %d rows: %d rows and %d others of %d; want %d, %d, %d", kind, n, len(rows.Rows),
							rows.Rest.N, rows.Vocab, want, vocab-want, vocab,
						)
					}
					checkRows(t, rows, step.Chosen)
				}
				// The logits stage is the same before and after ranking.
				if bare, ranked := m.Stage(step, KindLogits, nil, n), m.Stage(
					step, KindLogits, step.Distribution(), n,
				); !reflect.DeepEqual(bare, ranked) {
					t.Errorf("logits with %d rows are\n%+v\nwant the logits of a ranked step:\n%+v", n, bare, ranked)
				}
				sample := m.Stage(step, KindSample, nil, n).(Sample)
				if !hasToken(sample.Lanes, step.Chosen) ||
					len(sample.Lanes)+sample.LanesRest.N != step.Distribution().Keep {
					t.Errorf(
						"got %d lanes and %d others of %d kept tokens, chosen one included: %v; want all kept, true",
						len(sample.Lanes), sample.LanesRest.N, step.Distribution().Keep,
						hasToken(sample.Lanes, step.Chosen),
					)
				}
				q := sample.LanesRest.Q
				for _, lane := range sample.Lanes {
					q += lane.Q
				}
				if !(math.Abs(q-1) <= 1e-12) {
					t.Errorf("the lanes and the rest have sum %v, want about 1", q)
				}
			}
		}
	}
}

func rowsOf(s Stage) Rows {
	switch s := s.(type) {
	case Logits:
		return s.Rows
	case Softmax:
		return s.Rows
	}
	return s.(Filter).Rows
}

func hasToken(rows []Row, id int) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return r.ID == id })
}

// checkRows checks the rows of any stage.
func checkRows(t *testing.T, rows Rows, chosen int) {
	t.Helper()
	p, q, kept := rows.Rest.P, rows.Rest.Q, rows.Rest.Kept
	for i, r := range rows.Rows {
		p += r.P
		q += r.Q
		if r.Kept {
			kept++
		}
		if i > 0 && (r.Z > rows.Rows[i-1].Z || r.Rank <= rows.Rows[i-1].Rank) {
			t.Fatalf("row %d is out of order", i)
		}
		if i < len(rows.Rows)-1 && r.Rank != i+1 {
			t.Fatalf("row %d has rank %d, want %d", i, r.Rank, i+1)
		}
	}
	if !hasToken(rows.Rows, chosen) {
		t.Errorf("the chosen token %d is not among %d rows", chosen, len(rows.Rows))
	}
	if rows.Rows[0].P > 0 && !(math.Abs(p-1) <= 1e-12) { // from the softmax stage on
		t.Errorf("%d rows and the rest sum to %v, want 1", len(rows.Rows), p)
	}
	if rows.Rows[0].Q > 0 && (!(math.Abs(q-1) <= 1e-12) || kept == 0) { // at the filter stage
		t.Errorf("%d rows and the rest sum to q %v with %d kept, want 1 and some kept", len(rows.Rows), q, kept)
	}
}

// TestChosenTokenJoinsTheRows: before the draw, the rows are the top tokens; after it, all stages
// of the step include the chosen token.
func TestChosenTokenJoinsTheRows(t *testing.T) {
	l := drillLoop(t, nil)
	l.Rows = 3
	ranks := func(rows Rows) (list []int) {
		for _, r := range rows.Rows {
			list = append(list, r.Rank)
		}
		return list
	}
	runTo(t, l, 1, KindForward)
	for range 3 {
		if got := ranks(rowsOf(next(t, l))); !slices.Equal(got, []int{1, 2, 3}) {
			t.Errorf("before the draw: ranks %v, want the first three", got)
		}
	}
	sample := next(t, l).(Sample)
	if sample.Chosen.Rank != 5 || sample.Chosen.ID != 261 || sample.Likely.ID != 257 || sample.U < sample.From ||
		sample.U >= sample.To {
		t.Fatalf(
			"u=%v in %v to %v chose rank %d; want sample.Chosen.Rank = 5, sample.Chosen.ID = 261, "+
				"sample.Likely.ID = 257, sample.U at least %v and less than %v",
			sample.U, sample.From, sample.To, sample.Chosen.Rank, sample.From, sample.To,
		)
	}
	for _, kind := range []Kind{KindLogits, KindSoftmax, KindFilter} {
		if got := ranks(rowsOf(l.Model().Stage(l.Steps()[0], kind, nil, 3))); !slices.Equal(got, []int{1, 2, 5}) {
			t.Errorf("%v after the draw: ranks %v, want 1, 2 and the chosen 5", kind, got)
		}
	}
}

// TestGreedyStages: greedy shows the distribution at T = 1 and does not draw a u.
func TestGreedyStages(t *testing.T) {
	l := drillLoop(t, func(s *Settings) { s.Temperature = 0 })
	l.Rows = 2
	runTo(t, l, 1, KindLogits)
	softmax, filter, sample := next(t, l).(Softmax), next(t, l).(Filter), next(t, l).(Sample)
	if softmax.Temperature != 0 || !(math.Abs(softmax.Rows.Rows[0].P-0.6316) <= 5e-5) || softmax.Rows.Rows[0].ZT != 4 {
		t.Errorf("the softmax shows %+v, want softmax.Temperature = 0, P ≈ 0.6316, ZT = 4", softmax.Rows.Rows[0])
	}
	if filter.Kept != 1 || filter.Rows.Rows[1].CutBy != sampling.RuleGreedy {
		t.Errorf(
			"the filter keeps %d and cuts the second by %q; want 1, %q", filter.Kept, filter.Rows.Rows[1].CutBy,
			sampling.RuleGreedy,
		)
	}
	if !sample.Greedy || sample.U != 0 || sample.Chosen.ID != 257 || sample.Chosen.Q != 1 || sample.From != 0 ||
		sample.To != 1 {
		t.Errorf("got %+v, want Greedy = true, U = 0, Chosen.ID = 257, Chosen.Q = 1, From = 0, To = 1", sample)
	}
}

// TestRederivedStageIsEqual: a stage derived later equals the one that Next returned, except that
// its rows always include the chosen token. A stage that has not run is nil.
func TestRederivedStageIsEqual(t *testing.T) {
	m := smallModel(t)
	l := newLoop(t, m, "Hi", pure(3))
	l.Rows = 0
	var stages []Stage
	for range 14 {
		stages = append(stages, next(t, l))
		steps := l.Steps()
		for _, kind := range Kinds {
			if got := m.Stage(steps[len(steps)-1], kind, nil, 0); (got != nil) != (kind <= steps[len(steps)-1].Ran) {
				t.Fatalf(
					"step at %v: stage %v is %v, want it to exist: %t", steps[len(steps)-1].Ran, kind, got,
					kind <= steps[len(steps)-1].Ran,
				)
			}
		}
	}
	for i, want := range stages {
		step := l.Steps()[i/7]
		if got := m.Stage(step, want.Kind(), nil, 0); !reflect.DeepEqual(got, want) {
			t.Errorf("step %d, %v: derived again, the stage differs", step.N, want.Kind())
		}
		if got := m.Stage(step, want.Kind(), step.Distribution(), 0); !reflect.DeepEqual(got, want) {
			t.Errorf("step %d, %v: derived with the distribution, the stage differs", step.N, want.Kind())
		}
	}
	if m.Stage(nil, KindForward, nil, 0) != nil || m.Stage(l.Steps()[0], 0, nil, 0) != nil ||
		m.Stage(l.Steps()[0], 8, nil, 0) != nil {
		t.Error("a stage that has not run is not nil")
	}
}

// TestStagesReportTheirCost: the multiply-adds of the pass and of the output matrix are reported
// only by the stage that performed them.
// Promise: Each stage shows the multiply-adds that it really performed.
func TestStagesReportTheirCost(t *testing.T) {
	m := smallModel(t)
	l := newLoop(t, m, "Hi", pure(3)) // 3 positions
	for i := range 14 {
		stage := next(t, l)
		blocks := m.Shape().Blocks(0, 3)
		if i >= 7 {
			blocks = m.Shape().Blocks(3, 1)
		}
		switch st := stage.(type) {
		case Forward:
			if st.Parts != blocks || st.MultAdds != blocks.Total() || st.Took <= 0 {
				t.Errorf("forward cost %+v, want %+v", st, blocks)
			}
		case Logits:
			if st.MultAdds != m.Shape().Output().Total() || st.Width != 16 || st.Took <= 0 {
				t.Errorf(
					"got logits of %d multiply-adds, width %d, in %v; want %d, 16, and a time", st.MultAdds, st.Width,
					st.Took, m.Shape().Output().Total(),
				)
			}
			if st.Min != slices.Min(l.Steps()[i/7].Logits) || st.Max != st.Rows.Rows[0].Z {
				t.Errorf(
					"got scores from %v to %v, want the smallest to the first row's %v", st.Min, st.Max,
					st.Rows.Rows[0].Z,
				)
			}
		case Sample:
			if st.MultAdds != 0 {
				t.Errorf("sampling cost %d multiply-adds, want 0", st.MultAdds)
			}
		}
	}
}

func TestForwardStageShapes(t *testing.T) {
	l := newLoop(t, smallModel(t), "Hi", pure(3))
	want := map[string][]int{
		"tokens": {3}, "residual": {3, 16}, "query": {3, 4, 4}, "key": {3, 2, 4}, "value": {3, 2, 4},
		"attention": {4, 3, 3}, "feed_forward": {3, 24}, "last": {16},
	}
	st := next(t, l).(Forward)
	if len(st.Shapes) != len(want) {
		t.Errorf("%d shapes, want %d", len(st.Shapes), len(want))
	}
	for _, s := range st.Shapes {
		if !slices.Equal(s.Dims, want[s.Name]) {
			t.Errorf("%s is %v, want %v", s.Name, s.Dims, want[s.Name])
		}
	}
	if st.Tokens[0].Text != "<|end|>" || !st.Tokens[0].Special || st.Tokens[1].Text != "H" {
		t.Errorf(
			"the tokens read are %+v, want [0].Text = %q, [0].Special = true, [1].Text = %q", st.Tokens, "<|end|>", "H",
		)
	}
}

func TestTokenText(t *testing.T) {
	m := smallModel(t)
	for id, want := range map[int]Token{
		'a':            {ID: 'a', Text: "a"},
		0xff:           {ID: 0xff, Text: "\uFFFD", Bytes: []byte{0xff}},
		endID:          {ID: endID, Text: "<|end|>", Special: true},
		firstExtra + 4: {ID: firstExtra + 4, Text: "é"},
		firstExtra + 7: {ID: firstExtra + 7, Text: "\uFFFD!", Bytes: []byte("\xac!")},
		9999:           {ID: 9999},
	} {
		if got := m.Token(id); !reflect.DeepEqual(got, want) {
			t.Errorf("Token(%d) = %+v, want %+v", id, got, want)
		}
	}
}

func TestKindNamesParse(t *testing.T) {
	for _, k := range Kinds {
		if got, ok := ParseKind(k.String()); !ok || got != k {
			t.Errorf("ParseKind(%q) = %v, %v; want %v, true", k.String(), got, ok, k)
		}
	}
	for _, name := range []string{"", "none", "Forward", "8"} {
		if k, ok := ParseKind(name); ok {
			t.Errorf("ParseKind(%q) = %v, want none", name, k)
		}
	}
	if Kind(0).String() != "none" || Kind(8).String() != "none" {
		t.Error("got a name for a number that is not a stage, want none")
	}
}
