package drill

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/terms"
)

func mustNew(t interface {
	Helper()
	Fatal(...any)
}, kind Kind, seed uint64, level int,
) *Problem {
	t.Helper()
	p, err := New(terms.English, kind, seed, level)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSoftmaxLessonByHand checks each cell of the problem with the lesson's five tokens against
// values worked out by hand.
func TestSoftmaxLessonByHand(t *testing.T) {
	p := mustNew(t, Softmax, 0, 1)
	const tokens, scores = "“the”, “a”, “an”, “and”, “or”", "4, 3, 2, 1, 0.5"
	if got := p.Facts; got[0].Value != tokens || got[1].Value != scores {
		t.Fatalf("the lesson's numbers are %v, want [0].Value = %q, [1].Value = %q", got, tokens, scores)
	}
	for cell, texts := range map[string][]string{
		"softmax.exp.0": {"54.5982", "54.598", "54.60"}, "softmax.exp.1": {"20.0855", "20.086", "20.09", "20,086"},
		"softmax.exp.2": {"7.3891", "7.389"}, "softmax.exp.3": {
			"2.7183", "2.718",
		}, "softmax.exp.4": {"1.6487", "1.649"},
		"softmax.sum": {"86.4397", "86.440", "86.44", "86.45"}, // 54.60 + 20.09 + 7.39 + 2.72 + 1.65 = 86.45
		"softmax.p.0": {"0.6316", "0.632", "63.2%", "63.16 %", "0,632", ".632", "54.598/86.440"},
		"softmax.p.1": {"0.2324", "0.232"}, "softmax.p.2": {"0.0855", "0.085", "8.55%"},
		"softmax.p.3": {"0.0314", "0.031"}, "softmax.p.4": {"0.0191", "0.019"},
		"softmax.cum.0": {"0.6316", "0.632"},
		"softmax.cum.1": {"0.8640", "0.864"},                          // the same with both ways of rounding
		"softmax.cum.2": {"0.9495", "0.949"},                          // exact 0.94946; 0.632 + 0.232 + 0.085 = 0.949
		"softmax.cum.3": {"0.9809", "0.981", "0.980"},                 // exact; 0.949 + 0.031
		"softmax.cum.4": {"1", "1.000", "100%", "0.999"},              // exact; 0.980 + 0.019
		"greedy.keep":   {"the", " THE ", "{the}"},                    //
		"greedy.q":      {"1", "1.0", "100%"},                         //
		"topk.keep":     {"the,a,an", "an the a", "{the, a, an}"},     //
		"topk.mass":     {"0.9495", "0.949"},                          //
		"topk.q.0":      {"0.6652", "0.665", "0.666", "66.6%"},        // exact; 0.632 / 0.949 = 0.6660
		"topk.q.1":      {"0.2447", "0.245", "0.244"},                 // 0.232 / 0.949 = 0.24447
		"topk.q.2":      {"0.0900", "0.09", "0.0896"},                 // 0.085 / 0.949 = 0.08957
		"topk.q.3":      {"0", "0.000", "cut", "-", "0%"},             //
		"topp.keep":     {"the,a,an"},                                 // 0.8640 < 0.9 ≤ 0.9495
		"topp.q.0":      {"0.6652", "0.666"},                          //
		"cold.zt.4":     {"1", "1.0"},                                 // 0.5 / 0.5
		"cold.exp.0":    {"2980.958", "2,980.958", "2981", "2.981e3"}, // e^8
		"cold.sum":      {"3449.0923", "3449.092", "3449"},            //
		"cold.p.0":      {"0.8643", "0.864", "86.4%"},                 //
		"cold.p.1":      {"0.1170", "0.117"}, "cold.p.2": {"0.0158", "0.016"},
		"cold.p.3": {"0.0021", "0.002"}, "cold.p.4": {"0.0008", "0.001"},
		"cold.count": {"2"}, "hot.count": {"4", "4 tokens"},
		"hot.sum": {"17.5218", "17.522", "17.52"}, "hot.p.0": {"0.4217", "0.422"}, "hot.p.1": {"0.2558", "0.256"},
		"hot.p.2": {"0.1551", "0.155"}, "hot.p.3": {"0.0941", "0.094"}, "hot.p.4": {"0.0733", "0.073"},
		"hot.trend":  {"falls", "It falls"},
		"draw.end.0": {"0.6652", "0.666"}, "draw.end.1": {"0.9100", "0.910"}, "draw.end.2": {"1", "1.000"},
		"draw.drawn": {"a"}, // u = 0.883: 0.6652 ≤ 0.883 < 0.9100
	} {
		for _, text := range texts {
			if v := p.Check(cell, text); v.State != Right || v.Credit != 1 || v.Mistake != "" || v.Understood == "" {
				t.Errorf("%s = %q: %+v, want it right", cell, text, v)
			}
		}
	}
}

// lessonMistakes holds wrong answers to the problem with the lesson's numbers, the mistakes that
// lead to them, and a part of each response.
var lessonMistakes = []struct {
	cell, text string
	want       Mistake
	say        string
}{
	{"softmax.exp.0", "10000", Base10, "10 to the power of 4 is 10,000"},
	{"softmax.exp.0", "16", Base2, "2 to the power of 4 is 16"},
	{"softmax.exp.0", "10.873", TimesE, "e times 4 is 10.873"}, // 2.71828 × 4
	{"softmax.exp.0", "4", NoExp, "Raise e to it"},
	{"softmax.exp.0", "-5", "", "cannot be below 0"},
	{"softmax.exp.0", "77.7", "", "A hint takes you through the rule"},
	{"softmax.exp.0", "0.6316", Swapped, "before it is divided"},
	{"softmax.exp.1", "54.598", OtherRow, "the exponential of “the”; this row is “a”"},
	{"softmax.exp.1", "0.3679", Shifted, "p comes out the same"}, // e^(3−4)
	{"softmax.sum", "31.842", LeftOut, "Without “the”"},          // 86.440 − 54.598
	{"softmax.sum", "10.5", NoExp, "the exp column"},             // 4 + 3 + 2 + 1 + 0.5
	{"softmax.sum", "11113.16", Base10, "powers of 10"},          // 10000 + 1000 + 100 + 10 + 3.162
	{"softmax.p.1", "0.3679", Largest, "0.3679. The whole is the sum of all five exponentials, 86.440."},
	{"softmax.p.1", "0.368", Largest, "86.440"},
	{"softmax.p.0", "1", Largest, "86.440"},      // 54.598 / 54.598
	{"softmax.p.0", "0.8998", Base10, "2.71828"}, // 10000 / 11113.16
	{"softmax.p.0", "0.5093", Base2, "2.71828"},  // 16 / (16 + 8 + 4 + 2 + 1.4142)
	{"softmax.p.0", "0.381", NoExp, "Raise e"},   // 4 / 10.5
	{"softmax.p.0", "54.598", Swapped, "e to the power of 4. Now divide it by the sum, 86.440."},
	{"softmax.p.0", "63.16", Percent, "% sign"},
	{"softmax.p.1", "0.8640", Swapped, "the next column"}, // the running total
	{"softmax.p.1", "0.0855", OtherRow, "p of “an”"},
	{"softmax.p.0", "0.63", Rounding, "three or four decimals"},
	{"softmax.p.0", "0.631", Rounding, "goes up by one"}, // 0.6316 truncated
	{"softmax.cum.1", "0.2324", NotRunning, "more probable"},
	{"softmax.cum.1", "0.6316", OneTooFew, "0.6316 + 0.2324"},
	{"softmax.cum.1", "0.9495", OneTooMany, "Stop"},
	{"softmax.cum.1", "0.3684", Unsorted, "most probable"}, // 1 − 0.6316
	{"greedy.q", "0.6316", Renormalize, "gets everything"},
	{"topk.mass", "0.8640", OneTooFew, "3 tokens"},
	{"topk.mass", "0.0505", Swapped, "what stays"},
	{"topk.q.0", "0.6316", Renormalize, "0.6316 / 0.9495"},
	{"topk.q.0", "0.7311", OneTooFew, "3 stay"},  // 0.6316 / 0.8640
	{"topk.q.0", "0.6439", OneTooMany, "0.9809"}, // 0.6316 / 0.9809
	{"topk.q.3", "0.0314", NotCut, "gets nothing"},
	{"topk.q.3", "0.0320", OneTooMany, "A cut token gets 0"}, // 0.0314 / 0.9809
	{"topp.keep", "the,a", Crossing, "0.8640, short of 0.9"},
	{"topp.keep", "the,a,an,and", OneTooMany, "already 0.9495"},
	{"topp.keep", "the,an", OtherOption, "more probable"},
	{"topp.mass", "0.8640", Crossing, "0.8640 is short of 0.9"},
	{"topp.q.0", "0.7311", Crossing, "0.8640 is short of 0.9"},
	{"topp.q.0", "0.7018", Renormalize, "only what must be reached"}, // 0.6316 / 0.9
	{"cold.zt.0", "2", TimesT, "4 / 0.5 = 8"},
	{"cold.zt.0", "4", IgnoredT, "Divide it by T"},
	{"cold.zt.0", "3.5", AfterT, "Divide by T"},
	{"cold.exp.0", "7.389", TimesT, "z / T = 8"},            // e^(4 × 0.5)
	{"cold.exp.0", "54.598", IgnoredT, "is 8"},              // e^4
	{"cold.p.0", "0.4217", TimesT, "p at T = 2"},            //
	{"cold.p.0", "0.6316", IgnoredT, "have changed"},        //
	{"cold.p.0", "0.3990", Renormalize, "no longer add up"}, // 0.63163² = 0.39896
	{"cold.p.0", "0.866", Printed, "1.002"},
	{"hot.p.0", "0.8643", TimesT, "p at T = 0.5"},
	{"hot.p.0", "0.7948", Renormalize, "no longer add up"}, // √0.63163 = 0.79475
	{"hot.count", "3", Crossing, "short of 0.9"},           // 0.4217 + 0.2558 + 0.1551 = 0.8326
	{"cold.count", "1", Crossing, "0.8643, short of 0.9"},
	{"draw.end.1", "0.2447", NotRunning, "0.6652 + 0.2447"},
	{"draw.end.1", "0.8640", Renormalize, "p′"},
	{"draw.drawn", "the", OtherOption, "ends at 0.6652"},
	{"draw.drawn", "and", OneTooMany, "no part"},
	{"hot.trend", "rises", TimesT, "flatter"},
}

// TestMistakesByHand: each mistake is recognized by the number that results from it.
func TestMistakesByHand(t *testing.T) {
	p := mustNew(t, Softmax, 0, 1)
	for _, row := range lessonMistakes {
		v := p.Check(row.cell, row.text)
		if v.Mistake != row.want || !strings.Contains(v.Title+" "+v.Why, row.say) || v.State == Right {
			t.Errorf(
				"%s = %q: %s %q: %s %s; want %q, about %q", row.cell, row.text, v.State, v.Mistake, v.Title, v.Why,
				row.want, row.say,
			)
		}
	}
	const printed = "Some worksheets print that, but the arithmetic gives 0.864."
	if v := p.Check("cold.p.0", "0.866"); v.Title != printed {
		t.Errorf("the response to 0.866 is %q, want %q", v.Title, printed)
	}
	if v := p.Check("cold.p.0", "0.864"); !strings.Contains(v.Note, "0.866") {
		t.Errorf("0.864 has the note %q, want it to mention 0.866", v.Note)
	}
}

// TestEitherRoundingRouteIsRight: for any numbers and in every cell, the results of an independent
// softmax are graded as right with either way of rounding, and no right answer is called a mistake.
func TestEitherRoundingRouteIsRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		level := rapid.IntRange(1, MaxLevel).Draw(t, "level")
		p := mustNew(t, Softmax, rapid.Uint64Range(0, 1<<40).Draw(t, "seed"), level)
		f := newFive(p)
		right := func(cell string, value float64, places int) {
			text := decimals(value, places)
			if v := p.Check(cell, text); v.State != Right || v.Mistake != "" {
				t.Fatalf("%v: %s = %s: %+v, want it right", p.Facts, cell, text, v)
			}
		}
		for _, at := range []struct {
			step string
			t    float64
		}{{"softmax", 1}, {"cold", cold}, {"hot", hot}} {
			e, sum := naive(f.z, at.t)
			for i := range e {
				right(at.step+".exp."+itoa(int64(i)), e[i], 4)
				if e[i] >= 0.01 { // below 0.01, three decimals have one digit
					right(at.step+".exp."+itoa(int64(i)), e[i], 3)
				}
				right(at.step+".p."+itoa(int64(i)), e[i]/sum, 4)
				right(at.step+".p."+itoa(int64(i)), e[i]/sum, 3)
			}
			right(at.step+".sum", sum, 3)
		}
		for places := 3; places <= 4; places++ { // round p first, then continue with the rounded values
			e, sum := naive(f.z, 1)
			ranked := make([]float64, len(e))
			d := f.plain(1)
			var total float64
			for r, id := range d.Order {
				ranked[r] = roundTo(e[id]/sum, places)
				total += ranked[r]
				right("softmax.cum."+itoa(int64(id)), total, places)
			}
			for step, n := range map[string]int{"topk": f.k, "topp": p.cells["topp.keep"].grader.(*set).keep} {
				var mass float64
				for _, x := range ranked[:n] {
					mass += x
				}
				right(step+".mass", mass, places)
				for r, id := range d.Order[:n] {
					right(step+".q."+itoa(int64(id)), ranked[r]/mass, places)
				}
			}
		}
	})
}

