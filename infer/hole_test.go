package infer

import (
	"math"
	"testing"
)

// After this prompt, typical-p 0.2 keeps eleven tokens of the bundled model. The most probable
// tokens are not among them, so there is a hole before the kept ones.
const holePrompt = "Once upon a time there was a"

// TestStagesWithTopTokenCut: rows, lanes and the totals of the rest count every kept token,
// whatever its rank, and always include the drawn token.
func TestStagesWithTopTokenCut(t *testing.T) {
	m := bundledModel(t)
	drawn := map[int]bool{}
	for seed := range uint64(40) {
		s := pure(seed)
		s.TypicalP, s.Stop.MaxTokens = 0.2, 1
		l := newLoop(t, m, holePrompt, s)
		finish(t, l)
		step := l.Steps()[0]
		d := step.Distribution()
		if d.Keep != 11 || d.Stays(0) || d.Leading() {
			t.Fatalf("%d tokens are kept, first kept = %v: the test proves little", d.Keep, d.Stays(0))
		}
		drawn[step.Rank] = true
		for _, n := range []int{1, 3, 12, 0} {
			f := m.Stage(step, KindFilter, nil, n).(Filter)
			kept, p, q := f.Rest.Kept, f.Rest.P, f.Rest.Q
			for _, r := range f.Rows.Rows {
				if r.Kept {
					kept++
				}
				p, q = p+r.P, q+r.Q
			}
			if kept != 11 || !(math.Abs(p-1) <= 1e-12) || !(math.Abs(q-1) <= 1e-12) ||
				!hasToken(f.Rows.Rows, step.Chosen) {
				t.Errorf(
					"seed %d, %d rows: got %d kept, Σp %v, Σq %v; want 11, 1, 1, and the drawn token among the rows",
					seed, n, kept, p, q,
				)
			}
			checkLanes(t, step, m.Stage(step, KindSample, nil, n).(Sample), n)
		}
	}
	if len(drawn) < 5 {
		t.Errorf("40 seeds drew %d different tokens; the test proves little", len(drawn))
	}
}

// checkLanes checks that the n lanes (0: all) are the first kept tokens, except that the drawn
// token replaces the last one if it is not among them.
func checkLanes(t *testing.T, step *Step, s Sample, n int) {
	t.Helper()
	d := step.Distribution()
	want := d.Keep
	if n > 0 {
		want = min(n, d.Keep)
	}
	q := s.LanesRest.Q
	for i, r := range s.Lanes {
		q += r.Q
		if first := d.KeptRank(i) + 1; !r.Kept || r.Rank != first && (i < want-1 || r.ID != step.Chosen) {
			t.Errorf("lane %d of %d is rank %d, kept %v; want rank %d", i+1, n, r.Rank, r.Kept, first)
		}
	}
	if len(s.Lanes) != want || s.LanesRest.N != d.Keep-want || !(math.Abs(q-1) <= 1e-12) ||
		!hasToken(s.Lanes, step.Chosen) {
		t.Errorf("%d lanes and %d others sum to %v; rank %d was drawn", len(s.Lanes), s.LanesRest.N, q, step.Rank)
	}
	if r := s.Chosen; r.Rank != step.Rank || !(s.From <= s.U && s.U < s.To) {
		t.Errorf("rank %d was drawn; the stage has rank %d from %v to %v, u %v", step.Rank, r.Rank, s.From, s.To, s.U)
	}
}
