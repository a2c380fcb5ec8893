package drill

import (
	"strings"
	"testing"
)

// typed is an answer that people typed into a drill, and the verdict that a teacher would give.
type typed struct {
	kind       Kind
	cell, text string
	state      State
	mistake    Mistake
	say        string // part of the response
}

// checkTyped checks answers to the first numbers of each drill. The lesson's five tokens have the
// logits 4, 3, 2, 1 and 0.5, and e^4 + e^3 + e^2 + e^1 + e^0.5 = 86.440. The cache has 2 × 32 × 128 =
// 8,192 values per layer. E is (1 − 0.8^5) / 0.2 = 3.3616. A call's input costs $0.003.
func checkTyped(t *testing.T, rows []typed) {
	t.Helper()
	for _, row := range rows {
		v := mustNew(t, row.kind, 0, 1).Check(row.cell, row.text)
		said := v.Title + " " + v.Why
		if v.State != row.state || v.Mistake != row.mistake || !strings.Contains(said, row.say) {
			t.Errorf(
				"%s %s = %q: %s %q: %s; want %s %q, about %q", row.kind, row.cell, row.text, v.State, v.Mistake, said,
				row.state, row.mistake, row.say,
			)
		}
	}
}

// TestFormulasByHand: an answer may be typed as the formula that gives it, as the tables and the hints
// show it.
func TestFormulasByHand(t *testing.T) {
	checkTyped(t, []typed{
		{Five, "softmax.p.0", "e^4 / (e^4+e^3+e^2+e^1+e^0.5)", Right, "", ""}, // 0.6316
		{Five, "softmax.p.0", "e⁴/(e⁴ + e³ + e² + e + √e)", Right, "", ""},
		{Five, "softmax.p.0", "exp(4)/86.44", Right, "", ""},
		{Five, "softmax.p.0", "54.598/(54.598+20.086+7.389+2.718+1.649)", Right, "", ""},
		{Five, "topp.cum.1", "0.632 + 0.232", Right, "", ""},                 // 0.864
		{Five, "topk.q.0", "0.632 / (0.632 + 0.232 + 0.085)", Right, "", ""}, // 0.666
		{Five, "cold.p.0", "e^8 / (e^8+e^6+e^4+e^2+e)", Right, "", ""},       // 0.8643
		{Five, "cold.p.0", "e^4 / (e^4+e^3+e^2+e^1+e^0.5)", Wrong, IgnoredT, "p at T = 1"},
		{Speculation, "expected.e", "(1-0.8^5)/0.2", Right, "", ""},
		{Speculation, "expected.e", "(1 − 0.8^5) / (1 − 0.8)", Right, "", ""},
		{Speculation, "expected.e", "1 + 0.8 + 0.8^2 + 0.8^3 + 0.8^4", Right, "", ""},
		{Speculation, "powers.all.3", "0.8 × 0.8 × 0.8", Right, "", ""},
		{KVBytes, "position.layer", "2 × 32 × 128", Right, "", ""},
		{KVBytes, "position.layer", "2*32*128", Right, "", ""},
		{KVBytes, "position.layer", "32 × 128", Wrong, KeysAlone, ""},
		{KVBytes, "cache.short", "4,096 × 512 KiB", Right, "", ""}, // 2,097,152 KiB
		{KVBytes, "position.bytes", "½ MiB", Right, "", ""},        // 512 KiB
		{Bill, "call.in", "1,000 × 3 / 1,000,000", Right, "", ""},
		{Bill, "call.in", "$3/1000", Right, "", ""},
	})
}

// TestNotationsByHand: the notations that people type are read as they are meant. A currency sign that
// does not fit is named.
func TestNotationsByHand(t *testing.T) {
	checkTyped(t, []typed{
		{Five, "softmax.p.0", "p = 0.632", Right, "", ""},
		{Five, "softmax.p.0", "p(the) = 0,632", Right, "", ""},
		{Five, "softmax.p.0", "e^4/86.44 = 0.632", Right, "", ""},
		{Five, "softmax.p.0", "0.632.", Right, "", ""},
		{Five, "softmax.p.0", "0.6316...", Right, "", ""},
		{Five, "softmax.p.0", "0.6316…", Right, "", ""},
		{Five, "softmax.p.0", "632/1000", Right, "", ""},
		{Five, "softmax.p.0", "٠٫٦٣٢", Right, "", ""},
		{Five, "softmax.p.0", "0٫632", Right, "", ""},
		{Five, "softmax.p.0", "०.६३२", Right, "", ""},
		{Five, "softmax.p.0", "63/100", Part, Rounding, "You wrote 0.63."},
		{Bill, "call.in", "€0.003", Refused, "", `Amounts are in dollars here. Write the number without "€".`},
		{Bill, "call.in", "0.003 £", Refused, "", `without "£"`},
		{Bill, "call.in", "0.3¢", Right, "", ""},
		{Bill, "call.in", "US$0.003", Right, "", ""},
		{Five, "softmax.p.0", "$0.632", Refused, "", `not an amount of money. Write the number without "$".`},
	})
}

