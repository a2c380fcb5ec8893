package lessons

import (
	"errors"
	"strings"
	"testing"
)

// FuzzLesson reads arbitrary text as a lesson. Reading always terminates, problems have a position
// within the file, and the output contains only the dialect's tags.
func FuzzLesson(f *testing.F) {
	f.Add(small["00-start.md"])
	f.Add("---\n---\n\n## A {#a}\n\n$x$ {=softmax(T=0.5).the 4} [[loop|<b>]] `<i>`{.tk} [1,0]{.given}\n")
	f.Add("## A {#a}\n\n$$\n\\frac{1}{2}\n$$\n\n{.given}\n| a | b |\n|:--|--:|\n| [[loop|x]] | {=1+1 0} |\n")
	f.Add("## A {#a}\n::: slip <script>\n<script>alert(1)</script>\n:::\n[x](javascript:y) ![z](w) <http://a>\n")
	f.Add("## A {#a}\n\n> - 1. `x`\n>   ```\n    $y$\n\n[x]: /y\n\n[x] [y][x] [@a;@b]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 20_000 {
			return
		}
		l := newLoader(folderOf(map[string]string{"00-start.md": text}), MathTable{})
		l.partial, l.collecting = true, true
		l.targets["term:loop"] = true
		l.course.questions["q-one"] = &Question{ID: "q-one"}
		l.load()
		lines := strings.Count(text, "\n") + 1
		for _, p := range l.problems.list {
			if p.File == "00-start.md" && (p.Line < 1 || p.Line > lines) {
				t.Errorf("got line %d of %d, want a line of the file: %v", p.Line, lines, p)
			}
		}
		if l.problems.err() != nil {
			var p *Problem
			if !errors.As(l.problems.err(), &p) {
				t.Errorf("%v is not a Problem", l.problems.err())
			}
			return // a course with a problem is never shown
		}
		for where, fragment := range fragments(l.course) {
			if bad := unsafe(fragment, func(string) {}); bad != "" {
				t.Errorf("%s: %s in %s", where, bad, fragment)
			}
		}
	})
}

// FuzzFigure evaluates arbitrary expressions. Each result is either a nonempty string or an error.
func FuzzFigure(f *testing.F) {
	for _, e := range []string{
		"softmax(T=0.5).the 4", "calc((1+2)^3/4) %1", "generate(m=1, n=512).ratio x2", "-(-1) 0",
		"f(a=b(c=d))", "1e400", "(((((",
	} {
		f.Add(e)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		if len(expression) > 500 {
			return
		}
		text, err := compute(expression)
		if err == nil && text == "" {
			t.Errorf("{=%s} gave an empty string and no error", expression)
		}
	})
}
