package lessons

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/cost"
)

// figuresFile lists every figure of the course. Its tab-separated columns are the expression, the
// printed result, and the arithmetic that gives the result without the program.
const figuresFile = "testdata/figures.txt"

// TestFiguresMatchTheTable: the figures in the course match the table.
func TestFiguresMatchTheTable(t *testing.T) {
	data, err := os.ReadFile(figuresFile)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 3 || cells[2] == "" {
			t.Errorf("%s: %q is not expression, value and arithmetic", figuresFile, line)
			continue
		}
		want[cells[0]] = cells[1]
	}
	used := map[string]bool{}
	for _, f := range courseFigures(t) {
		used[f.expression] = true
		if w, ok := want[f.expression]; !ok {
			t.Errorf("%s, which is not in %s: work it out by hand and add it", f, figuresFile)
		} else if w != f.text {
			t.Errorf("got %s, want %s", f, w)
		}
	}
	for expression := range want {
		if !used[expression] {
			t.Errorf("%s lists {=%s}, want only figures of the lessons", figuresFile, expression)
		}
	}
}

// TestFigureShapesMatchTheModels: the shapes used by figures match the models that they name.
func TestFigureShapesMatchTheModels(t *testing.T) {
	target, err := bundled.Target()
	if err != nil {
		t.Fatal(err)
	}
	c := target.Config
	got := cost.Shape{
		Layers: c.Layers, Width: c.Width, Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim, FFN: c.FFN,
		Vocab: c.Vocab,
	}
	s := shapes["bundled"]
	if got != s.Shape || c.Context != s.context || int64(target.Parameters()) != s.Parameters(s.tied) {
		t.Errorf(
			"the bundled model is %+v with a context of %d and %d parameters; want what figures use: %+v, %d and %d",
			got, c.Context, target.Parameters(), s.Shape, s.context, s.Parameters(s.tied),
		)
	}
	// Llama 2 7B: 32·(4·4096² + 3·4096·11008) + 65·4096 + 2·4096·32000.
	if got := shapes["7b"].Parameters(false); got != 6_738_415_616 {
		t.Errorf("the 7b shape has %d parameters, want 6_738_415_616", got)
	}
}

// recomputedAttention returns the cost of attention for n tokens after a prompt of one token,
// without a cache.
func recomputedAttention(n int) string {
	return fmt.Sprintf("generate(m=1, n=%d).recomputed * generate(m=1, n=%[1]d).attention_share", n)
}

// computed holds expressions with results that were worked out by hand, whether or not the text
// uses them.
var computed = []struct{ expression, want string }{
	{"softmax().the 4", "0.6316"},                // 54.5982 / 86.4397
	{"softmax(T=0.5).the 4", "0.8643"},           // 2980.9580 / 3449.0923
	{"softmax(T=2).or 4", "0.0733"},              // 1.2840 / 17.5218
	{"softmax(T=1, add=-100).the 4", "0.6316"},   // adding a constant changes nothing
	{"softmax(places=3).sum 3", "0.999"},         // 0.632 + 0.232 + 0.085 + 0.031 + 0.019
	{"cumulative(T=1, places=3).and 3", "0.980"}, // 0.632 + 0.232 + 0.085 + 0.031
	{"cumulative().and 4", "0.9809"},
	{"exp(T=0.5).sum 4", "3,449.0923"},
	{"power(T=0.5).the 4", "0.8643"},       // 0.6316² / Σp²
	{"ratio(of=the, to=or) 2", "33.12"},    // e^3.5 = 33.1155
	{"filter(k=3).the 4", "0.6652"},        // 54.5982 / 82.0728
	{"filter(p=0.9).tokens", "the, a, an"}, // 0.8640 < 0.9 ≤ 0.9495
	{"filter(T=0.5, p=0.9).kept", "2"},     // 0.8643 < 0.9 ≤ 0.9812
	{"filter(T=2, p=0.9).kept", "4"},       // 0.8326 < 0.9 ≤ 0.9267
	{"filter(k=3, p=0.9).kept_renormalising", "2"},
	{"filter(T=0).tokens", "the"},       // greedy
	{"filter(minp=0.1).kept", "3"},      // 0.0855 ≥ 0.1 × 0.6316 > 0.0314
	{"filter(typical=0.2).tokens", "a"}, // −ln 0.2324 = 1.4594 is nearest to the average, 1.0239
	{"filter(typical=0.5).tokens", "the, a"},
	{"filter(k=3).or 1", "0.0"},
	{"draw(u=0.6316)", "the"}, // 0.63163 > 0.6316
	{"draw(u=0.6317)", "a"},
	{"segment(token=a).from 4", "0.6316"},
	{"segment(token=a).to 4", "0.8640"},
	{"step(n=19)", "4,958,976"},
	{"step(n=19).attention ,", "43,776"}, // 2·6·6·32·19
	{"pass(n=19) ,", "79,670,784"},
	{"generate(m=1000, n=500).positions_recomputed", "624,750"},
	{"generate(m=1000, n=500).positions_cached", "1,499"},
	{"generate(m=1000, n=500).positions_ratio 0", "417"},
	{"generate(m=1, n=200).positions_recomputed / generate(m=1, n=100).positions_recomputed 1", "4.0"},
	{recomputedAttention(200) + " / (" + recomputedAttention(100) + ") 1", "7.9"},
	{"generate(m=1, n=512).attention_share %0", "9%"},
	{"generate(m=1, n=4096).attention_share %0", "43%"},
	{"breakeven() ,", "2,133"},
	{"kvbytes(L=32, g=32, s=128, positions=4096, bytes=2) bytes", "2 GiB"},
	{"kvbytes(shape=7b, positions=131072, bytes=2) bytes", "64 GiB"},
	{"kvbytes(positions=1, bytes=4) bytes", "3,072 B"},
	{"weightbytes(params=parameters(shape=7b), bytes=2) bytes", "12.6 GiB"}, // 13,476,831,232 / 2^30 = 12.55
	{"expected(alpha=0.8, gamma=4) 2", "3.36"},
	{"expected(alpha=1, gamma=4)", "5"},
	{"bestspeedup(alpha=0.75, c=1/8, v=1).times x1", "2.0×"},
	{"bestspeedup(alpha=0.75, c=1/8).gamma", "4"},
	{"speedup(alpha=0.75, gamma=4, c=0.125, v=1) 4", "2.0339"},
	{"acceptance(p=0.3, q=0.5) 1", "0.6"},
	{"acceptance(p=0.5, q=0.3) 1", "1.0"},
	{"bill(input=1000, output=500, a=3, b=15) 4", "0.0105"}, // (3,000 + 7,500) / 10⁶
	{"-2^2", "−4"},
	{"2^3^2", "512"}, // 2^9
	{"(1 + 2)*3 - 4/2 ", "7"},
	{"1000*1000", "1,000,000"},
	{"calc(1/3) %1", "33.3%"},
	{"ln(exp(2))", "2"},
	{"log2(8) + sqrt(9)", "6"},
	{"calc(0 - 0.001) 2", "0.00"}, // no minus sign before zero
	{"1e3 bytes", "1,000 B"},
	{"1536*1024 bytes", "1.5 MiB"},
	{"20480 bytes", "20 KiB"},
}

