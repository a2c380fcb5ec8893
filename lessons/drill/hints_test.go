package drill

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestHintFormulasAreAccepted: the formulas of the last hint and of the worked solution, typed in as
// they are, are right or get a response of the cell's own. Hints that are sentences are left out.
func TestHintFormulasAreAccepted(t *testing.T) {
	word := regexp.MustCompile(`\p{L}{2}`)
	for _, info := range Kinds(terms.English) {
		formulas := 0
		for level := 1; level <= info.Levels; level++ {
			for seed := range uint64(35) {
				p := mustNew(t, info.Kind, seed, level)
				for _, id := range p.Order() {
					c := p.cells[id]
					n, ok := c.grader.(*number)
					if !ok {
						continue
					}
					texts := append(strings.Split(c.hints[2], ", or "), c.work[len(c.work)-1].Eq)
					for _, text := range texts {
						if text == "" || word.MatchString(text) {
							continue
						}
						formulas++
						v := p.Check(id, text)
						own := v.State != Refused &&
							slices.ContainsFunc(n.slips, func(s slip) bool { return s.title == v.Title })
						if v.State != Right && !own {
							t.Errorf(
								"%s, seed %d, level %d: %s = %q is %s: %s %s; want it right or named",
								info.Kind, seed, level, id, text, v.State, v.Title, v.Why,
							)
						}
					}
				}
			}
		}
		if formulas == 0 && info.Kind != Stops {
			t.Errorf("the hints of %s have no formulas", info.Kind)
		}
	}
}

// TestHintFormulasByHand: the output costs $0.0075 of $0.0105, a share of 0.714. An amount is not a
// share. At seed 1, level 3, 4,294,967,296 / 33,792 = 127,100.1, so 127,100 positions fit.
func TestHintFormulasByHand(t *testing.T) {
	checkTyped(t, []typed{
		{Bill, "call.share", "$0.0075 / $0.0105", Right, "", ""},
		{Bill, "call.share", "$0.0075 / ($0.003 + $0.0075)", Right, "", ""},
		{Bill, "call.share", "$0.003 + $0.0075 / 1", Refused, "", `without "$"`},
		{Bill, "call.share", "$0.0075 × $0.0105 / 2", Refused, "", `without "$"`},
		{Bill, "call.share", "$0.0075", Refused, "", `without "$"`},
	})
	p := mustNew(t, KVBytes, 1, 3)
	v := p.Check("budget.fit", "4,294,967,296 / 33,792")
	if v.State != Part || v.Credit != 0.75 || v.Why != "Round down." {
		t.Errorf("a number of positions that is not whole: got %+v, want part of the credit, and to round down", v)
	}
	if v := p.Check("budget.fit", "127,100"); v.State != Right {
		t.Errorf("127,100 positions: got %+v, want it right", v)
	}
}
