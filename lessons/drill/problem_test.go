package drill

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/terms"
)

// anyProblem returns a problem of a random kind, seed and level.
func anyProblem(t *rapid.T) *Problem {
	k := rapid.SampledFrom(Kinds(terms.English)).Draw(t, "kind")
	return mustNew(t, k.Kind, rapid.Uint64Range(0, 1<<50).Draw(t, "seed"), rapid.IntRange(1, k.Levels).Draw(t, "level"))
}

// TestEveryProblemIsConsistent: every cell is in exactly one place and has hints, its worked
// solution ends with its answer, and the answer is graded as right.
func TestEveryProblemIsConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProblem(t)
		places := map[string]int{}
		done := map[string]bool{}
		for _, s := range p.Steps {
			if s.ID == "" || s.Name == "" || s.Title == "" || s.Ask == "" || s.Remark == "" {
				t.Fatalf(
					"a step lacks text: got %+v, want ID not empty, Name not empty, Title not empty, Ask "+
						"not empty, Remark not empty",
					s,
				)
			}
			for _, need := range s.Needs {
				if !done[need] {
					t.Fatalf("step %s needs step %s, which does not come before it", s.ID, need)
				}
			}
			done[s.ID] = true
			for _, row := range slices.Concat(s.Rows, s.Foot) {
				if len(row.Items) != len(s.Columns) {
					t.Fatalf(
						"step %s, row %s has %d items, want %d, one per column", s.ID, row.Key, len(row.Items),
						len(s.Columns),
					)
				}
				for _, it := range row.Items {
					if it.Cell != nil && it.Option == "" {
						places[it.Cell.ID]++
					} else if it.Cell != nil {
						places[it.Cell.ID] = 1
					}
				}
			}
			for _, a := range s.Asks {
				places[a.Cell.ID]++
			}
		}
		for _, id := range p.Order() {
			if places[id] != 1 {
				t.Fatalf("cell %s is in %d places, want 1", id, places[id])
			}
			whole1(t, p, id)
		}
		if len(places) != len(p.Order()) || len(p.Worked()) != len(p.Steps) {
			t.Fatalf("got %d cells in the tables, want the %d cells of Order", len(places), len(p.Order()))
		}
	})
}

// whole1 checks one cell of a problem.
func whole1(t *rapid.T, p *Problem, id string) {
	v := p.Check(id, p.Answer(id))
	if v.State != Right || v.Credit != 1 || v.Mistake != "" {
		t.Fatalf(
			`%s: the worked answer %q is %+v; want State = %q, Credit = 1, Mistake = ""`, id, p.Answer(id), v, Right,
		)
	}
	work := p.Work(id)
	if len(work) == 0 || work[len(work)-1].Result != p.Shown(id) {
		t.Fatalf("%s: the worked solution %+v does not end with %q", id, work, p.Shown(id))
	}
	for rung := 1; rung <= Rungs; rung++ {
		h := p.Hint(id, rung)
		if h.Text == "" || h.Rung != rung || h.Last != (rung == Rungs) {
			t.Fatalf("%s: hint %d is %+v; want Text not empty, Rung = %d, Last = %t", id, rung, h, rung, rung == Rungs)
		}
		if c := p.cells[id]; rung < Rungs && c.Type == Number && len(c.answer) > 5 &&
			strings.Contains(h.Text, c.answer) {
			t.Fatalf("%s: hint %d gives the answer %s away: %s", id, rung, c.answer, h.Text)
		}
	}
	if h := p.Hint(id, 1); !strings.HasSuffix(h.Text, "?") && !strings.Contains(h.Text, "Compare") {
		t.Fatalf("%s: the first hint is not a question: %s", id, h.Text)
	}
	for _, text := range []string{"", "hello", "NaN", "1e999", "\x00"} {
		want := Refused
		if text == "" {
			want = Empty
		}
		if v := p.Check(id, text); v.State != want || v.Credit != 0 || v.Mistake != "" {
			t.Fatalf("%s = %q: %+v, want %s", id, text, v, want)
		}
	}
}