func TestComputeFigures(t *testing.T) {
	for _, row := range computed {
		if got, err := compute(row.expression); err != nil || got != row.want {
			t.Errorf("{=%s} is %q (%v), want %q", row.expression, got, err, row.want)
		}
	}
}

func TestComputeRefusesBadExpressions(t *testing.T) {
	for expression, want := range map[string]string{
		"":                             "expected a number or a function",
		"softmax(T=1)":                 "to select",
		"softmax(T=1).the":             "is not an integer; specify the number of decimals",
		"softmax(T=1).cat 4":           `softmax has no field "cat"`,
		"softmax(T=0).the 4":           "T is 0; want 0.01 to 100",
		"softmax(T=x).the 4":           "T: unknown function",
		"softmax(T=1, T=2).the 4":      "duplicate argument T",
		"softmax(Q=1).the 4":           "unknown argument Q",
		"softmax(1).the 4":             "arguments must be named",
		"softmax(T=1 .the 4":           "missing comma or closing parenthesis",
		"softmax 4":                    "missing parentheses after softmax",
		"sofmax(T=1).the 4":            `unknown function "sofmax"`,
		"filter(p=0.9).tokens 2":       "does not apply to a word",
		"filter(p=0).kept":             "above 0",
		"segment(k=1, token=a).from 2": `the filters cut "a"`,
		"segment(token=cat).from 2":    `token is "cat"`,
		"draw()":                       "missing argument u",
		"draw(u=1)":                    "u must be below 1",
		"step(n=1.5)":                  "n is 1.5; want an integer",
		"generate(shape=7b, m=1000000, n=90000).ratio 1": "too large to add up",
		"step(shape=9b, n=1)":                            `unknown shape "9b"`,
		"acceptance(p=0.1, q=0) 2":                       "never proposed",
		"1/0 2":                                          "not finite",
		"ln(0-1) 2":                                      "not finite",
		"10^30":                                          "too large to print",
		"1 + ":                                           "expected a number or a function",
		"(1":                                             "missing closing parenthesis",
		"1.2.3":                                          "expected a number or a function",
		"2 4 4":                                          "unknown format",
		"2 z":                                            "unknown format",
		"0.5 bytes":                                      "is not a valid number of bytes",
		strings.Repeat("(", 200) + "1":                   "nested too deeply",
		strings.Repeat("2^", 200) + "1":                  "nested too deeply",
		"calc(1, 2)":                                     "got 2 numbers, want 1",
	} {
		if got, err := compute(expression); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("{=%s} is %q, error %v; want an error with %q", expression, got, err, want)
		}
	}
}