// naive is the textbook softmax, without the engine.
func naive(z []float32, t float64) (e []float64, sum float64) {
	for _, x := range z {
		e = append(e, math.Exp(value(x)/t))
		sum += e[len(e)-1]
	}
	return e, sum
}

func decimals(x float64, places int) string { return fmt.Sprintf("%.*f", places, x) }

// TestAnswersAreUnambiguous: no seed gives an answer that depends on luck, and the top probability
// falls as T rises.
func TestAnswersAreUnambiguous(t *testing.T) {
	drawn := map[int]int{}
	for level := 1; level <= MaxLevel; level++ {
		for seed := range uint64(150) {
			p := mustNew(t, Softmax, seed, level)
			f := newFive(p)
			trend := p.Trend()
			if len(trend) != 3 || !(trend[0].P > trend[1].P && trend[1].P > trend[2].P) {
				t.Errorf(
					"level %d, seed %d: top probabilities %v, want them to fall in 3 steps", level, seed, trend,
				)
			}
			for _, temperature := range []float64{cold, 1, hot} {
				for _, cum := range f.plain(temperature).Cum {
					if math.Abs(cum-f.topP) < 0.01 {
						t.Errorf(
							"level %d, seed %d: at T=%v a running total is %v, the border %v", level, seed, temperature,
							cum, f.topP,
						)
					}
				}
			}
			d := f.nucleus(1)
			drawn[d.Draw(f.u)]++
			for r := range d.Keep {
				if _, to := d.Segment(r); math.Abs(to-f.u) < 0.01 {
					t.Errorf(
						"level %d, seed %d: u = %v is at a border, %v; want 0.01 or more away", level, seed, f.u, to,
					)
				}
			}
			if level == 3 && (len(f.z) != 6 || f.top().Keep == d.Keep) {
				t.Errorf("level 3, seed %d: %d tokens, both cuts keep %d", seed, len(f.z), d.Keep)
			}
		}
	}
	if drawn[0] == 0 || drawn[1] == 0 || drawn[2] == 0 {
		t.Errorf("the draws fall only on ranks %v, want more ranks", drawn)
	}
}

func TestSameSeedSameProblem(t *testing.T) {
	for _, k := range Kinds(terms.English) {
		for level := 1; level <= k.Levels; level++ {
			seen := map[string]bool{}
			for seed := range uint64(20) {
				a, b := mustNew(t, k.Kind, seed, level), mustNew(t, k.Kind, seed, level)
				if !reflect.DeepEqual(a.Steps, b.Steps) || !reflect.DeepEqual(a.Facts, b.Facts) ||
					!reflect.DeepEqual(a.Worked(), b.Worked()) {
					t.Fatalf("%s, seed %d, level %d gave two different problems", k.Kind, seed, level)
				}
				key := ""
				for _, f := range a.Facts {
					key += f.Value + ";"
				}
				seen[key] = true
			}
			if len(seen) < 15 {
				t.Errorf("%s at level %d: 20 seeds give %d problems, want at least 15", k.Kind, level, len(seen))
			}
		}
	}
}