// TestMistakesAreRecognized: every wrong value that results from a mistake is recognized as that
// mistake or as another one whose result is as close, and no wrong value is called right.
// Promise: Drills recognize the mistake behind a wrong number and never call a wrong number right.
func TestMistakesAreRecognized(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProblem(t)
		for _, id := range p.Order() {
			n, ok := p.cells[id].grader.(*number)
			if !ok {
				continue
			}
			for _, s := range n.slips {
				if math.Abs(s.value) > maxValue {
					continue
				}
				text := canonical(s.value, n.form)
				if n.form != Count && n.form != Bytes {
					text = decimals(s.value, 6) // with trailing zeros: 0.021 is less exact than 0.021000
				}
				v := p.Check(id, text)
				// Only six decimals are entered, so a value just outside the tolerance may be
				// rounded into it.
				within := func(w float64) bool {
					return math.Abs(s.value-w) <= n.form.near(w)+1e-6 || apart(s.value, w) < 1e-3
				}
				if v.State == Right && !slices.ContainsFunc(n.want, within) {
					t.Fatalf(
						"%s = %s, from %q, was called right, want it recognized as that mistake", id, text, s.mistake,
					)
				}
				if v.State != Right && v.Mistake != s.mistake && !n.asNear(v, s) {
					t.Fatalf("%s = %s, from %q: got %+v, want that mistake or one as close", id, text, s.mistake, v)
				}
			}
		}
	})
}

// asNear reports whether the result of the mistake named in v is at least as close to the given
// answer as the result of s.
func (n *number) asNear(v Verdict, s slip) bool {
	near := apart(v.Value, s.value) + 1e-9
	for _, other := range n.slips {
		if other.mistake == v.Mistake && apart(v.Value, other.value) <= near {
			return true
		}
	}
	return v.Mistake == Rounding &&
		slices.ContainsFunc(n.want, func(w float64) bool { return apart(v.Value, w) <= max(near, 0.01) })
}

// TestNamedMistakesWithAnyNumbers: the lesson's mistakes are also recognized with other numbers,
// unless the resulting number is right or fits two mistakes. The test computes the numbers
// independently of the program.
func TestNamedMistakesWithAnyNumbers(t *testing.T) {
	found, all := map[Mistake]int{}, map[Mistake]int{}
	for seed := range uint64(60) {
		p := mustNew(t, Softmax, seed, 2)
		f := newFive(p)
		e, sum := naive(f.z, 1)
		cold1, coldSum := naive(f.z, cold)
		hot1, hotSum := naive(f.z, hot)
		var ten, two, tenSum, twoSum float64
		for i, z := range f.z {
			a, b := math.Pow(10, value(z)), math.Pow(2, value(z))
			if tenSum, twoSum = tenSum+a, twoSum+b; i == 1 {
				ten, two = a, b
			}
		}
		keep := f.nucleus(1).Keep
		var kept float64
		for _, x := range e[:keep] {
			kept += x
		}
		for _, row := range []struct {
			cell string
			x    float64
			want Mistake
		}{
			{"softmax.p.1", e[1] / e[0], Largest},
			{"softmax.p.1", ten / tenSum, Base10},
			{"softmax.p.1", two / twoSum, Base2},
			{"softmax.p.1", e[1], Swapped},
			{"softmax.p.2", e[1] / sum, OtherRow},
			{"cold.p.1", hot1[1] / hotSum, TimesT},
			{"hot.p.0", cold1[0] / coldSum, TimesT},
			{"topk.q.0", e[0] / sum, Renormalize},
			{"topp.q.0", e[0] / sum, Renormalize},
			{"topp.q.0", e[0] / (kept + e[keep]), OneTooMany},
			{"topp.mass", (kept - e[keep-1]) / sum, Crossing},
		} {
			all[row.want]++
			v := p.Check(row.cell, decimals(row.x, 4))
			if v.Mistake == row.want {
				found[row.want]++
			} else if v.Mistake == "" && v.State != Right {
				t.Errorf("seed %d: %s = %.4f, %v: not recognized", seed, row.cell, row.x, row.want)
			}
		}
	}
	for m, n := range all {
		if found[m] < n*9/10 {
			t.Errorf("%s is recognized in %d of %d cases; want at least %d", m, found[m], n, n*9/10)
		}
	}
}

