package drill

import (
	"math"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestFiveAsksFifteenAnswers: the short drill asks for fifteen answers. With the lesson's numbers,
// they are the answers to the exercise on paper: softmax, greedy, top-3, the nucleus of 0.9, and
// two temperatures.
func TestFiveAsksFifteenAnswers(t *testing.T) {
	p, err := New(terms.English, Five, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{
		"softmax.p.0": "0.632", "softmax.p.1": "0.232", "softmax.p.2": "0.085", "softmax.p.3": "0.031",
		"softmax.p.4": "0.019", // with 54.598, 20.086, 7.389, 2.718 and 1.649, which add up to 86.440
		"greedy.keep": "the",
		"topk.keep":   "the,a,an", "topk.q.0": "0.666", // 0.632 / 0.949
		"topp.cum.1": "0.864", "topp.cum.2": "0.949", "topp.cum.3": "0.980", "topp.cum.4": "1",
		"topp.keep": "the,a,an", // 0.864 < 0.9 ≤ 0.949
		"cold.p.0":  "0.864",    // 2980.958 / 3449.092
		"hot.p.0":   "0.422",    // 7.389 / 17.522
	}
	if n := len(p.Order()); n != len(answers) || n != 15 {
		t.Errorf("%d answers, want 15: %v", n, p.Order())
	}
	for _, id := range p.Order() {
		if v := p.Check(id, answers[id]); v.State != Right {
			t.Errorf("%s: %q is %s, want %s: %s %s", id, answers[id], v.State, Right, v.Title, v.Why)
		}
	}
	if v := p.Check("cold.p.0", "0.866"); v.State == Right || v.Mistake != Printed {
		t.Errorf("the printed 0.866 is %+v, want State other than %q, Mistake = %q", v, Right, Printed)
	}
}

// TestReadAcceptsPowersOfE: a power of e may be typed as it is written on paper.
func TestReadAcceptsPowersOfE(t *testing.T) {
	for written, want := range map[string]float64{
		"e^4": math.Exp(4), "e**4": math.Exp(4), "exp(4)": math.Exp(4), "exp 4": math.Exp(4), "e^-0.5": math.Exp(-0.5),
		"e^(3/2)": math.Exp(1.5), "e^4/86.44": math.Exp(4) / 86.44, "1/e^2": math.Exp(-2), "E^0": 1, "-e^1": -math.E,
		"e⁴": math.Exp(4), "e ^ 4": math.Exp(4), "e⁻²": math.Exp(-2), "e": math.E, "2³¹": 1 << 31,
		"5.4·10⁻³": 0.0054, "0.6316…": 0.6316,
	} {
		if list, err := Read(written, Real); err != nil || math.Abs(list[0].Value-want) > 1e-9*math.Abs(want) {
			t.Errorf("%q is parsed as %v (%v), want %v", written, list, err, want)
		}
	}
	for _, written := range []string{"e^", "e^(3", "e^99", "e^(1/0)", "exp(", "e4x", "⁴", "e⁻", "2⁻⁻1"} {
		if list, err := Read(written, Real); err == nil {
			t.Errorf("Read(%q) = %v, want it refused", written, list)
		}
	}
	p, err := New(terms.English, Softmax, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if v := p.Check("softmax.exp.0", "e^4"); v.State != Right {
		t.Errorf("e^4 for exp of 4 is %+v, want State = %q", v, Right)
	}
	if v := p.Check("softmax.exp.1", "e^4"); v.Mistake != OtherRow {
		t.Errorf("e^4 for exp of 3 is %+v, want Mistake = %q", v, OtherRow)
	}
}

// TestAmbiguousMistakeNamesBoth: if two slips lead to the same number, the response names both of
// them.
func TestAmbiguousMistakeNamesBoth(t *testing.T) {
	for _, row := range []struct {
		kind        Kind
		cell, wrong string
		one, other  string
	}{
		// In fp16, the keys alone (2·32·32·128/2 values of 2 bytes) take as many bytes as the
		// number of values in the keys and values together.
		{KVBytes, "position.bytes", "262144", "only the keys", "values, not bytes"},
		// The nucleus keeps 2 tokens at T = 0.5, one fewer than at T = 1, and 4 at T = 2.
		{Softmax, "hot.count", "3", "crosses the threshold", "at T = 1"},
		// γ + 1 = 5, and 1 / (1 − 0.8) = 5.
		{Speculation, "expected.e", "5", "if every guess were accepted", "an endless draft"},
	} {
		p, err := New(terms.English, row.kind, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		v := p.Check(row.cell, row.wrong)
		said := v.Title + " " + v.Why
		if v.State != Wrong || !strings.Contains(said, "Which one was yours?") || !strings.Contains(said, row.one) ||
			!strings.Contains(said, row.other) {
			t.Errorf(
				"%s %s: %q is %s: %s; want %s, it containing %q, %q and %q", row.kind, row.cell, row.wrong, v.State,
				said, Wrong, "Which one was yours?", row.one, row.other,
			)
		}
	}
}

// TestPowerOfZeroIsOne: the response to the answer 0 for e to the power of 0 explains that a power
// of 0 is 1, rather than that the learner multiplied by e.
func TestPowerOfZeroIsOne(t *testing.T) {
	p, err := New(terms.English, Shift, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if v := p.Check("before.exp.2", "0"); v.Mistake != NoExp || !strings.Contains(v.Title+v.Why, "It is 1") {
		t.Errorf("0 for e to the power of 0 is %+v, want Mistake = %q, v.Title+v.Why with %q", v, NoExp, "It is 1")
	}
	if v := p.Check("before.exp.1", "2.718"); v.State != Right {
		t.Errorf("e for e to the power of 1 is %+v, want State = %q", v, Right)
	}
	if v := p.Check("before.exp.0", "2"); v.Mistake != NoExp {
		t.Errorf("2 for e to the power of 2 is %+v, want Mistake = %q", v, NoExp)
	}
}
