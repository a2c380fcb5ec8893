package lessons

import (
	"strings"
	"testing"
)

// TestMathTableIsUpToDate: the table of rendered formulas contains exactly the course's formulas.
func TestMathTableIsUpToDate(t *testing.T) {
	formulas, err := Formulas()
	if err != nil {
		t.Fatal(err)
	}
	table, err := readMath(mathJSON)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, f := range formulas {
		list, mark := table.Inline, "<math>"
		if f.Display {
			list, mark = table.Display, `<math display="block" class="tml-display">`
		}
		used[mark+f.TeX] = true
		if m := list[f.TeX]; !strings.HasPrefix(m, mark) || !strings.HasSuffix(m, "</math>") {
			t.Errorf(
				"%s: the formula %s is rendered as %q: run go generate ./lessons; want it beginning with "+
					"%q, it ending with %q",
				f.Where, f.TeX, m, mark, "</math>",
			)
		} else if strings.Contains(m, " style=") {
			t.Errorf("%s: the formula %s has a style, want none", f.Where, f.TeX)
		}
	}
	for tex := range table.Inline {
		if !used["<math>"+tex] {
			t.Errorf("the table has $%s$, which no lesson has: run go generate ./lessons", tex)
		}
	}
	for tex := range table.Display {
		if !used[`<math display="block" class="tml-display">`+tex] {
			t.Errorf("the table has $$%s$$, which no lesson has: run go generate ./lessons", tex)
		}
	}
	if len(formulas) < 50 {
		t.Errorf("only %d formulas", len(formulas))
	}
}

func TestTexOfFigures(t *testing.T) {
	for figure, want := range map[string]string{
		"0.6316": "0.6316", "3,189,504": "3{,}189{,}504", "14%": `14\%`, "2.03×": `2.03\times`,
		"−4": "-4", "2 GiB": `2\,\text{GiB}`, "the": `\text{the}`, "3,072 B": `3{,}072\,\text{B}`,
	} {
		if got := texOf(figure); got != want {
			t.Errorf("%s: %s, want %s", figure, got, want)
		}
	}
}

func TestPlainTeX(t *testing.T) {
	for tex, want := range map[string]string{
		`p_i = \frac{e^{z_i/T}}{\sum_j e^{z_j/T}}`: "p_i = (e^(z_i/T))/(Σ_j e^(z_j/T))",
		`E = (1 - \alpha^{\gamma+1})/(1 - \alpha)`: "E = (1 − α^(γ+1))/(1 − α)",
		`\min\!\left(1, \frac{p(x)}{q(x)}\right)`:  "min(1, (p(x))/(q(x)))",
		`\text{bytes} = 2 \times L \times g`:       "bytes = 2 × L × g",
		`3{,}189{,}504`:                            "3,189,504",
		`\{1, 2\} \le \sqrt{x}`:                    "{1, 2} ≤ √(x)",
		`N^2`:                                      "N^2",
	} {
		if got := plainTeX(tex); got != want {
			t.Errorf("%s: %s, want %s", tex, got, want)
		}
	}
}

func TestPlainText(t *testing.T) {
	l := newLoader(folderOf(nil), MathTable{})
	l.collecting = true
	l.targets["term:logits"] = true
	l.references["doe2020"] = Reference{ID: "doe2020", Short: "Doe 2020"}
	for markdown, want := range map[string]string{
		"It's *one* `·the` &amp; \\$5 [@doe2020]\nand [[logits]].": "It’s one ·the & $5 (Doe 2020) and logits.",
		"1. one\n2. two\n\n- a\n- b":                               "1. one\n2. two\n– a\n– b",
		"First.\n\nSecond {=calc(1/4) 2}.\n\n$$\\frac{a}{b}$$":     "First.\nSecond 0.25.\n(a)/(b)",
		"| a | b |\n|---|---|\n| c | $x_i$ |":                      "a · b\nc · x_i",
		"```\ncode\n  more\n```":                                   "code\n  more",
	} {
		if _, got := l.blockText(position{"x.md", 1}, markdown); got != want {
			t.Errorf("%q:\n%q, want\n%q", markdown, got, want)
		}
	}
	if err := l.problems.err(); err != nil {
		t.Error(err)
	}
}