// TestAnyInputGetsAResponse: any input in any cell gets a sensible response.
func TestAnyInputGetsAResponse(t *testing.T) {
	digits := rapid.StringOfN(rapid.SampledFrom([]rune("0123456789.,%/-+e^ 'GiBktheaun·×$")), 0, 20, 80)
	rapid.Check(t, func(t *rapid.T) {
		p := anyProblem(t)
		text := rapid.OneOf(rapid.String(), digits).Draw(t, "text")
		for _, id := range p.Order() {
			v := p.Check(id, text)
			bad := math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || v.Cell != id
			switch v.State {
			case Empty:
				bad = bad || v.Credit != 0 || v.Title != ""
			case Right:
				bad = bad || v.Credit != 1 || v.Mistake != "" || v.Understood == ""
			case Part:
				bad = bad || v.Credit <= 0 || v.Credit >= 1 || v.Mistake == "" || v.Title == ""
			case Wrong, Refused:
				bad = bad || v.Credit != 0 || v.Title == ""
			default:
				bad = true
			}
			if bad {
				t.Fatalf(
					"answering %s with %q: got verdict %+v, want one that has a title where it is wrong, "+
						"and no credit for it",
					id, text, v,
				)
			}
		}
	})
}

// TestScoreCellByCell fills in one cell after another. The score starts without credit and ends
// with full marks, and each step opens when the steps that it needs are complete. Wrong and refused
// answers are counted as such.
func TestScoreCellByCell(t *testing.T) {
	p := mustNew(t, Softmax, 0, 1)
	answers := map[string]string{}
	s := p.Score(answers)
	if s.ToGo != s.Of || s.Credit != 0 || s.Complete || !s.Steps[0].Open || s.Steps[1].Open {
		t.Errorf("with no answers: %d of %d to go, credit %v", s.ToGo, s.Of, s.Credit)
	}
	for _, id := range p.Order() {
		answers[id] = p.Answer(id)
		if s := p.Score(answers); s.Steps[1].Open != s.Steps[0].Complete {
			t.Errorf(
				"after %s: step 1 complete %v, step 2 open %v; want step 2 to open when step 1 is complete", id,
				s.Steps[0].Complete, s.Steps[1].Open,
			)
		}
	}
	if s := p.Score(answers); !s.Complete || s.Right != s.Of || s.Credit != 1 || s.Of != 71 {
		t.Errorf("all answered: %d right of %d, want 71", s.Right, s.Of)
	}
	answers["softmax.p.0"], answers["softmax.p.1"], answers["softmax.p.2"] = "0.9", "a lot", "0.09"
	s = p.Score(answers)
	// 68 answers are right, one is wrong, one is refused, and one with too few digits gets half the
	// credit.
	if s.Right != 68 || s.ToFix != 1 || s.ToGo != 1 || s.Part != 1 || !(math.Abs(s.Credit-68.5/71) <= 1e-12) ||
		s.Complete || s.Steps[1].Open {
		t.Errorf(
			"with three spoiled: got %d right, %d to fix, %d to go, %d in part, credit %v; want s.Right = "+
				"68, s.ToFix = 1, s.ToGo = 1, s.Part = 1, s.Credit ≈ 68.5/71, s.Complete = false, "+
				"s.Steps[1].Open = false",
			s.Right, s.ToFix, s.ToGo, s.Part, s.Credit,
		)
	}
}

func TestUnknownDrillIsRefused(t *testing.T) {
	for _, row := range []struct {
		kind  Kind
		level int
	}{{"nothing", 1}, {Softmax, 0}, {Softmax, 4}, {"", 1}} {
		_, err := New(terms.English, row.kind, 0, row.level)
		var unknown *terms.Refusal
		if !errors.As(err, &unknown) {
			t.Errorf("New(%q, level %d): %v, want a refusal", row.kind, row.level, err)
		}
	}
	p := mustNew(t, Softmax, 0, 1)
	if v := p.Check("no.such", "1"); v.State != Refused || p.Cell("no.such") != nil || p.Work("no.such") != nil ||
		p.Answer("no.such") != "" || p.Hint("no.such", 1).Text != "" {
		t.Errorf("an unknown cell: got %+v, want it refused, without an answer, solution or hint", v)
	}
	if _, ok := Find(terms.English, "softmax"); !ok {
		t.Error("the softmax drill was not found")
	}
	if c := p.Cell("topk.keep"); c.Type != Set || len(c.Options) != 5 {
		t.Errorf("the cell of kept tokens is %+v, want Type = %q, len(Options) = 5", c, Set)
	}
}

// Shown returns [Problem.Answer] in the form shown to learners, for example a choice's text instead
// of its value.
func (p *Problem) Shown(cellID string) string {
	if c := p.cells[cellID]; c != nil {
		return c.shown
	}
	return ""
}
