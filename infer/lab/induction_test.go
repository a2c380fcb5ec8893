package lab

import (
	"math"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestInductionFindingsByHand checks the losses and the findings against values calculated by hand.
func TestInductionFindingsByHand(t *testing.T) {
	r := Induction{
		Rows: 1, Passing: 0.4, First: 8, Second: 4, Layers: 2,
		Heads: []HeadRead{
			{Part: "L1.H1", Block: 1, Head: 1, Induction: 0.1}, {Part: "L2.H1", Block: 2, Head: 1, Induction: 0.3},
		},
		Strong: []HeadOff{{"L2.H1", 0.3, 6.5}}, Weak: []HeadOff{{"L1.H1", 0.1, 4.5}},
	}
	// 6.5 − 4 and 4.5 − 4; 4 is less than 0.75 · 8 = 6
	if r.Lost(r.Strong[0]) != 2.5 || r.Usual() != 0.5 || !r.Copies() {
		t.Errorf("lost %v, usually %v, copies %v", r.Lost(r.Strong[0]), r.Usual(), r.Copies())
	}
	said := strings.Join(english(r.findings()), " ")
	for _, want := range []string{
		"8.00 bits a token, the second by 4.00: it uses", "No induction head was found: none of the 2 heads gives 40%",
		"block 2, head 1, gives 30%", "by 6.50 bits a token, 2.50 more", "hardly looks there it is 0.50 more",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %q", want, said)
		}
	}
	r.Weak[0].Second = 3.75 // 4 − 0.25
	if said := strings.Join(english(r.findings()), " "); !strings.Contains(said, "hardly looks there it is 0.25 less") {
		t.Errorf(
			"with a second reading that improves without a head: got %q, want it to contain %q", said,
			"hardly looks there it is 0.25 less",
		)
	}
	r.Pass, r.Heads[1].Induction, r.Second = 1, 0.9, 7
	said = strings.Join(english(r.findings()), " ")
	if !strings.Contains(said, "1 induction head of 2") || !strings.Contains(said, "makes little use of") {
		t.Errorf(
			"with one that passes: got %q, want it to contain %q and %q", said, "1 induction head of 2",
			"makes little use of",
		)
	}
}

// TestInductionOfTheBundledModel: no head of the bundled model counts as an induction head, and
// every measure is between 0 and 1. A user's own words replace the random rows.
func TestInductionOfTheBundledModel(t *testing.T) {
	r, _ := result[*Induction](t, "induction", terms.Values{"rows": "2", "length": "12", "off": "2"})
	if r.Own || r.Rows != 2 || len(r.Row) != 12 || len(r.Heads) != 36 || r.Pass != 0 || len(r.Strong) != 2 ||
		len(r.Weak) != 2 || r.Strong[0].Induction < r.Strong[1].Induction ||
		r.Weak[0].Induction > r.Strong[1].Induction {
		t.Errorf(
			"got %+v, want Own = false, Rows = 2, len(Row) = 12, len(Heads) = 36, Pass = 0, len(Strong) = "+
				"2, len(Weak) = 2, Strong[0].Induction at least %v, Weak[0].Induction at most %v",
			r, r.Strong[1].Induction, r.Strong[1].Induction,
		)
	}
	for _, h := range r.Heads {
		if sum := h.Induction + h.Previous + h.Start; h.Induction < 0 || sum > 1+1e-5 || math.IsNaN(sum) {
			t.Errorf("got head %+v, want shares of 0 to 1 that add up to at most 1", h)
		}
	}
	own, _ := result[*Induction](t, "induction", terms.Values{"prompt": " The king lived in a castle", "off": "1"})
	if !own.Own || own.Rows != 1 || own.Row[1].Text != " king" {
		t.Errorf("own words: got %+v, want own.Own = true, own.Rows = 1, [1].Text = %q", own.Row, " king")
	}
	l, _ := Find("induction")
	_, err := l.Run(t.Context(), models(t), values(t, l, terms.Values{"prompt": "x"}), nil)
	if err == nil || !strings.Contains(err.Error(), "2 to 200 tokens") {
		t.Errorf("one token: got error %v, want an error containing %q", err, "2 to 200 tokens")
	}
}