// TestNearMissesByHand: an answer that is nearly right, or is written in the wrong unit, earns part of
// the credit.
func TestNearMissesByHand(t *testing.T) {
	checkTyped(t, []typed{
		{Five, "topk.q.0", "2/3", Part, Rounding, "2/3 is only a simple fraction near it"}, // 0.6652
		{Five, "topk.q.0", "0.63/0.95", Part, Rounding, "only the last digit is off"},      // 0.6632
		{Five, "topk.q.0", "66,6", Part, Percent, "A percentage needs its % sign."},        // 0.632 / 0.949 = 0.666
		{Five, "topk.q.0", "66.5", Part, Percent, "66.52% is 0.6652"},
		{Five, "softmax.p.0", "63.2", Part, Percent, "63.16% is 0.6316"},
		{Five, "softmax.p.0", "0.632*100", Part, Percent, ""},
		{Speculation, "powers.all.2", "64", Part, Percent, "64% is 0.6400"},
		{KVBytes, "position.bytes", "512KB", Part, Units, "KiB counts in 1,024s"},
		{KVBytes, "cache.short", "2 GB", Part, Units, "GiB in 1,024s"},
	})
}

// TestMisplacedNumbersByHand: a number from another row, column or temperature is recognized.
func TestMisplacedNumbersByHand(t *testing.T) {
	checkTyped(t, []typed{
		{Shift, "before.exp.2", "2.718", Wrong, OtherRow, "exponential of “a”; this row is “an”"}, // e^1
		{Shift, "after.z.0", "-3", Wrong, OtherRow, "z + c of “an”"},                              // 0 − 3
		{Shift, "before.p.0", "7.389", Wrong, Swapped, "e to the power of 2. Now divide it by the sum, 11.107."},
		{Five, "softmax.p.0", "54.6", Wrong, Swapped, "That is e to the power of 4. Now divide it by the sum, 86.440."},
		{Five, "softmax.p.0", "0.8643", Wrong, OtherT, "That is p at T = 0.5."},
		{Five, "softmax.p.0", "0.4217", Wrong, OtherT, "That is p at T = 2."},
		{Five, "hot.p.0", "0.6316", Wrong, IgnoredT, "That is p at T = 1."},
		{Softmax, "softmax.exp.0", "2980.96", Wrong, OtherT, "That is the exponential at T = 0.5."}, // e^8
		{Softmax, "softmax.sum", "17.522", Wrong, OtherT, "That is the sum at T = 2."},
	})
}

// TestRemarksByHand: a label before the answer and the same number in parentheses after it are not
// factors. A percent sign applies to a whole power.
func TestRemarksByHand(t *testing.T) {
	checkTyped(t, []typed{
		{Five, "softmax.p.0", "0.632 (63.2%)", Right, "", ""},
		{Five, "softmax.p.0", "0.6316 (≈ 63%)", Right, "", ""},
		{Five, "softmax.p.0", "63.2% (= 0.632)", Right, "", ""},
		{Five, "softmax.p.0", "0.632 (0.5)", Refused, "", "two different numbers"},
		{Five, "softmax.p.0", "0.316(1 + 1)", Right, "", ""},
		{Five, "softmax.p.0", "12/19 (0.632)", Right, "", ""},
		{Five, "softmax.p.0", "e^4/86.44 (63.2%)", Right, "", ""},
		{Five, "softmax.p.0", "e^4 / (e^4+e^3+e^2+e^1+e^0.5) (0.632)", Right, "", ""},
		{Speculation, "powers.all.3", "(0.8)(0.8)(0.8)", Right, "", ""},
		{Five, "softmax.p.0", "T = 1: 0.632", Right, "", ""},
		{Five, "softmax.p.0", "p at T=1: 63.2%", Right, "", ""},
		{Five, "softmax.p.0", "12 : 19", Right, "", ""},             // 0.6316
		{Five, "softmax.p.0", "7.947²%", Right, "", ""},             // 63.155%
		{Attention, "scores.score", "2 × 2 + 1 × 1", Right, "", ""}, // (2, 1) · (2, 1) = 5
		{Attention, "scores.score", "(2,1)·(2,1) = 5", Right, "", ""},
		{Attention, "scores.score", "(2,1)·(2,1)", Refused, "", "a sum of products, such as 2 × 2 + 1 × 1"},
		{Attention, "scores.score", "(2, 1) × (2, 1)", Refused, "", "a sum of products"},
	})
}
